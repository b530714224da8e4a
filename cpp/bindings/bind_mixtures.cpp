#include <pybind11/stl.h>

#include "additive/multi_gaussian.hpp"
#include "additive/quasi_gaussian.hpp"
#include "additive/scale_mixture.hpp"
#include "additive/worst_shift.hpp"
#include "bindings/law.hpp"

namespace tightnoise {
namespace {

// What calibrations ask of a mixture.
template <class Law>
void def_certify_at_most(py::class_<Law> law) {
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
    def_certify_at_most(def_law<MultiGaussianLaw>(
        m, "MultiGaussian", py::init<double, double, double, double>(), py::arg("sigma"),
        py::arg("epsilon"), py::arg("sensitivity"), py::arg("modes")));
    def_certify_at_most(
        def_law<QuasiGaussianLaw>(m, "QuasiGaussian", py::init<double, double, double>(),
                                  py::arg("sigma"), py::arg("epsilon"), py::arg("sensitivity")));
    using List = std::vector<double>;
    def_certify_at_most(def_law<ScaleMixtureLaw>(
        m, "ScaleMixture", py::init<const List&, const List&, const List&>(), py::arg("locations"),
        py::arg("weights"), py::arg("sigmas")));
}

}  // namespace tightnoise
