// The standard normal family: Phi, its logarithm, Mills ratio and hazard. Branch-free. Kernel-side
// header: internal linkage, one copy a level. The tests check every error below at every level.
#pragma once

#include <cmath>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwo = 1.4142135623730950488;
constexpr double kSqrtTwoPi = 2.5066282746310005024;
constexpr double kSqrtPi = 1.7724538509055160273;
constexpr double kLogSqrtTwoPi = 0.91893853320467274178;
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;

// erfcx(x / s) / s for x >= 0: P(t) / (x + s / 2) with t = (x - 3.5 s) / (x + 3.5 s), by one
// division. Far out t = 1 and the denominators would overflow. NaN gives NaN, inf 0.
inline double erfcx_over_scale(double x, double s) {
    const bool far = x > 0x1p60;
    const double a = far ? 1.0 : x + 3.5 * s;
    const double b = x + 0.5 * s;
    const double inverse = 1.0 / (a * b);
    const double t = far ? 1.0 : (x - 3.5 * s) * b * inverse;
    return polynomial_in_halves(kErfcx, t) * a * inverse;
}

// Mills ratio (1 - Phi(z)) / phi(z) for z >= 0. NaN gives NaN, inf 0.
inline double mills_positive(double z) {
    return kSqrtPi * erfcx_over_scale(z, kSqrtTwo);
}

// e^(-x^2 / 2): x^2 = h^2 + (x - h)(x + h) with h^2 exact keeps full relative accuracy.
inline double exp_minus_half_square(double x) {
    const double a = std::fabs(x) > 40.0 ? 40.0 : std::fabs(x);
    const double h = upper_half(a);
    return exp_of_bounded_sum(-0.5 * h * h, -0.5 * (a - h) * (a + h));
}

// The mean excess E[Z - x | Z > x] = phi(x)/Phi(-x) - x of a standard normal Z.
// Hazard less x: of the order of 1/x, so that subtracting would lose x^2 ulps. The Mills ratio is
// 1/(x + mean_excess(x)). P(t)/(x + 3/2) with t = (x - 3.5)/(x + 4.5), by one division.
// Range: x >= -1/2. Relative error: 6e-16. NaN gives NaN, inf 0.
inline double mean_excess(double x) {
    const bool far = x > 0x1p60;
    const double a = far ? 1.0 : x + 4.5;
    const double b = x + 1.5;
    const double inverse = 1.0 / (a * b);
    const double t = far ? 1.0 : (x - 3.5) * b * inverse;
    return polynomial_in_halves(kMeanExcess, t) * a * inverse;
}

// erfcx(x) for x >= 0, with no exponential. Relative error: 5e-16. NaN gives NaN, inf 0.
inline double erfcx_positive(double x) {
    return erfcx_over_scale(x, 1.0);
}

// erfcx(x) = e^(x^2) erfc(x).
// Range: all x. Relative error: 8e-16.
// NaN gives NaN, -inf inf, inf 0; overflows to inf below -26.63.
inline double erfcx(double x) {
    const double a = std::fabs(x);
    const double positive = erfcx_positive(a);
    const double clamped = a > 27.0 ? 27.0 : a;
    const double h = upper_half(clamped);
    const double square = exp_of_bounded_sum(h * h, (clamped - h) * (clamped + h));
    return x < 0.0 ? 2.0 * square - positive : positive;
}

// Phi(x) = erfc(-x / sqrt 2) / 2, the distribution function.
// Range: all x; subnormal results below -37.52, 0 below -38.49. Relative error: 9e-16.
// NaN gives NaN, -inf 0, inf 1.
inline double ndtr(double x) {
    const double a = std::fabs(x);
    const double tail = exp_minus_half_square(a) * (kSqrtHalf * erfcx_over_scale(a, kSqrtTwo));
    return x > 0.0 ? 1.0 - tail : tail;
}

// log Phi(x).
// Range: all x. Relative error: 1.3e-15 (for x > 37.5, where the result is subnormal, half a unit
// of the last place more). NaN gives NaN, -inf -inf, inf 0; overflows to -inf below -1.8e154.
inline double log_ndtr(double x) {
    // x <= 0: -x^2 / 2 + log(erfcx(-x / sqrt 2) / 2), both negative. x > 0: log(1 - tail), where
    // 1 - tail is a sum of two doubles. One logarithm serves both: log(one - part). Selecting
    // before subtracting also keeps the product in `tail` from being fused in some loops and not in
    // others.
    const double a = std::fabs(x);
    const double ratio = kSqrtHalf * erfcx_over_scale(a, kSqrtTwo);
    const double tail = exp_minus_half_square(a) * ratio;
    const double part = x > 0.0 ? tail : -ratio;
    const double one = x > 0.0 ? 1.0 : 0.0;
    const double below = x > 0.0 ? 0.0 : x;
    const double number = one - part;
    return log_of_sum(reduce_log_normal(number), (one - number) - part) - 0.5 * below * below;
}

// Hazard phi(t) / (1 - Phi(t)), that is the inverse Mills ratio; phi(t) / Phi(t) is hazard(-t).
// Range: all t. Relative error: 1.2e-15.
// NaN gives NaN, -inf 0, inf inf.
inline double hazard(double t) {
    const double mills = mills_positive(std::fabs(t));
    const double density = kInverseSqrtTwoPi * exp_minus_half_square(t);
    const double above = t > 0.0 ? 1.0 : density;
    const double below = t > 0.0 ? mills : 1.0 - density * mills;
    return above / below;
}

// Mills ratio (1 - Phi(t)) / phi(t) = sqrt(pi / 2) erfcx(t / sqrt 2).
// Range: all t. Relative error: 1.1e-15.
// NaN gives NaN, -inf inf, inf 0; overflows to inf below -37.7.
inline double mills(double t) {
    const double a = std::fabs(t);
    const double positive = mills_positive(a);
    const double clamped = a > 40.0 ? 40.0 : a;
    const double h = upper_half(clamped);
    const double inverse = exp_of_bounded_sum(0.5 * h * h, 0.5 * (clamped - h) * (clamped + h));
    return t < 0.0 ? kSqrtTwoPi * inverse - positive : positive;
}

}  // namespace
}  // namespace tightnoise
