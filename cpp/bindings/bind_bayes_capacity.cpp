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

void bind_bayes_capacity(py::module_& m) {
    m.def(
        "log_ball_capacity",
        [](const py::array& dim, const py::array& reach, Float64Array out) {
            const std::size_t n = length(out);
            const Column dims(dim, n), reaches(reach, n);
            fill(out, [&](std::size_t i) { return log_ball_capacity(dims[i], reaches[i]); });
        },
        py::arg("dim"), py::arg("reach"), py::arg("out").noconvert());
    m.def(
        "log_cap_capacity",
        [](const py::array& kappa, const py::array& dim, const py::array& half_angle,
           Float64Array out) {
            const std::size_t n = length(out);
            const Column kappas(kappa, n), dims(dim, n), angles(half_angle, n);
            fill(out,
                 [&](std::size_t i) { return log_cap_capacity(kappas[i], dims[i], angles[i]); });
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_angle"), py::arg("out").noconvert());
    def_box(m, "gaussian", bayes_capacity_kernels().gaussian);
    def_box(m, "rectified", bayes_capacity_kernels().rectified);
    def_box(m, "truncated", bayes_capacity_kernels().truncated);
    def_box(m, "quantized", bayes_capacity_kernels().quantized);
    def_box(m, "sign", bayes_capacity_kernels().sign);
}

}  // namespace tightnoise
