#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace tightnoise {

void bind_domain_profile(py::module_&) {}

}  // namespace tightnoise
