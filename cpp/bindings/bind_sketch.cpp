#include <optional>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>

#include "bindings/arrays.hpp"
#include "sketch/cells.hpp"
#include "sketch/moment_kernels.hpp"
#include "sketch/moments.hpp"
#include "sketch/panel_kernels.hpp"

namespace tightnoise {
namespace {

std::tuple<double, double, std::size_t, bool> sketch_moments(const py::array& theta, double centre,
                                                             double half_width, double bin_scale,
                                                             Float64Array interval,
                                                             Float64Array bins) {
    const auto n = static_cast<std::size_t>(theta.size());
    if (length(bins) != kBins * kBinMoments) throw py::type_error("core: bins of the wrong length");
    const MomentRequest request = {operand(theta, n), n,        centre, half_width,
                                   length(interval),  bin_scale};
    double* interval_data = interval.mutable_data();
    double* bins_data = bins.mutable_data();
    MomentSummary summary;
    {
        py::gil_scoped_release nogil;
        summary = moments(request, interval_data, bins_data);
    }
    return {summary.least, summary.greatest, summary.outside, summary.finite};
}

std::size_t axis(const Float64Array& array, int which) {
    return static_cast<std::size_t>(array.shape(which));
}

void sketch_sum_max(const Float64Array& values, const std::optional<Float64Array>& tails,
                    const Float64Array& known, const Float64Array& roundings,
                    const Float64Array& whole, const Float64Array& summing,
                    const Float64Array& deciding, double value_error, Float64Array sums,
                    Float64Array errors, Float64Array closeness) {
    if (values.ndim() != 4 || known.ndim() != 3 || summing.ndim() != 3 || deciding.ndim() != 3) {
        throw py::type_error("core: wrong number of axes");
    }
    PanelProblem problem = {};
    problem.functions = axis(values, 0);
    problem.orders = axis(values, 1);
    problem.panels = axis(values, 2);
    problem.nodes = axis(values, 3);
    problem.parts = axis(known, 1);
    problem.moments = axis(known, 2);
    problem.deciding_parts = axis(deciding, 1);
    problem.terms = axis(deciding, 2);
    const std::size_t square = problem.nodes * problem.nodes;
    const bool fits =
        problem.nodes >= 8 && problem.moments <= problem.nodes && length(whole) == square &&
        problem.terms % 8 == 0 && problem.terms >= problem.nodes &&
        length(summing) == problem.nodes * problem.parts * problem.terms &&
        axis(deciding, 0) == problem.nodes && axis(known, 0) == problem.panels &&
        (problem.parts == 1 || problem.parts == problem.deciding_parts) &&
        length(roundings) == problem.moments && length(sums) == problem.orders * problem.panels &&
        length(errors) == length(sums) && length(closeness) == problem.functions * length(sums) &&
        (!tails || length(*tails) == length(closeness));
    if (!fits) throw py::type_error("core: shapes do not fit together");
    problem.values = values.data();
    problem.tails = tails ? tails->data() : nullptr;
    problem.known = known.data();
    problem.roundings = roundings.data();
    problem.whole = whole.data();
    problem.summing = summing.data();
    problem.deciding = deciding.data();
    problem.value_error = value_error;
    const PanelSums out = {sums.mutable_data(), errors.mutable_data(), closeness.mutable_data()};
    std::vector<double> scratch(panel_scratch(problem));
    py::gil_scoped_release nogil;
    panel_kernels().sum_max(problem, scratch.data(), out);
}

using CellArrays = std::tuple<Float64Array, Float64Array, Float64Array, Float64Array>;

Float64Array array_of(const std::vector<double>& values) {
    return Float64Array(static_cast<py::ssize_t>(values.size()), values.data());
}

CellArrays sketch_cells(const py::array& theta, double centre, const Float64Array& cuts,
                        double unit) {
    const auto n = static_cast<std::size_t>(theta.size());
    const CellRequest request = {operand(theta, n), n, centre, cuts.data(), length(cuts), unit};
    Cells found;
    {
        py::gil_scoped_release nogil;
        found = cells(request);
    }
    return {array_of(found.left), array_of(found.mean), array_of(found.right),
            array_of(found.count)};
}

void sketch_excess(const Float64Array& coefficients, const Float64Array& centre,
                   const Float64Array& half, const std::vector<std::size_t>& begin,
                   const std::vector<std::size_t>& end, const CellArrays& cells, Float64Array sums,
                   Float64Array errors) {
    if (coefficients.ndim() != 3) throw py::type_error("core: wrong number of axes");
    const auto& [left, mean, right, count] = cells;
    const std::size_t panels = axis(coefficients, 1);
    bool fits = length(centre) == panels && length(half) == panels && begin.size() == panels &&
                end.size() == panels && length(sums) == panels && length(errors) == panels &&
                axis(coefficients, 2) > 0 && length(left) == length(count) &&
                length(mean) == length(count) && length(right) == length(count);
    for (const std::size_t last : end) fits = fits && last <= length(count);
    if (!fits) throw py::type_error("core: shapes do not fit together");
    const ExcessProblem problem = {axis(coefficients, 0), panels,        axis(coefficients, 2),
                                   coefficients.data(),   centre.data(), half.data(),
                                   begin.data(),          end.data(),    left.data(),
                                   mean.data(),           right.data(),  count.data()};
    double* sums_data = sums.mutable_data();
    double* errors_data = errors.mutable_data();
    py::gil_scoped_release nogil;
    panel_kernels().excess(problem, sums_data, errors_data);
}

}  // namespace

void bind_sketch(py::module_ m) {
    m.attr("bins") = kBins;
    m.attr("bins_per_octave") = kBinsPerOctave;
    m.attr("bin_moments") = kBinMoments;
    m.attr("bin_run") = kBinRun / kTableCopies;
    m.def("moments", &sketch_moments, py::arg("theta"), py::arg("centre"), py::arg("half_width"),
          py::arg("bin_scale"), py::arg("interval").noconvert(), py::arg("bins").noconvert());
    m.def("sum_max", &sketch_sum_max, py::arg("values"), py::arg("tails"), py::arg("known"),
          py::arg("roundings"), py::arg("whole"), py::arg("summing"), py::arg("deciding"),
          py::arg("value_error"), py::arg("sums").noconvert(), py::arg("errors").noconvert(),
          py::arg("closeness").noconvert());
    m.def("cells", &sketch_cells, py::arg("theta"), py::arg("centre"), py::arg("cuts"),
          py::arg("unit"));
    m.def("excess", &sketch_excess, py::arg("coefficients"), py::arg("centre"), py::arg("half"),
          py::arg("begin"), py::arg("end"), py::arg("cells"), py::arg("sums").noconvert(),
          py::arg("errors").noconvert());
}

}  // namespace tightnoise
