#include "bindings/elementwise.hpp"
#include "domain/rectified_profile.hpp"
#include "domain/truncated_profile.hpp"

namespace tightnoise {
namespace {

using Function = double (*)(double, double, double, double);

// Of four numbers, without the microseconds that arrays cost, and of arrays: out[i] =
// function(a[i], b[i], c[i], d[i]).
void define(py::module_& m, const char* name, Function function, const char* a, const char* b,
            const char* c, const char* d) {
    m.def(name, function, py::call_guard<py::gil_scoped_release>(), py::arg(a), py::arg(b),
          py::arg(c), py::arg(d));
    m.def(
        name,
        [function](const py::array& first, const py::array& second, const py::array& third,
                   const py::array& fourth, Float64Array out) {
            const std::size_t n = length(out);
            const Column x(first, n), y(second, n), z(third, n), u(fourth, n);
            fill(out, [&](std::size_t i) { return function(x[i], y[i], z[i], u[i]); });
        },
        py::arg(a), py::arg(b), py::arg(c), py::arg(d), py::arg("out").noconvert());
}

}  // namespace

void bind_domain_profile(py::module_& m) {
    define(m, "truncated_worst_delta", truncated_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define(m, "rectified_worst_delta", rectified_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define(m, "truncated_epsilon_at", truncated_epsilon_at, "sigma", "width", "sensitivity",
           "delta");
    define(m, "rectified_epsilon_at", rectified_epsilon_at, "sigma", "width", "sensitivity",
           "delta");
    define(m, "truncated_sigma_at", truncated_sigma_at, "epsilon", "delta", "width", "sensitivity");
    define(m, "rectified_sigma_at", rectified_sigma_at, "epsilon", "delta", "width", "sensitivity");
}

}  // namespace tightnoise
