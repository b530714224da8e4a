#include "bindings/arrays.hpp"

namespace tightnoise {

void bind_vmf_divergence(py::module_&) {}

}  // namespace tightnoise
