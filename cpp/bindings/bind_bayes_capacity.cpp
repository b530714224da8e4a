#include "bindings/elementwise.hpp"
#include "leakage/bayes_capacity.hpp"

namespace tightnoise {
namespace {

// The sum of log C over the n coordinates of a box.
void def_box(py::module_& m, const char* name, BayesCapacityKernels::Sum kernel) {
    m.def(
        name,
        [kernel](const py::array& sigma, const py::array& lower, const py::array& upper,
                 const py::array& start, const py::array& end, int levels, std::size_t n) {
            const BoxOperands box{float64_operand(sigma, n), float64_operand(lower, n),
                                  float64_operand(upper, n), float64_operand(start, n),
                                  float64_operand(end, n),   levels};
            py::gil_scoped_release nogil;
            return log_box_capacity(kernel, box, n);
        },
        py::arg("sigma"), py::arg("lower"), py::arg("upper"), py::arg("start"), py::arg("end"),
        py::arg("levels"), py::arg("n"));
}

}  // namespace

void bind_bayes_capacity(py::module_ m) {
    def_elementwise(m, "log_ball_capacity", log_ball_capacity, "dim", "reach");
    def_elementwise(m, "log_cap_capacity", log_cap_capacity, "kappa", "dim", "half_angle");
    def_box(m, "gaussian", bayes_capacity_kernels().gaussian);
    def_box(m, "rectified", bayes_capacity_kernels().rectified);
    def_box(m, "truncated", bayes_capacity_kernels().truncated);
    def_box(m, "quantized", bayes_capacity_kernels().quantized);
    def_box(m, "sign", bayes_capacity_kernels().sign);
}

}  // namespace tightnoise
