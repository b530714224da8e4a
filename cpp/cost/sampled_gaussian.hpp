// The sampled Gaussian mechanism: every record takes part with probability q (Poisson sampling),
// and Gaussian noise of standard deviation sigma sensitivities is added to the sum.
#pragma once

#include <cstddef>

namespace tightnoise {

struct SampledGaussian {
    double noise_multiplier, sampling_rate;  // sigma, q
};

// rdp[i] >= D_alpha[i]((1 - q) N(0, sigma^2) + q N(1, sigma^2) || N(0, sigma^2)) for real orders
// alpha >= 1 (1: Kullback-Leibler); noise_multiplier > 0, 0 < sampling_rate <= 1.
//
// Card. noise_multiplier 1e-2 to 1e4, sampling_rate 1e-12 to 1, alpha 1 to 1e6: never below the
// truth; above it by at most a fraction 1e-10 + 4e-15 (alpha / sigma)^2 / ((alpha - 1) D), and
// 2.3e-308. The second part is 1e-14 unless two modes of the integrand, at 0 and at alpha / sigma,
// just balance: D is as sensitive to its arguments there. Beyond these ranges it is an upper bound
// as well. Infinite alpha gives infinity.
void sampled_gaussian_rdp(const SampledGaussian& step, const double* alpha, double* rdp,
                          std::size_t n);

// The same on batches of a fixed size: m of n records, each set as likely. One neighbour has one
// record replaced.
// rdp[i] >= D_alpha[i] of sampled_loss.hpp for real orders alpha >= 1 (1: Kullback-Leibler);
// noise_multiplier > 0, 0 < sampling_rate = m / n <= 1. Infinite alpha gives infinity.
//
// Card. noise_multiplier 1e-2 to 1e4, sampling_rate 1e-12 to 1, alpha 1 to 1e6: never below the
// truth; above it as sampled_vmf.hpp says, with E = alpha^2 / sigma^2. Beyond these ranges it is an
// upper bound as well.
void fixed_size_gaussian_rdp(const SampledGaussian& step, const double* alpha, double* rdp,
                             std::size_t n);

}  // namespace tightnoise
