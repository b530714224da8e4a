// x - log(1 + x), the second-order part of the logarithm. Kernel-side header: internal linkage, one
// copy a level.
#pragma once

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// x - log(1 + x), given 1 + x too, which may have more digits than x near -1.
// Range: -1 < x; never negative. Relative error: 1e-15.
// NaN gives NaN, inf inf.
// With s = x / (2 + x), log(1 + x) = 2 artanh(s) and x = 2 s / (1 - s), so that
//     x - log(1 + x) = s x - 2 s^3 (1/3 + s^2 / 5 + s^4 / 7 + ...).
// For |s| <= 1/3, which is -1/2 <= x <= 1, 15 terms leave out 1e-17. Beyond, subtracting loses a
// factor of 6 at most.
inline double log1p_remainder(double x, double one_plus_x) {
    constexpr double kSeries[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                  1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25,
                                  1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33};
    const double s = x / (2.0 + x);
    const double square = s * s;
    const double near = s * x - 2.0 * s * square * polynomial_in_halves(kSeries, square);
    const double far = x - log(one_plus_x);
    const double result = ((x >= -0.5) & (x <= 1.0)) ? near : far;
    return x == kInfinity ? x : result;
}

}  // namespace
}  // namespace tightnoise
