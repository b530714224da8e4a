// Directions of any size: what brings their squares into range. Kernel-side header: internal
// linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstddef>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// A sum of squares in this range has lost nothing to overflow or underflow: what underflowed is
// less than 1e-300 a coordinate. False for NaN, and for 0.
inline bool in_range(double squares) {
    return squares > 1e-275 && squares < kInfinity;
}

// 2^-e with 2^e <= max |x| < 2^(e + 1), kept within 2^-1000 to 2^1000; 1 if there is nothing but
// zeros, or NaN or infinities.
template <class Real>
double scale_of(const Real* x, std::size_t n) {
    double largest = 0.0;
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < n; ++i) {
        const double a = std::fabs(static_cast<double>(x[i]));
        largest = a > largest ? a : largest;
    }
    // Without a branch: what takes time does not depend on whether there is a direction.
    const double exponent = static_cast<double>(to_bits(largest) >> 52) - 1023.0;
    const double kept = exponent < -1000.0 ? -1000.0 : exponent;
    const double scale = power_of_two(kept > 1000.0 ? -1000.0 : -kept);
    return largest > 0.0 && largest < kInfinity ? scale : 1.0;
}

}  // namespace
}  // namespace tightnoise
