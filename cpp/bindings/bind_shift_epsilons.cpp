#include "bindings/arrays.hpp"
#include "worst/shift_epsilons.hpp"

namespace tightnoise {

void bind_shift_epsilons(py::module_ m) {
    m.def(
        "shift_epsilons",
        [](const Float64Array& locations, const Float64Array& weights, const Float64Array& sigmas,
           const Float64Array& shifts, double delta, double near, Float64Array epsilon,
           Float64Array by_shift, Float64Array by_location, Float64Array by_log_weight,
           Float64Array by_log_sigma) {
            const std::size_t pairs = length(locations), count = length(shifts);
            const bool fits = pairs > 0 && length(weights) == pairs && length(sigmas) == pairs &&
                              length(epsilon) == count && length(by_shift) == count &&
                              length(by_location) == count * pairs &&
                              length(by_log_weight) == count * pairs &&
                              length(by_log_sigma) == count * pairs;
            if (!fits) throw py::type_error("core: arrays of the wrong length");
            const GaussianPairs mixture = {pairs, locations.data(), weights.data(), sigmas.data()};
            const double* at = shifts.data();
            const ShiftEpsilons out = {epsilon.mutable_data(), by_shift.mutable_data(),
                                       by_location.mutable_data(), by_log_weight.mutable_data(),
                                       by_log_sigma.mutable_data()};
            py::gil_scoped_release nogil;
            shift_epsilons(mixture, at, count, delta, near, out);
        },
        py::arg("locations"), py::arg("weights"), py::arg("sigmas"), py::arg("shifts"),
        py::arg("delta"), py::arg("near"), py::arg("epsilon").noconvert(),
        py::arg("by_shift").noconvert(), py::arg("by_location").noconvert(),
        py::arg("by_log_weight").noconvert(), py::arg("by_log_sigma").noconvert());
}

}  // namespace tightnoise
