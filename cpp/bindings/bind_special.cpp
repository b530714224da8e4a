#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "numeric/binomial.hpp"
#include "numeric/clipped_sum.hpp"
#include "numeric/special.hpp"

namespace tightnoise {
namespace {

Output output(py::array& out) {
    if (!out.writeable()) throw py::type_error("core: out must be writeable");
    return {out.mutable_data(), operand(out, static_cast<std::size_t>(out.size())).is_float32};
}

// out[i] = kernel(first[i], ...) of up to three arrays of float32 or float64.
template <class... Names>
void def_map(py::module_& m, const char* name, SpecialKernels::Map kernel, Names... names) {
    m.def(
        name,
        [kernel](ArrayOf<Names>... from, py::array out) {
            const auto n = static_cast<std::size_t>(out.size());
            const Operand operands[] = {operand(from, n)...};
            const Output to = output(out);
            Released nogil;
            map_array(kernel, operands, to, n);
        },
        py::arg(names)..., py::arg("out"));
}

void def_reduction(py::module_& m, const char* name,
                   double (*reduce)(const Operand&, std::size_t)) {
    m.def(
        name,
        [reduce](const py::array& x) {
            const auto n = static_cast<std::size_t>(x.size());
            const Operand from = operand(x, n);
            Released nogil;
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
    Released nogil;
    add_clipped(problem, sums_data);
}

}  // namespace

void bind_special(py::module_ m) {
    const SpecialKernels& kernels = special_kernels();
    def_map(m, "exp", kernels.exp, "x");
    def_map(m, "log", kernels.log, "x");
    def_map(m, "log1p", kernels.log1p, "x");
    def_map(m, "expm1", kernels.expm1, "x");
    def_map(m, "expm1mx", kernels.expm1mx, "x");
    def_map(m, "erfcx", kernels.erfcx, "x");
    def_map(m, "ndtr", kernels.ndtr, "x");
    def_map(m, "log_ndtr", kernels.log_ndtr, "x");
    def_map(m, "hazard", kernels.hazard, "x");
    def_map(m, "mills", kernels.mills, "x");
    def_map(m, "ndtri", kernels.ndtri, "x");
    def_map(m, "ndtri_exp", kernels.ndtri_exp, "x");
    def_map(m, "log_ndtr_diff", kernels.log_ndtr_diff, "u", "v");
    def_map(m, "iv_ratio", kernels.iv_ratio, "nu", "x");
    def_map(m, "iv_ratio_complement", kernels.iv_ratio_complement, "nu", "x");
    def_map(m, "log_iv", kernels.log_iv, "nu", "x");
    def_map(m, "log_sphere_mean", kernels.log_sphere_mean, "nu", "x");
    def_map(m, "log_peak_to_mean", kernels.log_peak_to_mean, "nu", "x");
    def_map(m, "log_sphere_mean_rise", kernels.log_sphere_mean_rise, "nu", "x", "increase");
    m.def("add_clipped_rows", &add_clipped_rows, py::arg("rows"), py::arg("norm"), py::arg("bound"),
          py::arg("unit"), py::arg("sums").noconvert());
    m.def("binomial_bounds", &binomial_bounds, py::arg("successes"), py::arg("trials"),
          py::arg("alpha"));
    def_reduction(m, "sum", sum_array);
    def_reduction(m, "magnitude", magnitude_of_array);
    def_reduction(m, "logsumexp", log_sum_exp_array);
}

}  // namespace tightnoise
