#include "bindings/arrays.hpp"
#include "numeric/special.hpp"

namespace tightnoise {
namespace {

Output output(py::array& out) {
    if (!out.writeable()) throw py::type_error("core: out must be writeable");
    return {out.mutable_data(), operand(out, static_cast<std::size_t>(out.size())).is_float32};
}

void def_unary(py::module_& m, const char* name, SpecialKernels::Unary kernel) {
    m.def(
        name,
        [kernel](const py::array& x, py::array out) {
            const auto n = static_cast<std::size_t>(out.size());
            const Operand from = operand(x, n);
            const Output to = output(out);
            py::gil_scoped_release nogil;
            map_array(kernel, from, to, n);
        },
        py::arg("x"), py::arg("out"));
}

void def_reduction(py::module_& m, const char* name,
                   double (*reduce)(const Operand&, std::size_t)) {
    m.def(
        name,
        [reduce](const py::array& x) {
            const auto n = static_cast<std::size_t>(x.size());
            const Operand from = operand(x, n);
            py::gil_scoped_release nogil;
            return reduce(from, n);
        },
        py::arg("x"));
}

}  // namespace

void bind_special(py::module_ m) {
    const SpecialKernels& kernels = special_kernels();
    def_unary(m, "exp", kernels.exp);
    def_unary(m, "log", kernels.log);
    def_unary(m, "log1p", kernels.log1p);
    def_unary(m, "expm1", kernels.expm1);
    def_unary(m, "expm1mx", kernels.expm1mx);
    def_unary(m, "erfcx", kernels.erfcx);
    def_unary(m, "ndtr", kernels.ndtr);
    def_unary(m, "log_ndtr", kernels.log_ndtr);
    def_unary(m, "hazard", kernels.hazard);
    def_unary(m, "mills", kernels.mills);
    def_unary(m, "ndtri", kernels.ndtri);
    def_unary(m, "ndtri_exp", kernels.ndtri_exp);
    m.def(
        "log_ndtr_diff",
        [](const py::array& u, const py::array& v, py::array out) {
            const auto n = static_cast<std::size_t>(out.size());
            const Operand lower = operand(u, n);
            const Operand upper = operand(v, n);
            const Output to = output(out);
            py::gil_scoped_release nogil;
            map_array(special_kernels().log_ndtr_diff, lower, upper, to, n);
        },
        py::arg("u"), py::arg("v"), py::arg("out"));
    def_reduction(m, "sum", sum_array);
    def_reduction(m, "magnitude", magnitude_of_array);
    def_reduction(m, "logsumexp", log_sum_exp_array);
}

}  // namespace tightnoise
