// The integrand of the sampled Gaussian's Renyi divergence, many nodes at a time.
#pragma once

#include <cstddef>

#include "cost/sampled_excess.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// What the integrand depends on; sampled_gaussian_model.hpp derives it.
struct SampledGaussianIntegrand {
    double inverse_sigma;
    double middle;  // 1 / (2 sigma): where both Gaussians have the same density
    double q, log_q;
    SampledOrder order;
};

struct SampledGaussianKernels {
    // terms[i] = e^(-z^2 / 2 - reference) ((1 + u)^a - 1 - a u) / b at z = k step for
    // k = first + i, i < n, and their sum. n is a multiple of 8.
    double (*terms)(const SampledGaussianIntegrand& f, double first, double step, std::size_t n,
                    double* terms);
};
TIGHTNOISE_KERNEL_TABLE(SampledGaussianKernels, sampled_gaussian_kernels)

}  // namespace tightnoise
