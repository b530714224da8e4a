// The Gaussian mechanism on batches of a fixed size: m of n records, each set as likely, whose sum
// gets noise of standard deviation sigma sensitivities. One neighbour has one record replaced.
#pragma once

#include <cstddef>

#include "cost/sampled_gaussian.hpp"

namespace tightnoise {

// rdp[i] >= D_alpha[i] of sampled_loss.hpp for real orders alpha >= 1 (1: Kullback-Leibler);
// noise_multiplier > 0, 0 < sampling_rate = m / n <= 1. Infinite alpha gives infinity.
//
// Card. noise_multiplier 1e-2 to 1e4, sampling_rate 1e-12 to 1, alpha 1 to 1e6: never below the
// truth; above it as sampled_vmf.hpp says, with E = alpha^2 / sigma^2. Beyond these ranges it is an
// upper bound as well.
void fixed_size_gaussian_rdp(const SampledGaussian& step, const double* alpha, double* rdp,
                             std::size_t n);

using FixedSizeGaussianSum = RdpSum<SampledGaussian, fixed_size_gaussian_rdp>;

}  // namespace tightnoise
