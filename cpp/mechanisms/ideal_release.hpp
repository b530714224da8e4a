// What doubtful elements of normal noise are decided by, in 320 bits. Kernels call it: what could
// throw would leave a weak symbol in them.
#pragma once

#include <cstdint>

#include "random/noise_key.hpp"

namespace tightnoise {

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
// (noexcept, so that kernels need no code for exceptions.)
IntegerPair ideal_integers(const IdealPairSource& source, const IdealElement& first,
                           const IdealElement& second) noexcept;

}  // namespace tightnoise
