#include "bindings/arrays.hpp"

namespace tightnoise {

void bind_sampled_vmf(py::module_&) {}

}  // namespace tightnoise
