#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/law.hpp"
#include "bindings/released.hpp"
#include "mechanisms/laplace_law.hpp"
#include "mechanisms/laplace_renyi.hpp"
#include "mechanisms/multi_gaussian.hpp"
#include "mechanisms/quasi_gaussian.hpp"
#include "mechanisms/scale_mixture.hpp"
#include "mechanisms/staircase_law.hpp"
#include "worst/multi_gaussian_calibration.hpp"
#include "worst/quasi_gaussian_calibration.hpp"
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
                Released released;
                return certify_at_most(self, epsilon, sensitivity, delta);
            }();
            return py::make_tuple(check.holds, check.divergence, check.shift);
        },
        py::arg("epsilon"), py::arg("sensitivity"), py::arg("delta"));
}

}  // namespace

void bind_additive(py::module_ m) {
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
    def_law<LaplaceLaw>(m, "Laplace", py::init<double, double>(), py::arg("scale"),
                        py::arg("bound"));
    def_law<StaircaseLaw>(m, "Staircase", py::init<double, double, double, double>(),
                          py::arg("epsilon"), py::arg("step"), py::arg("gamma"), py::arg("bound"));
    def_elementwise(m, "laplace_renyi", laplace_renyi, "ratio", "alpha");
    const auto nogil = py::call_guard<Released>();
    py::enum_<AdditiveLoss>(m, "Loss").value("l1", AdditiveLoss::l1).value("l2", AdditiveLoss::l2);
    py::class_<MultiGaussianChoice>(m, "MultiGaussianChoice")
        .def_readonly("sigma", &MultiGaussianChoice::sigma)
        .def_readonly("modes", &MultiGaussianChoice::modes);
    m.def("multi_gaussian_sigma", multi_gaussian_sigma, nogil, py::arg("epsilon"), py::arg("delta"),
          py::arg("sensitivity"), py::arg("modes"));
    m.def("best_multi_gaussian", best_multi_gaussian, nogil, py::arg("epsilon"), py::arg("delta"),
          py::arg("sensitivity"), py::arg("loss"));
    m.def("quasi_gaussian_sigma", quasi_gaussian_sigma, nogil, py::arg("epsilon"), py::arg("delta"),
          py::arg("sensitivity"));
    m.def("quasi_gaussian_sigma_of_paper", quasi_gaussian_sigma_of_paper, nogil, py::arg("epsilon"),
          py::arg("delta"), py::arg("sensitivity"));
}

}  // namespace tightnoise
