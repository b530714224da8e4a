// The modified Bessel function I_nu of any order nu >= 0 and argument x >= 0: its logarithm, the
// ratio of neighbours, and the mean of e^(x u_1) over the unit sphere. Branch-free. Kernel-side
// header: internal linkage, one copy a level.
//
// Everything comes from Debye's uniform expansion (DLMF 10.41.3), written with h = hypot(n, x),
// v = 1 / h and y = (n / h)^2, which keep their meaning at n = 0:
//
//     log I_n(x) = h - n asinh(n / x) - log(2 pi h) / 2 + Q,     Q = sum_k q_k(y) v^k
//     x I_(n+1)(x) / I_n(x) = h - n - x^2 v^2 (1/2 + P),         P = sum_k p_k(y) v^k
//
// with the second x d/dx of the first less n. Twelve terms give 1e-17 where the function is
// settled: n >= 24 or x >= 50. Other orders are reached from one between 24 and 25 by the
// recurrence I_(n-1) = (2 n / x) I_n + I_(n+1): all terms are positive, nothing cancels.
#pragma once

#include <cstddef>

#include "numeric/debye_coefficients.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

constexpr int kDebyeOrder = 24;             // settled from here on, whatever the argument
constexpr double kDebyeArgument = 50.0;     // and from here on, whatever the order
constexpr double kFarArgument = 1e21;       // an order below 24 no longer matters here
constexpr double kLargestSquare = 0x1p500;  // numbers up to this may be squared

inline bool is_settled(double nu, double x) {
    return (nu >= kDebyeOrder) | (x >= kDebyeArgument);
}

// sqrt(a^2 + b^2) for a, b >= 0, without overflow where the result is in range.
inline double hypotenuse(double a, double b) {
    const bool is_large = (a > kLargestSquare) | (b > kLargestSquare);
    const double down = is_large ? 0x1p-600 : 1.0;
    const double up = is_large ? 0x1p600 : 1.0;
    const double p = a * down;
    const double q = b * down;
    return std::sqrt(p * p + q * q) * up;
}

using DebyeTable = double[kDebyeTerms][kDebyeTerms + 1];

// sum_(k=1)^K c_k(y) v^k by Horner's rule in v, the polynomials c_k by Horner's rule in y.
template <int K = kDebyeTerms>
inline __attribute__((always_inline)) double debye_sum(const DebyeTable& table, double y, double v,
                                                       double sum = 0.0) {
    double c = table[K - 1][K];
#pragma GCC unroll 16
    for (int j = K - 1; j >= 0; --j) c = c * y + table[K - 1][j];
    sum = (sum + c) * v;
    if constexpr (K > 1) {
        return debye_sum<K - 1>(table, y, v, sum);
    } else {
        return sum;
    }
}

// How S(y, v) = sum_k c_k(y) v^k changes from (y0, v0) to (y1, v1):
// S1 - S0 = (y1 - y0) in_y + (v1 - v0) in_v, without cancellation.
struct DebyeDifference {
    double before = 0.0;  // S(y0, v0)
    double in_y = 0.0;    // sum_k v1^k (c_k(y1) - c_k(y0)) / (y1 - y0)
    double in_v = 0.0;    // sum_k c_k(y0) (v1^k - v0^k) / (v1 - v0)
};

// Divided differences by Horner's rule. Where y0 is a constant the compiler computes the c_k(y0).
template <int K = kDebyeTerms>
inline __attribute__((always_inline)) DebyeDifference debye_difference(const DebyeTable& table,
                                                                       double y0, double y1,
                                                                       double v0, double v1,
                                                                       DebyeDifference sum = {}) {
    double c = table[K - 1][K];
    double in_y = c;
#pragma GCC unroll 16
    for (int j = K - 1; j >= 0; --j) {
        c = c * y0 + table[K - 1][j];
        if (j > 0) in_y = in_y * y1 + c;
    }
    sum.in_v = sum.in_v * v1 + sum.before + c;
    sum.before = (sum.before + c) * v0;
    sum.in_y = (sum.in_y + in_y) * v1;
    if constexpr (K > 1) {
        return debye_difference<K - 1>(table, y0, y1, v0, v1, sum);
    } else {
        return sum;
    }
}

// How many steps of the recurrence lead from nu to an order that is settled whatever the argument:
// 0 to 25, as a double.
inline double steps_to_debye_order(double nu) {
    const double steps = round_to_integer((kDebyeOrder + 0.5) - nu);  // nonsense for large nu
    return nu >= kDebyeOrder ? 0.0 : steps;
}
constexpr int kMostSteps = kDebyeOrder + 1;

// I_(n+1)(x) / (x I_n(x)) by the expansion, h = hypot(n, x): relative error 3e-16 where settled.
inline double expanded_ratio_over_x(double n, double h) {
    const double v = 1.0 / h;
    const double t = n * v;
    const double inner = 0.5 + debye_sum(kDebyeSlope, t * t, v);
    return (1.0 - (h + n) * v * v * inner) / (h + n);
}

// I_(nu+1)(x) / I_nu(x).
// Range: 0 <= nu <= 1e250, 0 <= x. Relative error: 6e-16.
// NaN, nu < 0, x < 0 and both infinite give NaN; nu = inf gives 0, x = inf 1, x = 0 gives 0. Never
// above 1.
inline double iv_ratio(double nu, double x) {
    const double steps = is_settled(nu, x) ? 0.0 : steps_to_debye_order(nu);
    // With N / D = I_(n+1) / (x I_n), one step down is N, D <- D, 2 n D + x^2 N. D does not
    // overflow: n <= 25 and x < 50 where steps are taken.
    double above = expanded_ratio_over_x(nu + steps, hypotenuse(nu + steps, x));
    double below = 1.0;
    const double square = x * x;
#pragma GCC unroll 32
    for (int j = kMostSteps; j >= 1; --j) {
        const double next = 2.0 * (nu + j) * below + square * above;
        above = j <= steps ? below : above;
        below = j <= steps ? next : below;
    }
    double result = x * (above / below);
    result = result > 1.0 ? 1.0 : result;  // by rounding
    result = nu == kInfinity ? 0.0 : result;
    result = x == kInfinity ? (nu < kInfinity ? 1.0 : kNaN) : result;
    result = x == 0.0 ? 0.0 : result;
    return ((nu >= 0.0) & (x >= 0.0)) ? result : kNaN;
}

// What changes from x0 to x1 >= x0 at an order n, with g = x I_(n+1) / I_n and log M_n as below.
struct MeanRise {
    double log_mean;  // log M_n(x1) - log M_n(x0)
    double g;         // at x0
    double g_rise;    // from x0 to x1
};

// The same by the expansion, `rise` being h1 - h0. But for what does not depend on x,
//     log M_n = h - n log(n + h) - log(h) / 2 + Q,
// and with t = n / h, y1 - y0 = -rise t0 t1 (v0 + v1), v1 - v0 = -rise v0 v1. Where x0 = 0, h0 = n.
// log_mean has `first` for its first term, which is rise: where something is to be subtracted from
// log_mean, it is better subtracted there.
template <bool FromZero>
inline __attribute__((always_inline)) MeanRise expanded_mean_rise(double n, double x0, double h0,
                                                                  double h1, double rise,
                                                                  double first) {
    const double v0 = 1.0 / h0;
    const double v1 = 1.0 / h1;
    const double t0 = FromZero ? 1.0 : n * v0;
    const double t1 = n * v1;
    const double dy = -rise * t0 * t1 * (v0 + v1);
    const double dv = -rise * v0 * v1;
    const double y0 = FromZero ? 1.0 : t0 * t0;
    const DebyeDifference q = debye_difference(kDebye, y0, t1 * t1, v0, v1);
    const DebyeDifference p = debye_difference(kDebyeSlope, y0, t1 * t1, v0, v1);
    const double p_rise = dy * p.in_y + dv * p.in_v;
    MeanRise result;
    result.log_mean =
        first - n * log1p(rise / (n + h0)) - 0.5 * log1p(rise * v0) + (dy * q.in_y + dv * q.in_v);
    // g = h - n - (1 - y) (1/2 + P), and 1 - y = (x / h)^2
    result.g_rise = rise + dy * (0.5 + (p.before + p_rise));
    if constexpr (FromZero) {
        result.g = 0.0;
    } else {
        const double z = x0 * v0;
        result.g_rise -= z * z * p_rise;
        result.g = x0 * x0 / (n + h0) * (1.0 - (n + h0) * v0 * v0 * (0.5 + p.before));
    }
    return result;
}

// The same at the order nu + First - 1, from what it is at nu + Last, or at nu + steps if that is
// less. With N / D = g at x0, one step down is N, D <- x0^2 D, 2 n D + N, and M grows by the
// factor D / (2 n) at either point, so that their ratio grows by D1 / D0. What is kept is N0, D0,
// N1 - N0 and D1 - D0: all sums are of numbers of the same sign. Where x0 = 0, N0 = 0.
template <bool FromZero, int Last, int First>
inline __attribute__((always_inline)) MeanRise descend(double nu, double steps, double x0_square,
                                                       double increase, MeanRise from) {
    const double x1_square = x0_square + increase;
    double above = from.g;
    double above_rise = from.g_rise;
    double below = 1.0;
    double below_rise = 0.0;
#pragma GCC unroll 16
    for (int j = Last; j >= First; --j) {
        const double twice = 2.0 * (nu + j);
        const double next = FromZero ? twice * below : twice * below + above;
        const double next_rise = twice * below_rise + above_rise;
        const double next_above = FromZero ? 0.0 : x0_square * below;
        const double next_above_rise = x1_square * below_rise + increase * below;
        const bool is_taken = j <= steps;
        above = is_taken ? next_above : above;
        above_rise = is_taken ? next_above_rise : above_rise;
        below = is_taken ? next : below;
        below_rise = is_taken ? next_rise : below_rise;
    }
    MeanRise result;
    result.log_mean = from.log_mean + log1p(below_rise / below);
    result.g = above / below;
    result.g_rise = (above_rise - result.g * below_rise) / (below + below_rise);
    return result;
}

// log M_nu(x1) - log M_nu(x0), x1^2 - x0^2 = `increase`, from what it is at the order nu + steps.
template <bool FromZero>
inline __attribute__((always_inline)) double mean_rise(double nu, double steps, double x0_square,
                                                       double increase, MeanRise expanded) {
    // In two halves: D1 stays finite up to kFarArgument.
    constexpr int kHalf = kMostSteps / 2;
    const MeanRise half =
        descend<FromZero, kMostSteps, kHalf + 1>(nu, steps, x0_square, increase, expanded);
    return descend<FromZero, kHalf, 1>(nu, steps, x0_square, increase, half).log_mean;
}

// log M_nu(x), M_nu(x) = Gamma(nu + 1) (2 / x)^nu I_nu(x) = 0F1(; nu + 1; x^2 / 4): the mean of
// e^(x u_1) over the unit sphere in 2 nu + 2 dimensions.
// Range: 0 <= nu <= 1e250, 0 <= x. Relative error: 8e-16 (subnormal results: half a unit of the
// last place more).
// NaN, nu < 0, x < 0 and both infinite give NaN; nu = inf gives 0, x = inf gives inf, x = 0 gives
// 0.
inline __attribute__((always_inline)) double log_sphere_mean(double nu, double x) {
    const double steps = steps_to_debye_order(nu);
    const double n = nu + steps;
    const double h = hypotenuse(n, x);
    const double rise = x * (x / (n + h));
    const MeanRise expanded = expanded_mean_rise<true>(n, 0.0, n, h, rise, rise);
    double result = mean_rise<true>(nu, steps, 0.0, x * x, expanded);
    // All but (nu + 1/2) log x, 1e-18 of it.
    result = ((x >= kFarArgument) & (nu < kDebyeOrder)) ? x : result;
    result = nu == kInfinity ? 0.0 : result;
    result = x == kInfinity ? (nu < kInfinity ? kInfinity : kNaN) : result;
    result = x == 0.0 ? 0.0 : result;
    return ((nu >= 0.0) & (x >= 0.0)) ? result : kNaN;
}

// log M_nu(sqrt(x^2 + increase)) - log M_nu(x), without cancellation however small the increase.
// Range: 0 <= nu <= 1e150, 0 <= x <= 1e150, -x^2 <= increase <= 1e300. Relative error: 8e-16, where
// `increase` is exact.
// NaN, nu < 0, x < 0 and increase < -x^2 give NaN; increase = 0 gives 0, inf gives inf. Beyond the
// range the squares overflow.
inline __attribute__((always_inline)) double log_sphere_mean_rise(double nu, double x,
                                                                  double increase) {
    const bool is_fall = increase < 0.0;
    const double width = is_fall ? -increase : increase;
    const double x0_square = is_fall ? x * x - width : x * x;
    const double x0 = is_fall ? std::sqrt(x0_square) : x;
    const double steps = is_settled(nu, x0) ? 0.0 : steps_to_debye_order(nu);
    const double n = nu + steps;
    const double h0 = std::sqrt(n * n + x0_square);
    const double h1 = std::sqrt(n * n + x0_square + width);
    const double rise = width / (h1 + h0);
    const MeanRise expanded = expanded_mean_rise<false>(n, x0, h0, h1, rise, rise);
    double result = mean_rise<false>(nu, steps, x0_square, width, expanded);
    result = ((h1 >= kFarArgument) & (nu < kDebyeOrder)) ? rise : result;
    result = width == kInfinity ? kInfinity : result;
    result = width == 0.0 ? 0.0 : result;
    result = is_fall ? -result : result;
    return ((nu >= 0.0) & (x >= 0.0) & (x0_square >= 0.0)) ? result : kNaN;
}

// What follows are differences from the limits at x = inf, without cancellation there.

// 1 - I_(nu+1)(x) / I_nu(x).
// Range: 0 <= nu <= 1e250, 0 <= x. Relative error: 6e-14, where nu >= 24 or x >= 50 1e-15.
// NaN, nu < 0, x < 0 and both infinite give NaN; nu = inf gives 1, x = inf 0, x = 0 gives 1.
inline double iv_ratio_complement(double nu, double x) {
    // With r / x = (1 - (h + n) v^2 inner) / (h + n), and h - x = n^2 / (h + x). Below x = 50 a
    // factor of 100 cancels at most.
    const double h = hypotenuse(nu, x);
    const double v = 1.0 / h;
    const double t = nu * v;
    const double inner = 0.5 + debye_sum(kDebyeSlope, t * t, v);
    const double settled = (nu + nu * (nu / (h + x)) + (x * v) * ((h + nu) * v) * inner) / (h + nu);
    double result = is_settled(nu, x) ? settled : 1.0 - iv_ratio(nu, x);
    result = nu == kInfinity ? 1.0 : result;
    result = x == kInfinity ? (nu < kInfinity ? 0.0 : kNaN) : result;
    result = x == 0.0 ? 1.0 : result;
    return ((nu >= 0.0) & (x >= 0.0)) ? result : kNaN;
}

// log Gamma(1 + nu) for 0 <= nu <= 25: Gamma(1 + f) (1 + f) (2 + f) ... nu, 0 <= f <= 1.
// Error: 4e-16 of nu + the result.
inline double log_gamma_1p(double nu) {
    const double whole = round_to_integer(nu - 0.5);
    const double f = nu - whole;
    double product = 1.0;
#pragma GCC unroll 32
    for (int j = 1; j <= kMostSteps; ++j) product *= j <= whole ? f + j : 1.0;
    return log_positive(product) - f * (1.0 - f) * polynomial_in_halves(kLogGamma, f - 0.5);
}

// x - log M_nu(x): the log of the greatest value of e^(x u_1) on the unit sphere in 2 nu + 2
// dimensions by its mean.
// Range: 0 <= nu <= 1e250, 0 <= x. Relative error: 6e-15, where nu >= 24 or x >= 50 1e-15.
// NaN, nu < 0, x < 0 and both infinite give NaN; nu = inf gives x, x = inf gives inf, x = 0 gives
// 0.
inline __attribute__((always_inline)) double log_peak_to_mean(double nu, double x) {
    // As in log_sphere_mean, x subtracted from the first term: h - n - x = -2 x n / (x + n + h).
    // All that is large is negative then, but the steps down from order 24, which take back most.
    const double steps = steps_to_debye_order(nu);
    const double n = nu + steps;
    const double h = hypotenuse(n, x);
    const double rise = x * (x / (n + h));
    const double first = -x * (n / (0.5 * x + 0.5 * (n + h)));
    const MeanRise expanded = expanded_mean_rise<true>(n, 0.0, n, h, rise, first);
    const double general = -mean_rise<true>(nu, steps, 0.0, x * x, expanded);
    // Up to order 24, where x is settled without steps, from log I: h - x = nu^2 / (x + h).
    const double h0 = hypotenuse(nu, x);
    const double v0 = 1.0 / h0;
    const double t0 = nu * v0;
    const double far = nu * (log1p(nu / x * (1.0 + nu / (h0 + x))) - nu / (x + h0)) +
                       (nu * (log_positive(x) - kLog2) - log_gamma_1p(nu)) +
                       (kLogSqrtTwoPi + 0.5 * log_positive(h0)) - debye_sum(kDebye, t0 * t0, v0);
    double result = ((nu < kDebyeOrder) & (x >= kDebyeArgument)) ? far : general;
    result = nu == kInfinity ? x : result;
    result = x == kInfinity ? (nu < kInfinity ? kInfinity : kNaN) : result;
    result = x == 0.0 ? 0.0 : result;
    return ((nu >= 0.0) & (x >= 0.0)) ? result : kNaN;
}

// log I_nu(x), in two functions for where it is settled and where it is not, so that the longer one
// need not be computed everywhere.
// Range: 0 <= nu <= 1e250, 0 <= x. Error: 5e-16 of |log I_nu(x)| + hypot(nu, x).
// NaN, nu < 0, x < 0 and both infinite give NaN; nu = inf gives -inf, x = inf gives inf; x = 0
// gives -inf, but 0 for nu = 0.
inline double log_iv_settled(double nu, double x) {
    // asinh(n / x) = log1p(n / x (1 + n / (x + h))). Where x is so small that the quotient could
    // overflow, asinh(n / x) = 900 log 2 + asinh(n / (2^900 x)) to the last digit.
    const bool is_small = x < nu * 0x1p-900;
    const double seen = is_small ? x * 0x1p900 : x;
    const double h = hypotenuse(nu, x);
    const double v = 1.0 / h;
    const double t = nu * v;
    const double asinh = log1p(nu / seen * (1.0 + nu / (h + x))) + (is_small ? 900.0 * kLog2 : 0.0);
    double result =
        h - nu * asinh - (kLogSqrtTwoPi + 0.5 * log_positive(h)) + debye_sum(kDebye, t * t, v);
    result = nu == kInfinity ? -kInfinity : result;
    result = x == kInfinity ? (nu < kInfinity ? kInfinity : kNaN) : result;
    result = x == 0.0 ? -kInfinity : result;
    return ((nu >= 0.0) & (x >= 0.0)) ? result : kNaN;
}

inline double log_iv_unsettled(double nu, double x) {
    // By log M, for the result may be as small as x^2 / 4 at nu = 0. Where nu or x is not valid,
    // log M is NaN.
    const double mean = log_sphere_mean(nu, x);
    const double result = mean + (nu * (log_positive(x) - kLog2) - log_gamma_1p(nu));
    return x == 0.0 ? (nu == 0.0 ? 0.0 : (nu > 0.0 ? -kInfinity : kNaN)) : result;
}

}  // namespace
}  // namespace tightnoise
