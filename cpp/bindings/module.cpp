#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "runtime/simd_level.hpp"

namespace py = pybind11;

namespace tightnoise {
void bind_additive_calibration(py::module_& m);
void bind_additive_sampling(py::module_ m);
void bind_analytic_bound(py::module_ m);
void bind_bayes_capacity(py::module_& m);
void bind_calibration(py::module_& m);
void bind_composition(py::module_& m);
void bind_conversion(py::module_& m);
void bind_curve(py::module_& m);
void bind_domain_box(py::module_& m);
void bind_domain_exact(py::module_& m);
void bind_domain_profile(py::module_& m);
void bind_sampled_gaussian(py::module_& m);
void bind_sampled_vmf(py::module_& m);
void bind_subsampling(py::module_& m);
void bind_random(py::module_ m);
void bind_mechanisms(py::module_& m);
void bind_mixtures(py::module_& m);
void bind_pieces(py::module_& m);
void bind_runtime(py::module_& m);
void bind_shift_epsilons(py::module_& m);
void bind_sketch(py::module_ m);
void bind_special(py::module_ m);
void bind_vmf_divergence(py::module_& m);
void bind_vmf_profile(py::module_& m);
}  // namespace tightnoise

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    m.doc() = "The compiled core of tightnoise. Private: use the Python API.";
    m.attr("__version__") = TIGHTNOISE_VERSION;
    tightnoise::simd_level();  // a bad TIGHTNOISE_SIMD fails here, at import
    py::dtype::of<double>();   // looks NumPy up here: the first call may be as another thread forks
    tightnoise::bind_mechanisms(m);
    tightnoise::bind_runtime(m);
    py::module_ accounting = m.def_submodule("accounting");
    tightnoise::bind_conversion(accounting);  // first: others take its Conversion
    tightnoise::bind_calibration(accounting);
    tightnoise::bind_composition(accounting);
    tightnoise::bind_curve(accounting);
    tightnoise::bind_sampled_gaussian(accounting);
    tightnoise::bind_sampled_vmf(accounting);
    tightnoise::bind_subsampling(accounting);
    py::module_ additive = m.def_submodule("additive");
    tightnoise::bind_mixtures(additive);
    tightnoise::bind_pieces(additive);
    tightnoise::bind_additive_calibration(additive);  // last: takes the laws
    tightnoise::bind_shift_epsilons(additive);
    tightnoise::bind_analytic_bound(m.def_submodule("analytic_bound"));
    py::module_ domain = m.def_submodule("domain");
    tightnoise::bind_domain_exact(domain);
    tightnoise::bind_domain_box(domain);
    tightnoise::bind_domain_profile(domain);
    py::module_ leakage = m.def_submodule("leakage");
    tightnoise::bind_bayes_capacity(leakage);
    py::module_ random = m.def_submodule("random");
    tightnoise::bind_random(random);
    tightnoise::bind_additive_sampling(random);
    tightnoise::bind_sketch(m.def_submodule("sketch"));
    tightnoise::bind_special(m.def_submodule("special"));
    py::module_ von_mises_fisher = m.def_submodule("von_mises_fisher");
    tightnoise::bind_vmf_divergence(von_mises_fisher);
    tightnoise::bind_vmf_profile(von_mises_fisher);
}
