// The integrands of the Renyi divergence of a mechanism on a random sample, a panel at a time.
#pragma once

#include <cstddef>

#include "cost/sampled_excess.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// Nodes of a quadrature rule where the loss has been evaluated.
struct LossPanel {
    static constexpr std::size_t kNodes = 16;
    double low[kNodes];        // log of the weight, times the density under Q, times 1 + u
    double log_ratio[kNodes];  // L = log(1 + u)
    double rest[kNodes];       // expm1mx(-L)
};

struct SampledLossKernels {
    // Fills a panel from the losses l and the logarithms of weight times density, under Q where
    // l <= 0 and under P where l > 0.
    void (*mix)(const double* loss, const double* log_density, double q, double log_q,
                LossPanel& panel);
    // The sum over a panel of ((1 + u)^a - 1 - a u) / b,
    double (*one_way)(const LossPanel& panel, const SampledOrder& order);
    // and of ((1 + u)^a + (1 + u)^(1 - a) - (1 + u) - 1) / b, where u >= 0.
    double (*both_ways)(const LossPanel& panel, const SampledOrder& order);
};
TIGHTNOISE_KERNEL_TABLE(SampledLossKernels, sampled_loss_kernels)

}  // namespace tightnoise
