// The shares of 2^128 that the components of a mixture have.
//
// n weights w of sum 1, real numbers, get the shares floor(w (2^128 - n)) + 1, and the largest what
// is then left, less than n. So every component has at least (1 - n 2^-128) of its weight: what is
// drawn is, with probability 1 - n 2^-128, a sample of the law, else one of another mixture of the
// same components. A hockey-stick divergence is jointly convex: whatever epsilon is, delta grows by
// n 2^-128 at most for every sample, below 2^-100. To round to the nearest share would cost up to
// e^epsilon times as much, as a rare component may be what makes a large loss impossible.
// The shares of components of n 2^-26 or more are within e^(2^-100) of their weights.
#pragma once

#include <cstddef>
#include <vector>

#include "mechanisms/sampled_noise.hpp"

namespace tightnoise {

// Weights e^(-|k| epsilon) / sum, k = -modes, ..., modes.
std::vector<Share> ladder_shares(double epsilon, int modes);

// Weights e^epsilon, Phi(sensitivity / sigma) and the latter again, over their sum.
std::vector<Share> quasi_gaussian_shares(double sigma, double epsilon, double sensitivity);

// Weights over their sum, each of them twice: first all, then all once more. weight > 0.
std::vector<Share> mirrored_shares(const double* weight, std::size_t n);

}  // namespace tightnoise
