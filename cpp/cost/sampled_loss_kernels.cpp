#include "cost/sampled_loss_kernels.hpp"

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

void mix(const double* loss, const double* log_density, double q, double log_q, LossPanel& panel) {
    double low[LossPanel::kNodes], log_ratio[LossPanel::kNodes], rest[LossPanel::kNodes];
#pragma omp simd
    for (std::size_t i = 0; i < LossPanel::kNodes; ++i) {
        const double l = loss[i];
        log_ratio[i] = log_mixture(l, q, log_q);
        // (1 + u) dQ = (q + (1 - q) e^-l) dP
        const double from_p = log(q + (1.0 - q) * exp(-l));
        low[i] = log_density[i] + (l > 0.0 ? from_p : log_ratio[i]);
        rest[i] = expm1mx(-log_ratio[i]);
    }
    for (std::size_t i = 0; i < LossPanel::kNodes; ++i) {
        panel.low[i] = low[i];
        panel.log_ratio[i] = log_ratio[i];
        panel.rest[i] = rest[i];
    }
}

double one_way(const LossPanel& panel, const SampledOrder& order) {
    const SampledOrder o = order;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < LossPanel::kNodes; ++i) {
        sum += power_excess(panel.low[i], panel.log_ratio[i], panel.rest[i], o);
    }
    return sum;
}

double both_ways(const LossPanel& panel, const SampledOrder& order) {
    const SampledOrder o = order;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < LossPanel::kNodes; ++i) {
        sum += power_excess_of_both(panel.low[i], panel.log_ratio[i], o);
    }
    return sum;
}

}  // namespace

extern const SampledLossKernels TIGHTNOISE_AT_LEVEL(sampled_loss_kernels) = {mix, one_way,
                                                                             both_ways};

}  // namespace tightnoise
