#include <pybind11/pybind11.h>

#include "domain/rectified_profile.hpp"
#include "domain/truncated_profile.hpp"

namespace py = pybind11;

namespace tightnoise {

void bind_domain_profile(py::module_& m) {
    const auto nogil = py::call_guard<py::gil_scoped_release>();
    m.def("truncated_worst_delta", truncated_worst_delta, nogil, py::arg("sigma"), py::arg("width"),
          py::arg("sensitivity"), py::arg("epsilon"));
    m.def("truncated_epsilon_at", truncated_epsilon_at, nogil, py::arg("sigma"), py::arg("width"),
          py::arg("sensitivity"), py::arg("delta"));
    m.def("truncated_sigma_at", truncated_sigma_at, nogil, py::arg("epsilon"), py::arg("delta"),
          py::arg("width"), py::arg("sensitivity"));
    m.def("rectified_worst_delta", rectified_worst_delta, nogil, py::arg("sigma"), py::arg("width"),
          py::arg("sensitivity"), py::arg("epsilon"));
    m.def("rectified_epsilon_at", rectified_epsilon_at, nogil, py::arg("sigma"), py::arg("width"),
          py::arg("sensitivity"), py::arg("delta"));
    m.def("rectified_sigma_at", rectified_sigma_at, nogil, py::arg("epsilon"), py::arg("delta"),
          py::arg("width"), py::arg("sensitivity"));
}

}  // namespace tightnoise
