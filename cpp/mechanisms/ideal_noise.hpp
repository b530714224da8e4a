// What doubtful elements of noise are decided by, in 320 bits. Kernels call it: what could throw
// would leave a weak symbol in them, and they need no code for exceptions.
#pragma once

#include <cstdint>

#include "mechanisms/sampled_noise.hpp"
#include "random/noise_key.hpp"

namespace tightnoise {

// --- normal noise --------------------------------------------------------------------------------

// The words of a pair and where they go on (random/ideal_normal.hpp).
struct IdealPairSource {
    const NoiseKey& key;
    std::uint64_t block;
    std::uint64_t radius;
    std::uint64_t angle;
};

// An element of the pair, of which K is the integer nearest to
// (theta + low + location + low_location + sigma z - lower) cells / (upper - lower), the upper one
// of two; all sums and products are exact.
struct IdealElement {
    double theta;
    double low;
    double sigma;
    double lower;
    double upper;
    double cells;
    double location = 0.0;
    double low_location = 0.0;
};

struct IntegerPair {
    double first;
    double second;
};
IntegerPair ideal_integers(const IdealPairSource& source, const IdealElement& first,
                           const IdealElement& second) noexcept;

// --- quasi-Gaussian noise ------------------------------------------------------------------------

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

// --- noise with a quantile in closed form --------------------------------------------------------

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
