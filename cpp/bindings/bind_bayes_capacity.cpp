#include "bindings/arrays.hpp"

namespace tightnoise {

void bind_bayes_capacity(py::module_&) {}

}  // namespace tightnoise
