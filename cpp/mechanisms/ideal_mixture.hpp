// What doubtful elements of quasi-Gaussian noise are decided by, in 320 bits.
#pragma once

#include <cstdint>

#include "random/noise_key.hpp"

namespace tightnoise {

// An element in units of the step; sums and products of these are taken exactly. Its noise is
// location + sigma z, negative if `mirrored`, where z is a standard normal, above
// -sensitivity / sigma (of any unit) if `cut`.
struct IdealQuasiGaussian {
    const NoiseKey& key;
    std::uint64_t number;  // of the word's block
    std::uint64_t word;
    bool cut;
    bool mirrored;
    double theta;
    double theta_low;
    double location;
    double sigma;
    double law_sigma;
    double law_sensitivity;
};

// The nearest integer, from one next to it on (from any, but every step takes 0.1 ms).
double ideal_quasi_gaussian(const IdealQuasiGaussian& element, double from) noexcept;

}  // namespace tightnoise
