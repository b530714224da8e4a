// Logarithms, exponentials, sines and cosines of double-doubles, for the few places that doubles
// leave open: slow, as they are sums of Taylor series. Kernel-side header: internal linkage.
#pragma once

#include <cmath>

#include "numeric/double_double.hpp"

namespace tightnoise {
namespace {

constexpr DoubleDouble kWideLog2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr DoubleDouble kWideHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// log(1 + f) = 2 atanh s, s = f/(2 + f), for sqrt(1/2) <= 1 + f <= sqrt(2). Relative error: 2^-97.
// With s^2 < 0.0295 the 23 terms leave out 2^-121 of the sum; what the others' roundings leave is
// that of the last two operations.
inline DoubleDouble log_near_1(DoubleDouble f) {
    constexpr int kTerms = 23;
    const DoubleDouble s = f / (f + 2.0);
    const DoubleDouble square = s * s;
    const DoubleDouble one = {1.0, 0.0};
    DoubleDouble sum = {0.0, 0.0};
    for (int k = kTerms - 1; k >= 0; --k) sum = sum * square + one / static_cast<double>(2 * k + 1);
    return (s * sum) * 2.0;
}

// log x for a normal x > 0. Error: 2^-97 of log x, and where x is rounded what that does.
inline DoubleDouble log(DoubleDouble x) {
    int exponent = 0;
    const double fraction = std::frexp(x.hi, &exponent);
    if (fraction < 0.70710678) --exponent;
    const DoubleDouble m = {std::ldexp(x.hi, -exponent), std::ldexp(x.lo, -exponent)};
    return kWideLog2 * static_cast<double>(exponent) + log_near_1(m + (-1.0));
}

// e^x - 1.
// Range: -700 <= x <= 700. Relative error: 2^-96. NaN gives NaN.
inline DoubleDouble wide_expm1(double x) {
    // x = k log 2 + r, |r| <= log(2)/2, and e^r - 1 from t = r/64: a series, then six times
    // e^2t - 1 = u (2 + u) for u = e^t - 1, which loses no relative accuracy. Subtracting k log 2
    // costs |k| 2^-109 at most.
    constexpr int kHalvings = 6;
    constexpr double kTerms = 13.0;  // (log(2)/128)^13 / 14! < 2^-124
    const double k = std::nearbyint(x / kWideLog2.hi);
    const DoubleDouble t = (-(kWideLog2 * k) + x) * std::ldexp(1.0, -kHalvings);
    DoubleDouble u = t / kTerms;
    for (double i = kTerms - 1.0; i >= 1.0; --i) u = (u + 1.0) * (t / i);
    for (int i = 0; i < kHalvings; ++i) u = u * (u + 2.0);
    if (k == 0.0) return u;
    const DoubleDouble power = u + 1.0;
    const int exponent = static_cast<int>(k);
    return DoubleDouble{std::ldexp(power.hi, exponent), std::ldexp(power.lo, exponent)} + -1.0;
}

// cos x and sin x for abs(x) <= 0.79: 1 - x^2/2 (1 - x^2/12 (...)), and likewise. Error: 2^-98;
// what is left out is below x^28/28!, 2^-107.
struct SineCosine {
    DoubleDouble sine;
    DoubleDouble cosine;
};
inline SineCosine sine_cosine(DoubleDouble x) {
    const DoubleDouble square = x * x;
    const DoubleDouble one = {1.0, 0.0};
    DoubleDouble sine = one, cosine = one;
    for (int k = 13; k >= 1; --k) {
        const double n = 2.0 * k;
        sine = one - square * sine / (n * (n + 1.0));
        cosine = one - square * cosine / (n * (n - 1.0));
    }
    return {x * sine, cosine};
}

}  // namespace
}  // namespace tightnoise
