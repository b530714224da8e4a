#include <pybind11/stl.h>

#include "additive/multi_gaussian.hpp"
#include "additive/scale_mixture.hpp"
#include "bindings/law.hpp"
#include "mechanisms/quasi_gaussian.hpp"
#include "worst/worst_shift.hpp"

namespace tightnoise {
namespace {

// What calibrations ask of a mixture: the divergence at a shift with its derivatives by the shift
// and by sigma, and whether a delta holds.
template <class Law>
void def_calibrated(py::class_<Law> law) {
    law.def(
        "shift_divergence",
        [](const Law& self, double shift, double epsilon) {
            const ShiftDivergence at = shift_divergence(self, shift, epsilon);
            return py::make_tuple(at.delta, at.d_shift, at.d_scale);
        },
        py::arg("shift"), py::arg("epsilon"));
    law.def(
        "certify_at_most",
        [](const Law& self, double epsilon, double sensitivity, double delta) {
            const ShiftCheck check = [&] {
                py::gil_scoped_release released;
                return certify_at_most(self, epsilon, sensitivity, delta);
            }();
            return py::make_tuple(check.holds, check.divergence, check.shift);
        },
        py::arg("epsilon"), py::arg("sensitivity"), py::arg("delta"));
}

}  // namespace

void bind_mixtures(py::module_& m) {
    def_calibrated(def_law<MultiGaussianLaw>(
        m, "MultiGaussian", py::init<double, double, double, double>(), py::arg("sigma"),
        py::arg("epsilon"), py::arg("sensitivity"), py::arg("modes")));
    def_calibrated(def_law<QuasiGaussianLaw>(m, "QuasiGaussian", py::init<double, double, double>(),
                                             py::arg("sigma"), py::arg("epsilon"),
                                             py::arg("sensitivity")));
    using List = std::vector<double>;
    def_calibrated(def_law<ScaleMixtureLaw>(
        m, "ScaleMixture", py::init<const List&, const List&, const List&>(), py::arg("locations"),
        py::arg("weights"), py::arg("sigmas")));
}

}  // namespace tightnoise
