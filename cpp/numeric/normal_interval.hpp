// The standard normal probability of an interval. Branch-free. Kernel-side header: internal
// linkage, one copy a level.
#pragma once

#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

// integral_0^1 cosh(a t) e^(-q t^2 / 2) dt for 0 <= a, q <= 0.09, with 22 terms for a <= 1/2 and
// q <= 1/4. Relative error: 3e-16.
template <int Terms = 14>
double narrow_interval(double a, double q) {
    // The even Taylor coefficients of g(t) = e^(a t - q t^2 / 2), integrated term by term;
    // g' = (a - q t) g gives (n + 1) c[n + 1] = a c[n] - q c[n - 1].
    double before = 1.0;
    double now = a;
    double sum = 1.0;
#pragma GCC unroll 32
    for (int n = 1; n < Terms; ++n) {
        const double next = (a * now - q * before) * (1.0 / (n + 1));
        before = now;
        now = next;
        if (n % 2 == 1) sum += now * (1.0 / (n + 2));
    }
    return sum;
}

// log(Phi(v) - Phi(u)), the log-probability of the interval [u, v].
// Range: all u <= v, from one unit of the last place apart to infinite. Relative error: 1.2e-15.
// NaN and u > v give NaN, u = v gives -inf, (-inf, inf) gives 0; overflows to -inf where the nearer
// end is beyond 1.8e154.
inline double log_ndtr_diff(double u, double v) {
    // By symmetry the interval is [x, y] with its middle m >= 0, of width w. Three forms, each
    // the logarithm of a number without harmful cancellation, and a base:
    //   narrow:     -m^2 / 2 + log(w / sqrt(2 pi) integral_0^1 cosh(m w t / 2) e^(-(w t)^2 / 8) dt)
    //   one side:   -x^2 / 2 + log(W(x) - e^(-m w) W(y)),  W(z) = e^(z^2 / 2) (1 - Phi(z))
    //   both sides: log(1 - e^(-x^2 / 2) W(-x) - e^(-y^2 / 2) W(y))
    constexpr double kNarrow = 0.17;
    const bool mirror = u + v < 0.0;  // (-inf, inf): NaN, so false
    const double x = mirror ? -v : u;
    const double y = mirror ? -u : v;
    const double w = v - u;
    const double m = 0.5 * x + 0.5 * y;
    const double exponent = m * w;
    const double limited = exponent > 800.0 ? 800.0 : exponent;  // e^-800 = 0
    const bool both_sides = x < 0.0;
    const double size = both_sides ? 0.5 * w * w : exponent;

    const double near = std::fabs(x);
    const double ratio_x = kSqrtHalf * erfcx_over_scale(near, kSqrtTwo);
    const double ratio_y = kSqrtHalf * erfcx_over_scale(y, kSqrtTwo);
    const double clamped = near > 40.0 ? 40.0 : near;
    const double h = upper_half(clamped);
    const double decay =
        exp_of_bounded_sum(both_sides ? -0.5 * h * h : -limited,
                           both_sides ? -0.5 * (clamped - h) * (clamped + h) : 0.0);

    const double one_side = ratio_x - decay * ratio_y;
    const double outside = decay * ratio_x + exp_minus_half_square(y) * ratio_y;
    const double narrow = w * narrow_interval<>(0.5 * exponent, 0.25 * w * w);

    const bool is_narrow = size < kNarrow;
    const double part = is_narrow ? -narrow : (both_sides ? outside : -one_side);
    const double one = is_narrow ? 0.0 : (both_sides ? 1.0 : 0.0);
    const double constant = is_narrow ? kLogSqrtTwoPi : 0.0;
    const double base = is_narrow ? m : (both_sides ? 0.0 : x);
    const double number = one - part;
    const double logarithm = log_of_sum(number, (one - number) - part);
    double result = (logarithm - constant) - 0.5 * base * base;
    result = u == v ? -kInfinity : result;
    return u <= v ? result : kNaN;
}

}  // namespace
}  // namespace tightnoise
