#include "bindings/elementwise.hpp"
#include "domain/scale_calibration.hpp"

namespace tightnoise {
namespace {

using Function = double (*)(double, double, double);

// Of three numbers, without the microseconds that arrays cost, and of arrays: out[i] =
// function(first[i], width[i], sensitivity[i]).
void define(py::module_& m, const char* name, const char* first, Function function) {
    m.def(name, function, py::arg(first), py::arg("width"), py::arg("sensitivity"));
    m.def(
        name,
        [function](const py::array& x, const py::array& width, const py::array& sensitivity,
                   Float64Array out) {
            const std::size_t n = length(out);
            const Column from(x, n), w(width, n), c(sensitivity, n);
            fill(out, [&](std::size_t i) { return function(from[i], w[i], c[i]); });
        },
        py::arg(first), py::arg("width"), py::arg("sensitivity"), py::arg("out").noconvert());
}

}  // namespace

void bind_domain_exact(py::module_& m) {
    define(m, "truncated_epsilon", "sigma", truncated_epsilon_upper);
    define(m, "rectified_epsilon", "sigma", rectified_epsilon_upper);
    define(m, "bounded_laplace_epsilon", "scale", bounded_laplace_epsilon_upper);
    define(m, "truncated_sigma", "epsilon", truncated_sigma_upper);
    define(m, "rectified_sigma", "epsilon", rectified_sigma_upper);
    define(m, "bounded_laplace_scale", "epsilon", bounded_laplace_scale_upper);
    define(m, "truncated_sigma_of_theorem", "epsilon", truncated_sigma_of_theorem);
}

}  // namespace tightnoise
