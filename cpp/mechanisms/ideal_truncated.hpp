// What doubtful elements of noise conditioned on bounds are decided by, in 320 bits.
#pragma once

#include <cstdint>

#include "random/noise_key.hpp"

namespace tightnoise {

// The laws N(theta, sigma^2) and Laplace(theta, sigma), conditioned on [lower, upper].
enum class Conditioned { gaussian, laplace };

// An element: its numbers are taken exactly; theta_low is added to theta.
struct ConditionedElement {
    const NoiseKey& key;
    std::uint64_t block;  // of the refinement stream
    std::uint64_t bits;   // the keystream word
    double theta;
    double theta_low;
    double sigma;
    double lower;
    double upper;
    double step;
};

// K - whole for a sample x of the law, K = floor(x / step + 1/2), whole an integer: the ideal
// uniform is the share of the mass above x. `guess` is near it.
double ideal_conditioned(Conditioned law, const ConditionedElement& element, double whole,
                         double guess) noexcept;

}  // namespace tightnoise
