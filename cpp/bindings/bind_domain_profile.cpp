#include "bindings/elementwise.hpp"
#include "worst/rectified_profile.hpp"
#include "worst/truncated_profile.hpp"

namespace tightnoise {
void bind_domain_profile(py::module_& m) {
    const auto define = [&m](const char* name, auto function, auto... names) {
        def_scalar_and_elementwise(m, name, function, names...);
    };
    define("truncated_worst_delta", truncated_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define("rectified_worst_delta", rectified_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define("truncated_epsilon_at", truncated_epsilon_at, "sigma", "width", "sensitivity", "delta");
    define("rectified_epsilon_at", rectified_epsilon_at, "sigma", "width", "sensitivity", "delta");
    define("truncated_sigma_at", truncated_sigma_at, "epsilon", "delta", "width", "sensitivity");
    define("rectified_sigma_at", rectified_sigma_at, "epsilon", "delta", "width", "sensitivity");
}

}  // namespace tightnoise
