#include <pybind11/pybind11.h>

#include "runtime/simd_level.hpp"

namespace py = pybind11;

namespace tightnoise {
void bind_analytic_bound(py::module_ m);
void bind_random(py::module_ m);
void bind_mechanisms(py::module_& m);
void bind_runtime(py::module_& m);
void bind_sketch(py::module_ m);
void bind_special(py::module_ m);
}  // namespace tightnoise

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    m.doc() = "The compiled core of tightnoise. Private: use the Python API.";
    m.attr("__version__") = TIGHTNOISE_VERSION;
    tightnoise::simd_level();  // a bad TIGHTNOISE_SIMD fails here, at import
    tightnoise::bind_mechanisms(m);
    tightnoise::bind_runtime(m);
    tightnoise::bind_analytic_bound(m.def_submodule("analytic_bound"));
    tightnoise::bind_random(m.def_submodule("random"));
    tightnoise::bind_sketch(m.def_submodule("sketch"));
    tightnoise::bind_special(m.def_submodule("special"));
}
