// The privacy profile of the Gaussian mechanism: what delta the pair N(0, 1), N(mu, 1) has at a
// given epsilon, where mu = sensitivity / sigma. Kernel-side header: internal linkage.
//
// Balle and Wang 2018, "Improving the Gaussian Mechanism for Differential Privacy", Theorem 8:
//
//     delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
//
// With a = epsilon/mu - mu/2, b = epsilon/mu + mu/2 = a + mu, e^epsilon phi(b) = phi(a) and
// Mills ratio m(t) = Phi(-t) / phi(t) this is
//
//     delta     = phi(a) (m(a) - m(b)),
//     1 - delta = phi(a) (m(-a) + m(b)),
//
// in which nothing overflows where it matters, and the second cancels nowhere. The first does where
// mu is small beside a, or small at all: there m' = t m - 1 gives
//
//     m(a) - m(b) = mu integral_0^1 (1 - t m(t)) dy,   t = a + mu y,
//
// whose integrand e / (t + e), e = mean_excess(t), is positive and has all its digits. m is entire
// and changes on a scale of max(1, t), so that 16 nodes are exact to 1e-17 while mu <= max(1, a)
// (rho >= 3 + sqrt 8 for 1/t^2 on [a, 2 a]; a >= -mu/2 >= -1/2). Else m(b) < 0.65 m(a).
//
// a itself is a difference, and phi(a) multiplies an error of a by a: both are carried to 32
// digits.
#pragma once

#include "numeric/double_double.hpp"
#include "numeric/gauss_legendre.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

// delta, or 1 - delta where that is the smaller one by a < -1, as factor e^(exponent + low).
struct GaussianProfile {
    bool is_complement;
    double exponent;  // -a^2 / 2
    double low;
    double factor;
    double error;  // bound of the relative error
};

// m(a) - m(b) for b = a + mu, a >= -1 and a >= -mu/2. Relative error: 3.5e-15.
inline double mills_difference(double a, double mu) {
    if (mu > 1.0 && mu > a) return mills(a) - mills(a + mu);
    using Rule = GaussLegendre<16>;
    double sum = 0.0;
    for (int k = 0; k < 16; ++k) {
        const double t = a + mu * Rule::nodes[k];
        const double excess = mean_excess(t);
        sum += Rule::weights[k] * (excess / (t + excess));
    }
    return mu * sum;
}

// Range: finite epsilon >= 0 and mu > 0. `error` is below 1e-14 for mu <= 1e11 wherever delta and
// 1 - delta are above 1e-300; farther out, where the digits of epsilon and mu no longer determine
// a, it grows with the distance and may be infinite.
inline GaussianProfile gaussian_profile(double epsilon, double mu) {
    constexpr double kFormulaError = 6e-15;
    const double quotient = epsilon / mu;
    DoubleDouble a{quotient - 0.5 * mu, 0.0};
    double rounding = 0x1p-51;
    DoubleDouble square{a.hi * a.hi, 0.0};
    if (quotient < 0x1p500 && mu < 0x1p500) {
        // Tiny numbers are scaled so that the products within the division are normal.
        const double scale = mu < 0x1p-100 ? 0x1p400 : 1.0;
        a = DoubleDouble{scale * epsilon, 0.0} / (scale * mu) + -0.5 * mu;
        rounding = 0x1p-98;
        square = a * a;
    }
    GaussianProfile p;
    p.is_complement = a.hi < -1.0;
    p.exponent = -0.5 * square.hi;
    p.low = -0.5 * square.lo;
    p.factor = kInverseSqrtTwoPi * (p.is_complement ? mills(-a.hi) + mills(quotient + 0.5 * mu)
                                                    : mills_difference(a.hi, mu));
    p.error = kFormulaError + rounding * (1.0 + std::fabs(a.hi)) * (quotient + mu);
    return p;
}

// delta or 1 - delta, whichever p holds.
inline double value(const GaussianProfile& p) {
    return exp_of_sum(p.exponent, p.low) * p.factor;
}

// Its logarithm, also where it would underflow.
inline double log_value(const GaussianProfile& p) {
    constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
    return p.exponent + (p.low + log_positive(p.factor > kSmallest ? p.factor : kSmallest));
}

}  // namespace
}  // namespace tightnoise
