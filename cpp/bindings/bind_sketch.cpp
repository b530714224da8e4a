#include <tuple>

#include "bindings/arrays.hpp"
#include "numeric/moment_kernels.hpp"
#include "numeric/moments.hpp"

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

}  // namespace

void bind_sketch(py::module_ m) {
    m.attr("bins") = kBins;
    m.attr("bins_per_octave") = kBinsPerOctave;
    m.attr("bin_moments") = kBinMoments;
    m.attr("bin_run") = kBinRun / kTableCopies;
    m.def("moments", &sketch_moments, py::arg("theta"), py::arg("centre"), py::arg("half_width"),
          py::arg("bin_scale"), py::arg("interval").noconvert(), py::arg("bins").noconvert());
}

}  // namespace tightnoise
