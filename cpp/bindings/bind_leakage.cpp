#include <vector>

#include "bindings/elementwise.hpp"
#include "bindings/released.hpp"
#include "leakage/bayes_capacity.hpp"
#include "leakage/fisher_loss_kernels.hpp"

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
            Released nogil;
            return log_box_capacity(kernel, box, n);
        },
        py::arg("sigma"), py::arg("lower"), py::arg("upper"), py::arg("start"), py::arg("end"),
        py::arg("levels"), py::arg("n"));
}

// Bounds of the greatest eigenvalues of the information on examples which[i]: fisher_loss_kernels.
void fisher_loss_bounds(const Float64Array& information, const Float64Array& products,
                        const Float64Array& norms, const Float64Array& likely,
                        const Float64Array& residual, const Float64Array& forms,
                        const Float64Array& squares, const Float64Array& lengths,
                        const Float64Array& errors, const Int64Array& which, bool is_clipped,
                        Float64Array& out) {
    const std::size_t classes = length(norms), n = length(lengths), count = length(which);
    bool fits = classes > 0 && length(information) % classes == 0 && length(errors) == n &&
                length(products) == classes * classes && length(likely) == n * classes &&
                length(residual) == n * classes && length(forms) == n * classes * (1 + classes) &&
                length(squares) == n * classes * (classes + 3) / 2 && length(out) == count;
    const std::int64_t* chosen = which.data();
    for (std::size_t i = 0; i < count; ++i) fits &= static_cast<std::size_t>(chosen[i]) < n;
    if (!fits) throw py::type_error("core: arrays that do not fit together");
    const FisherModel model{classes, length(information) / classes, information.data(),
                            products.data(), norms.data()};
    const FisherExamples examples{likely.data(),  residual.data(), forms.data(),
                                  squares.data(), lengths.data(),  errors.data()};
    double* to = out.mutable_data();
    Released nogil;
    std::vector<double> work(fisher_workspace(classes));
    fisher_loss_kernels().bounds(model, examples, chosen, count, is_clipped, work.data(), to);
}

}  // namespace

void bind_leakage(py::module_ m) {
    def_elementwise(m, "log_ball_capacity", log_ball_capacity, "dim", "reach");
    def_elementwise(m, "log_cap_capacity", log_cap_capacity, "kappa", "dim", "half_angle");
    m.def("fisher_loss_bounds", fisher_loss_bounds, py::arg("information").noconvert(),
          py::arg("products").noconvert(), py::arg("norms").noconvert(),
          py::arg("likely").noconvert(), py::arg("residual").noconvert(),
          py::arg("forms").noconvert(), py::arg("squares").noconvert(),
          py::arg("lengths").noconvert(), py::arg("errors").noconvert(),
          py::arg("which").noconvert(), py::arg("is_clipped"), py::arg("out").noconvert());
    def_box(m, "gaussian", bayes_capacity_kernels().gaussian);
    def_box(m, "rectified", bayes_capacity_kernels().rectified);
    def_box(m, "truncated", bayes_capacity_kernels().truncated);
    def_box(m, "quantized", bayes_capacity_kernels().quantized);
    def_box(m, "sign", bayes_capacity_kernels().sign);
}

}  // namespace tightnoise
