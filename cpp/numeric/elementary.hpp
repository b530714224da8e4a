// Elementary functions: branch-free, so that loops over them vectorise. Kernel-side header:
// internal linkage, one copy a level. The tests check every error below at every level.
#pragma once

#include <cmath>
#include <limits>

#include "numeric/coefficients.hpp"
#include "numeric/polynomial.hpp"

namespace tightnoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline double larger_of(double a, double b) {
    return a > b ? a : b;
}
inline double smaller_of(double a, double b) {
    return a < b ? a : b;
}

// log 2 as a sum: k * kLog2High is exact for the exponents k of doubles.
constexpr double kLog2 = 0x1.62e42fefa39efp-1;
constexpr double kLog2High = 0x1.62e42feep-1;
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;

// e^x = 2^k e^r with k an integer and |r| <= log(2) / 2 (a little more when x was rounded).
struct ExpReduction {
    double k;
    double r;
};

inline ExpReduction reduce_exp(double x) {
    const double k = round_to_integer(x * (1.0 / kLog2));
    return {k, (x - k * kLog2High) - k * kLog2Low};
}

// 2^k in two factors, for it may be out of range where the product with a number is not.
inline double scale(double x, double k) {
    const double half = round_to_integer(0.5 * k);
    return x * power_of_two(half) * power_of_two(k - half);
}

// e^(x + low) for |x| <= 1400 and |low| <= 1e-3: the sum of two doubles keeps its digits.
inline double exp_of_bounded_sum(double x, double low) {
    ExpReduction e = reduce_exp(x);
    e.r += low;
    return scale(1.0 + (e.r + e.r * e.r * polynomial_in_halves(kExp, e.r)), e.k);
}

// The same for all x. Where e^x is 0 or infinite, low may be of any size: it is half a unit of the
// last place of x, which far out is more than 1.
inline double exp_of_sum(double x, double low) {
    const double above = x < -746.0 ? -746.0 : x;
    const double clamped = above > 710.0 ? 710.0 : above;
    return exp_of_bounded_sum(clamped, clamped == x ? low : 0.0);
}

// e^x.
// Range: all x. Relative error: 2e-16 (subnormal results: half a unit of the last place more).
// NaN gives NaN, -inf 0, inf inf; overflows to inf above 709.78.
inline double exp(double x) {
    return exp_of_sum(x, 0.0);
}

// e^x - 1.
// Range: all x. Relative error: 3.5e-16.
// NaN gives NaN, -inf -1, inf inf; a zero keeps its sign.
inline double expm1(double x) {
    // e^x - 1 = 2^k (e^r - 1) + (2^k - 1), all divided by the second factor b of 2^k = a b.
    double clamped = x < -40.0 ? -40.0 : x;
    clamped = clamped > 710.0 ? 710.0 : clamped;
    const ExpReduction e = reduce_exp(clamped);
    const double minus_1 = e.r + e.r * e.r * polynomial_in_halves(kExp, e.r);
    const double half = round_to_integer(0.5 * e.k);
    const double a = power_of_two(half);
    const double rest = half - e.k;
    const double result = (minus_1 * a + (a - power_of_two(rest))) * power_of_two(-rest);
    return x == 0.0 ? x : result;
}

// e^t - 1 - t.
// Range: all t; never negative. Relative error: 5e-16.
// NaN gives NaN, -inf and inf give inf.
inline double expm1mx(double t) {
    // |t| <= 1: t^2 times a polynomial. Beyond, subtracting loses a factor of 2.7 at most.
    const double inside = t * t * polynomial_in_halves(kExpm1mx, t);
    const double outside = t == kInfinity ? t : expm1(t) - t;
    return t >= -1.0 ? (t <= 1.0 ? inside : outside) : outside;
}

// u = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
struct LogReduction {
    double k;
    double f;
};

// For normal u > 0; anything else gives finite nonsense.
inline LogReduction reduce_log_normal(double u) {
    constexpr std::uint64_t kOne = 0x3ff0000000000000u;       // bits of 1
    constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;  // bits of sqrt(1/2)
    const std::uint64_t bits = to_bits(u) + (kOne - kSqrtHalf);
    const double k = from_bits((bits >> 52) | to_bits(0x1p52)) - (0x1p52 + 1023.0);
    return {k, from_bits((bits & 0x000fffffffffffffu) + kSqrtHalf) - 1.0};
}

// For u > 0, subnormal or normal; anything else gives finite nonsense.
inline LogReduction reduce_log(double u) {
    const bool subnormal = u < std::numeric_limits<double>::min();
    const LogReduction l = reduce_log_normal(subnormal ? u * 0x1p54 : u);
    return {subnormal ? l.k - 54.0 : l.k, l.f};
}

// log(2^k (1 + f)) + low = k log 2 + 2 artanh(s) + low with s = f / (2 + f).
inline double log_series(double k, double f, double s, double low) {
    const double z = s * s;
    const double half_square = 0.5 * f * f;
    const double tail = s * (half_square + z * polynomial(kLog, z)) + (k * kLog2Low + low);
    return k * kLog2High - ((half_square - tail) - f);
}

// log u for u >= 0 of which the caller knows that it is no NaN; u = 0 and u = inf give finite
// nonsense. Relative error: 1.8e-16.
inline double log_positive(double u) {
    const LogReduction l = reduce_log(u);
    return log_series(l.k, l.f, l.f / (2.0 + l.f), 0.0);
}

// log(u + low) for u as reduced and |low| <= 2^-52 u. Relative error: 2.3e-16.
inline double log_of_sum(LogReduction u, double low) {
    // log(u + low) = log u + low / u. With m = 1 + f, 1 / m = (1 - s) / (1 + s): 2 s^4 after these
    // terms is less than 0.2 %, enough for a correction that is small unless f is.
    const double s = u.f / (2.0 + u.f);
    const double inverse = 1.0 - 2.0 * s * (1.0 - s * (1.0 - s));
    const double in_range = u.k < 1000.0 ? u.k : 1000.0;  // beyond, low / u is nothing
    return log_series(u.k, u.f, s, low * power_of_two(-in_range) * inverse);
}

// The same for u > 0 as a double; u = 0 and u = inf give finite nonsense, NaN may do.
inline double log_of_sum(double u, double low) {
    return log_of_sum(reduce_log(u), low);
}

// log x.
// Range: all x. Relative error: 1.8e-16.
// NaN and x < 0 give NaN, 0 gives -inf, inf gives inf.
inline double log(double x) {
    double result = log_positive(x);
    result = x < kInfinity ? result : x;
    result = x == 0.0 ? -kInfinity : result;
    return x < 0.0 ? kNaN : result;
}

// log(1 + x).
// Range: all x. Relative error: 2.3e-16.
// NaN and x < -1 give NaN, -1 gives -inf, inf gives inf; a zero keeps its sign.
inline double log1p(double x) {
    const double u = 1.0 + x;
    const double low = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    double result = log_of_sum(reduce_log_normal(u), low);
    result = x < kInfinity ? result : x;
    result = x == 0.0 ? x : result;
    result = x == -1.0 ? -kInfinity : result;
    return x < -1.0 ? kNaN : result;
}

}  // namespace
}  // namespace tightnoise
