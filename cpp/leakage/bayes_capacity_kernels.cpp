#include "leakage/bayes_capacity_kernels.hpp"

#include "leakage/bayes_capacity_box.hpp"
#include "numeric/compensated_sum.hpp"

namespace tightnoise {
namespace {

inline StandardBox standard_box(const BoxOperands& box, std::size_t i) {
    const double sigma = float64_at(box.sigma, i), lower = float64_at(box.lower, i);
    return {distance_in_sigmas(float64_at(box.upper, i), lower, sigma),
            distance_in_sigmas(float64_at(box.from, i), lower, sigma),
            distance_in_sigmas(float64_at(box.to, i), lower, sigma), box.levels};
}

template <double (*Excess)(const StandardBox&)>
CompensatedSum sum_of_logs(const BoxOperands& box, std::size_t begin, std::size_t n) {
    CompensatedSum total;
    for (std::size_t i = begin; i < begin + n; ++i) {
        add(total, log1p(Excess(standard_box(box, i))));
    }
    return total;
}

}  // namespace

extern const BayesCapacityKernels TIGHTNOISE_AT_LEVEL(bayes_capacity_kernels) = {
    sum_of_logs<gaussian_excess>, sum_of_logs<rectified_excess>, sum_of_logs<truncated_excess>,
    sum_of_logs<quantized_excess>, sum_of_logs<sign_excess>};

}  // namespace tightnoise
