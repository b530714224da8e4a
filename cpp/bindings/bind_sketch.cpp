#include <optional>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "sketch/ball.hpp"
#include "sketch/cells.hpp"
#include "sketch/moment_kernels.hpp"
#include "sketch/moments.hpp"
#include "sketch/panel_kernels.hpp"

namespace tightnoise {
namespace {

std::tuple<double, double, std::size_t, bool> sketch_moments(
    const py::array& theta, double centre, double half_width, double bin_scale, double count_scale,
    Float64Array interval, Float64Array bins, Float64Array counts) {
    const auto n = static_cast<std::size_t>(theta.size());
    check_lengths(kBins * kBinMoments, bins);
    check_lengths(kCounts, counts);
    const MomentRequest request = {operand(theta, n), n,         centre,     half_width,
                                   length(interval),  bin_scale, count_scale};
    double* interval_data = interval.mutable_data();
    double* bins_data = bins.mutable_data();
    double* counts_data = counts.mutable_data();
    MomentSummary summary;
    {
        Released nogil;
        summary = moments(request, interval_data, bins_data, counts_data);
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
    Released nogil;
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
        Released nogil;
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
    check_lengths(panels, centre, half, sums, errors);
    check_lengths(length(count), left, mean, right);
    bool fits = begin.size() == panels && end.size() == panels && axis(coefficients, 2) > 0;
    for (const std::size_t last : end) fits = fits && last <= length(count);
    if (!fits) throw py::type_error("core: shapes do not fit together");
    const ExcessProblem problem = {axis(coefficients, 0), panels,        axis(coefficients, 2),
                                   coefficients.data(),   centre.data(), half.data(),
                                   begin.data(),          end.data(),    left.data(),
                                   mean.data(),           right.data(),  count.data()};
    double* sums_data = sums.mutable_data();
    double* errors_data = errors.mutable_data();
    Released nogil;
    panel_kernels().excess(problem, sums_data, errors_data);
}

BallProblem ball_problem(const Float64Array& steps, const Float64Array& reach,
                         const Float64Array& bend, const Float64Array& values) {
    const std::size_t places = length(reach), nodes = length(steps);
    if (nodes < 2) throw py::type_error("core: a step needs a next one");
    check_lengths(places, bend);
    check_lengths(places * nodes, values);
    return {places, nodes, steps.data(), reach.data(), bend.data(), values.data()};
}

void sketch_ball_rates(const Float64Array& steps, const Float64Array& reach,
                       const Float64Array& bend, const Float64Array& values, Float64Array rates) {
    const BallProblem problem = ball_problem(steps, reach, bend, values);
    check_lengths(problem.places, rates);
    double* out = rates.mutable_data();
    Released nogil;
    ball_rates(problem, out);
}

void sketch_ball_excesses(const Float64Array& steps, const Float64Array& reach,
                          const Float64Array& bend, const Float64Array& values,
                          const Float64Array& prices, Float32Array excesses) {
    const BallProblem problem = ball_problem(steps, reach, bend, values);
    check_lengths(problem.places * length(prices), excesses);
    float* out = excesses.mutable_data();
    Released nogil;
    ball_excesses(problem, prices.data(), length(prices), out);
}

double sketch_ball_least(const Float64Array& prices, const Float32Array& excesses,
                         const Float64Array& counts, double budget) {
    if (length(prices) == 0) throw py::type_error("core: no price");
    check_lengths(length(prices) * length(counts), excesses);
    return ball_least(prices.data(), length(prices), excesses.data(), counts.data(), length(counts),
                      budget);
}

}  // namespace

void bind_sketch(py::module_ m) {
    m.attr("bins") = kBins;
    m.attr("bins_per_octave") = kBinsPerOctave;
    m.attr("bin_moments") = kBinMoments;
    m.attr("counts") = kCounts;
    m.attr("counts_per_octave") = kCountsPerOctave;
    m.attr("bin_run") = kBinRun / kTableCopies;
    m.def("moments", &sketch_moments, py::arg("theta"), py::arg("centre"), py::arg("half_width"),
          py::arg("bin_scale"), py::arg("count_scale"), py::arg("interval").noconvert(),
          py::arg("bins").noconvert(), py::arg("counts").noconvert());
    m.def("ball_rates", &sketch_ball_rates, py::arg("steps"), py::arg("reach"), py::arg("bend"),
          py::arg("values"), py::arg("rates").noconvert());
    m.def("ball_excesses", &sketch_ball_excesses, py::arg("steps"), py::arg("reach"),
          py::arg("bend"), py::arg("values"), py::arg("prices"), py::arg("excesses").noconvert());
    m.def("ball_least", &sketch_ball_least, py::arg("prices"), py::arg("excesses"),
          py::arg("counts"), py::arg("budget"));
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
