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

// An element of the pair: sums and products of these are taken exactly.
struct IdealElement {
    double theta;
    double theta_low;  // added to theta
    double origin;     // subtracted from it
    double sigma;
    double low_origin = 0.0;  // subtracted too
};

// The integer nearest to (theta - origin + sigma z) * multiplier / divisor, the upper one of two;
// for both elements of the pair.
struct NearestPair {
    double first;
    double second;
};
NearestPair ideal_nearest(const IdealPairSource& source, const IdealElement& first,
                          const IdealElement& second, double multiplier, double divisor) noexcept;

// 1 where theta + sigma z >= 0, else -1.
NearestPair ideal_signs(const IdealPairSource& source, const IdealElement& first,
                        const IdealElement& second) noexcept;

}  // namespace tightnoise
