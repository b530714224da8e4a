#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace tightnoise {

void bind_mixtures(py::module_& /* m */) {}

}  // namespace tightnoise
