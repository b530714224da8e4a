#include "bindings/elementwise.hpp"
#include "worst/gaussian_calibration.hpp"

namespace tightnoise {

void bind_calibration(py::module_ m) {
    def_elementwise(m, "gaussian_delta", gaussian_delta_upper, "epsilon", "mu");
    def_elementwise(m, "gaussian_epsilon", gaussian_epsilon_upper, "delta", "mu");
    def_elementwise(m, "gaussian_sigma", gaussian_sigma_upper, "epsilon", "delta", "sensitivity");
}

}  // namespace tightnoise
