#include "bindings/arrays.hpp"
#include "numeric/clipped_sum.hpp"
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

void def_binary(py::module_& m, const char* name, const char* first, const char* second,
                SpecialKernels::Binary kernel) {
    m.def(
        name,
        [kernel](const py::array& u, const py::array& v, py::array out) {
            const auto n = static_cast<std::size_t>(out.size());
            const Operand from_u = operand(u, n);
            const Operand from_v = operand(v, n);
            const Output to = output(out);
            py::gil_scoped_release nogil;
            map_array(kernel, from_u, from_v, to, n);
        },
        py::arg(first), py::arg(second), py::arg("out"));
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

void add_clipped_rows(const py::array& rows, double norm, double bound, double unit,
                      py::array_t<std::int64_t, py::array::c_style> sums) {
    const auto n = static_cast<std::size_t>(rows.size());
    const std::size_t width = length(sums);
    if (rows.ndim() < 1 || n != static_cast<std::size_t>(rows.shape(0)) * width) {
        throw py::type_error("core: sums of the wrong length");
    }
    const ClippedSum problem = {
        rows.data(),
        operand(rows, n).is_float32,
        static_cast<std::size_t>(rows.shape(0)),
        width,
        norm == 1.0 ? RowNorm::sum : (norm == 2.0 ? RowNorm::euclidean : RowNorm::largest),
        bound,
        unit};
    std::int64_t* sums_data = sums.mutable_data();
    py::gil_scoped_release nogil;
    add_clipped(problem, sums_data);
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
    def_binary(m, "log_ndtr_diff", "u", "v", kernels.log_ndtr_diff);
    def_binary(m, "iv_ratio", "nu", "x", kernels.iv_ratio);
    def_binary(m, "iv_ratio_complement", "nu", "x", kernels.iv_ratio_complement);
    def_binary(m, "log_iv", "nu", "x", kernels.log_iv);
    def_binary(m, "log_sphere_mean", "nu", "x", kernels.log_sphere_mean);
    def_binary(m, "log_peak_to_mean", "nu", "x", kernels.log_peak_to_mean);
    m.def(
        "log_sphere_mean_rise",
        [](const py::array& nu, const py::array& x, const py::array& increase, py::array out) {
            const auto n = static_cast<std::size_t>(out.size());
            const Operand order = operand(nu, n);
            const Operand lower = operand(x, n);
            const Operand width = operand(increase, n);
            const Output to = output(out);
            py::gil_scoped_release nogil;
            map_array(special_kernels().log_sphere_mean_rise, order, lower, width, to, n);
        },
        py::arg("nu"), py::arg("x"), py::arg("increase"), py::arg("out"));
    m.def("add_clipped_rows", &add_clipped_rows, py::arg("rows"), py::arg("norm"), py::arg("bound"),
          py::arg("unit"), py::arg("sums").noconvert());
    def_reduction(m, "sum", sum_array);
    def_reduction(m, "magnitude", magnitude_of_array);
    def_reduction(m, "logsumexp", log_sum_exp_array);
}

}  // namespace tightnoise
