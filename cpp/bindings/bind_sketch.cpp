#include "bindings/arrays.hpp"
#include "numeric/moment_kernels.hpp"
#include "numeric/moments.hpp"

namespace tightnoise {
namespace {

py::tuple sketch_moments(const py::array& theta, double centre, double half_width, double bin_scale,
                         Float64Array global, Float64Array bins) {
    const auto n = static_cast<std::size_t>(theta.size());
    if (length(bins) != kBins * kBinMoments) throw py::type_error("core: bins of the wrong length");
    const MomentRequest request = {operand(theta, n), n,        centre, half_width,
                                   length(global),    bin_scale};
    double* global_data = global.mutable_data();
    double* bins_data = bins.mutable_data();
    MomentSummary summary;
    {
        py::gil_scoped_release nogil;
        summary = moments(request, global_data, bins_data);
    }
    return py::make_tuple(summary.least, summary.greatest, summary.outside, summary.finite);
}

}  // namespace

void bind_sketch(py::module_ m) {
    m.attr("bins") = kBins;
    m.attr("bins_per_octave") = kBinsPerOctave;
    m.attr("bin_moments") = kBinMoments;
    m.attr("bin_run") = kBinRun / kTableCopies;
    m.def("moments", &sketch_moments, py::arg("theta"), py::arg("centre"), py::arg("half_width"),
          py::arg("bin_scale"), py::arg("global").noconvert(), py::arg("bins").noconvert());
}

}  // namespace tightnoise
