// Probabilities of intervals under the normal distribution, with a factor that may be as large as
// they are small. Only for .cpp files: it is not branch-free.
#pragma once

#include <cmath>

#include "numeric/normal.hpp"
#include "numeric/normal_interval.hpp"

namespace tightnoise {
namespace {

// Beyond, the density adds nothing to a sum of 1.
constexpr double kNormalReach = 8.6;
// Beyond, the tail is below 1e-325.
constexpr double kNormalEnd = 39.0;

// log(e^a + e^b); one of them may be -inf.
inline double log_sum(double a, double b) {
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low > -HUGE_VAL ? high + std::log1p(std::exp(low - high)) : high;
}

// e^c (1 - Phi(x)) for x >= 0. Relative error: 1e-15 + 1.2e-16 |c - x^2 / 2|.
inline double scaled_upper_tail(double c, double x) {
    return std::exp(c - 0.5 * x * x) * (kSqrtHalf * erfcx_over_scale(x, kSqrtTwo));
}

// e^c (Phi(v) - Phi(u)). Relative error: 2e-15 + 1.2e-16 |c - x^2 / 2|, x the end nearer to 0 of an
// interval that does not contain 0.
// Range: u <= v, infinite ends included; the result must be below 1e308, c itself need not.
inline double scaled_normal_mass(double c, double u, double v) {
    // By symmetry the middle is not negative; forms as in log_ndtr_diff.
    const bool mirror = u + v < 0.0;
    const double x = mirror ? -v : u;
    const double y = mirror ? -u : v;
    if (x > kNormalReach - 1.0 && (y - x) * x > 40.0) return scaled_upper_tail(c, x);
    const double w = v - u;
    const double m = 0.5 * x + 0.5 * y;
    constexpr double kNarrow = 0.17;
    if (x >= 0.0) {
        if (m * w < kNarrow) {
            return std::exp(c - 0.5 * m * m) * kInverseSqrtTwoPi * w *
                   narrow_interval<>(0.5 * m * w, 0.25 * w * w);
        }
        const double near = kSqrtHalf * erfcx_over_scale(x, kSqrtTwo);
        const double far = kSqrtHalf * erfcx_over_scale(y, kSqrtTwo);
        return std::exp(c - 0.5 * x * x) * (near - std::exp(-m * w) * far);
    }
    if (0.5 * w * w < kNarrow) {
        return std::exp(c - 0.5 * m * m) * kInverseSqrtTwoPi * w *
               narrow_interval<>(0.5 * m * w, 0.25 * w * w);
    }
    const double outside_x = x < -kNormalReach ? 0.0 : scaled_upper_tail(0.0, -x);
    const double outside_y = y > kNormalReach ? 0.0 : scaled_upper_tail(0.0, y);
    return std::exp(c) * (1.0 - outside_x - outside_y);
}

}  // namespace
}  // namespace tightnoise
