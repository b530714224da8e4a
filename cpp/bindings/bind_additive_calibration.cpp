#include <pybind11/pybind11.h>

#include "additive/multi_gaussian_calibration.hpp"
#include "worst/quasi_gaussian_calibration.hpp"

namespace py = pybind11;

namespace tightnoise {

void bind_additive_calibration(py::module_& m) {
    const auto nogil = py::call_guard<py::gil_scoped_release>();
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
