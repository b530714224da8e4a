#include "bindings/elementwise.hpp"
#include "cost/dp_sgd_calibration.hpp"
#include "worst/gaussian_calibration.hpp"

namespace tightnoise {
namespace {

// One of the three numbers of DP-SGD from the other two.
void def_dp_sgd(py::module_& m, const char* name, double (*function)(const Target&, double, double),
                const char* first, const char* second) {
    m.def(
        name,
        [function](Conversion conversion, double epsilon, double delta, double x, double y) {
            return function({epsilon, delta, conversion}, x, y);
        },
        py::call_guard<py::gil_scoped_release>(), py::arg("conversion"), py::arg("epsilon"),
        py::arg("delta"), py::arg(first), py::arg(second));
}

}  // namespace

void bind_calibration(py::module_ m) {
    def_elementwise(m, "gaussian_delta", gaussian_delta_upper, "epsilon", "mu");
    def_elementwise(m, "gaussian_epsilon", gaussian_epsilon_upper, "delta", "mu");
    def_elementwise(m, "gaussian_sigma", gaussian_sigma_upper, "epsilon", "delta", "sensitivity");
    def_dp_sgd(m, "smallest_noise_multiplier", smallest_noise_multiplier, "sampling_rate", "steps");
    def_dp_sgd(m, "largest_sampling_rate", largest_sampling_rate, "noise_multiplier", "steps");
    def_dp_sgd(m, "most_steps", most_steps, "noise_multiplier", "sampling_rate");
}

}  // namespace tightnoise
