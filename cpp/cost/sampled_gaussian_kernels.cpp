#include "cost/sampled_gaussian_kernels.hpp"

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

inline double term(const SampledGaussianIntegrand& f, double z) {
    const double log_ratio = log_mixture((z - f.middle) * f.inverse_sigma, f.q, f.log_q);
    return power_excess(log_ratio - 0.5 * z * z, log_ratio, expm1mx(-log_ratio), f.order);
}

double terms(const SampledGaussianIntegrand& f, double first, double step, std::size_t n,
             double* out) {
    const SampledGaussianIntegrand g = f;  // a copy that out cannot alias
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = term(g, (first + static_cast<double>(static_cast<int>(i))) * step);
    }
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) sum += out[i];
    return sum;
}

}  // namespace

extern const SampledGaussianKernels TIGHTNOISE_AT_LEVEL(sampled_gaussian_kernels) = {terms};

}  // namespace tightnoise
