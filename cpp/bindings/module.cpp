#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "runtime/simd_level.hpp"

namespace py = pybind11;

namespace tightnoise {
void bind_additive(py::module_ m);
void bind_additive_sampling(py::module_ m);
void bind_analytic_bound(py::module_ m);
void bind_calibration(py::module_ m);
void bind_composition(py::module_ m);
void bind_contour(py::module_ m);
void bind_conversion(py::module_ m);
void bind_domain(py::module_ m);
void bind_leakage(py::module_ m);
void bind_mechanisms(py::module_ m);
void bind_random(py::module_ m);
void bind_runtime(py::module_ m);
void bind_sampled(py::module_ m);
void bind_sketch(py::module_ m);
void bind_special(py::module_ m);
void bind_von_mises_fisher(py::module_ m);
}  // namespace tightnoise

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    using namespace tightnoise;
    m.doc() = "The compiled core of tightnoise. Private: use the Python API.";
    m.attr("__version__") = TIGHTNOISE_VERSION;
    simd_level();             // a bad TIGHTNOISE_SIMD fails here, at import
    py::dtype::of<double>();  // looks NumPy up here: the first call may be as another thread forks
    bind_mechanisms(m);
    bind_runtime(m);
    const py::module_ cost = m.def_submodule("cost");
    bind_conversion(cost);  // first: others take its Conversion
    bind_calibration(cost);
    bind_composition(cost);
    bind_sampled(cost);
    bind_contour(cost);
    const py::module_ additive = m.def_submodule("additive");
    bind_additive(additive);
    bind_analytic_bound(m.def_submodule("analytic_bound"));
    bind_domain(m.def_submodule("domain"));
    bind_leakage(m.def_submodule("leakage"));
    const py::module_ random = m.def_submodule("random");
    bind_random(random);
    bind_additive_sampling(random);
    bind_sketch(m.def_submodule("sketch"));
    bind_special(m.def_submodule("special"));
    bind_von_mises_fisher(m.def_submodule("von_mises_fisher"));
}
