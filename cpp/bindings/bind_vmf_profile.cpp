#include "bindings/arrays.hpp"

namespace tightnoise {

void bind_vmf_profile(py::module_&) {}

}  // namespace tightnoise
