// Quantiles of the standard normal distribution: Phi^-1(p), and the same from log p. Branch-free.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

// Like Wichura's AS241, one rational approximation in p - 1/2 for |p - 1/2| <= 0.425 and one in
// sqrt(-log p) for the tails; here one serves the whole tail, and both share a division.
constexpr double kNdtriCentre = 0.425;

// Phi^-1(1/2 + q) where `centre` holds, else the upper quantile of e^(-s^2), negated where q < 0.
inline double quantile(bool centre, double q, double s) {
    const double u = kNdtriCentre * kNdtriCentre - q * q;
    const double w = s - 1.5;
    const double tail = polynomial_in_halves(kNdtriTailAbove, w);
    const double above =
        centre ? q * polynomial_in_halves(kNdtriCentreAbove, u) : (q < 0.0 ? -tail : tail);
    const double below =
        centre ? polynomial_in_halves(kNdtriCentreBelow, u) : polynomial(kNdtriTailBelow, w);
    return above / below;
}

// Phi^-1(p), the quantile function.
// Range: 0 <= p <= 1, subnormal p included. Relative error: 1e-15.
// NaN, p < 0 and p > 1 give NaN, 0 -inf, 1 inf.
inline double ndtri(double p) {
    const double q = p - 0.5;
    const double smaller = q < 0.0 ? p : 1.0 - p;  // exact
    const double s = std::sqrt(-log_positive(smaller));
    double result = quantile(std::fabs(q) <= kNdtriCentre, q, s);
    result = p == 0.0 ? -kInfinity : result;
    result = p == 1.0 ? kInfinity : result;
    return p >= 0.0 ? (p <= 1.0 ? result : kNaN) : kNaN;
}

// -Phi^-1(e^(-l)) for l >= 746, l = inf included.
inline double far_lower_quantile(double l) {
    // h = z^2 / 2 solves h = l - log(4 pi h) / 2 + r(1 / (2 h)), r(a) = -a + 5/2 a^2 - 37/3 a^3 +
    // 353/4 a^4 the logarithm of the asymptotic series of Mills ratio times z. The first guess is
    // good to 1e-5 and Newton's step to 1e-15 of h.
    constexpr double kHalfLog4Pi = 1.2655121234846454;
    const double first = l - (kHalfLog4Pi + 0.5 * log_positive(l));
    const double h = first + 0.5 * ((l - first) - 1.0) / l;
    const double a = 0.5 / h;
    const double series = a * (-1.0 + a * (2.5 + a * (-37.0 / 3.0 + a * 88.25)));
    const double excess = (h - l) + (kHalfLog4Pi + 0.5 * log_positive(h)) - series;
    return kSqrtTwo * std::sqrt(h - excess * (1.0 - a * (1.0 - 3.0 * a)));
}

// Phi^-1(e^y), the quantile of a probability given by its logarithm.
// Range: y <= 0, from -1.7e308 to the last number below 0. Relative error: 1.1e-15.
// NaN and y > 0 give NaN, 0 gives inf, -inf gives -inf.
inline double ndtri_exp(double y) {
    constexpr double kLogLower = -2.5902671654458267;     // log 0.075
    constexpr double kLogUpper = -0.07796154146971183;    // log 0.925
    constexpr double kLog2Rest = 2.3190468138462996e-17;  // log 2 - kLog2
    const bool upper = y > kLogUpper;
    const bool lower = y < kLogLower;
    // p - 1/2 = (e^(y + log 2) - 1) / 2 keeps its relative accuracy at p = 1/2, 1 - p = -(e^y - 1)
    // at p = 1.
    const double e = expm1(upper ? y : (y + kLog2) + kLog2Rest);
    const double square = lower ? -y : -log_positive(-e);
    const double q = upper ? 0.5 : 0.5 * e;
    double result = quantile(!upper && !lower, q, std::sqrt(square));
    result = y < -746.0 ? -far_lower_quantile(-y) : result;
    result = y == 0.0 ? kInfinity : result;
    result = y == -kInfinity ? y : result;
    return y <= 0.0 ? result : kNaN;
}

}  // namespace
}  // namespace tightnoise
