// What doubtful elements of additive noise are decided by, in 320 bits.
#pragma once

#include <cstdint>

#include "mechanisms/sampled_noise.hpp"
#include "random/noise_key.hpp"

namespace tightnoise {

// A word, and where it goes on. Its upper bit is the sign; the other 63, continued, are 2^63 times
// U, uniform on (0, 1), and the magnitude is what the law exceeds with probability U.
struct IdealWord {
    const NoiseKey& key;
    std::uint64_t block;
    std::uint64_t word;
};

// theta = step (rest + low); of these, sums are taken exactly.
struct IdealCell {
    double rest;
    double low;
    double step;
};

// The integer nearest to (theta + noise) / step, the upper one of two.
double ideal_exponential(const IdealWord& from, const IdealCell& cell, double scale,
                         double bound) noexcept;
double ideal_stepped(const IdealWord& from, const IdealCell& cell,
                     const StaircaseNoise& noise) noexcept;

}  // namespace tightnoise
