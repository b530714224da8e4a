// What one value of the privacy loss adds to E_Q[(1 + u)^a], 1 + u = 1 - q + q e^l: the likelihood
// ratio of the mixture (1 - q) Q + q P to Q, where P has the loss l over Q. Branch-free.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "numeric/elementary.hpp"

namespace tightnoise {

// An order a = b + 1; inverse_b is 0 for b = 0. Terms are multiplied by e^-reference.
struct SampledOrder {
    double b, inverse_b, reference;
};

namespace {

inline SampledOrder sampled_order(double alpha, double reference) {
    const double b = alpha - 1.0;
    return {b, b > 0.0 ? 1.0 / b : 0.0, reference};
}

// L = log(1 - q + q e^l) for 1e-300 <= q < 1. Relative error: 1e-15 next to l = 0, elsewhere that
// of l. Beyond l = 700 it is log(q e^l) + log(1 + (1 - q) / (q e^l)), where 1 - q counts as 1:
// there q e^l > 1e3, and if q is not tiny, both are lost in rounding.
inline double log_mixture(double l, double q, double log_q) {
    const bool far = l > 700.0;
    const double x = l + log_q;
    const double minus_1 = expm1(far ? -x : l);
    return (far ? x : 0.0) + log1p(far ? minus_1 + 1.0 : q * minus_1);
}

// ((1 + u)^a - 1 - a u) / b = e^L (expm1mx(b L) / b + expm1mx(-L)), L = log(1 + u): both terms are
// >= 0. It is 1 + u, weighted, that is given, as `low`, its logarithm, and rest = expm1mx(-L). With
// y = b L, where y > 1 the large factor e^y goes into the exponent, where it cannot overflow.
inline double power_excess(double low, double log_ratio, double rest, const SampledOrder& order) {
    const double y = order.b * log_ratio;
    const double shifted = low - order.reference;
    const bool large = y > 1.0;
    const double factor = exp(large ? shifted + y : shifted);
    const double minus_1 = expm1(large ? -y : y);
    const double inside = y * y * polynomial_in_halves(kExpm1mx, y);
    const double outside = large ? -minus_1 - y * (1.0 + minus_1) : minus_1 - y;
    const double excess = y >= -1.0 ? (large ? outside : inside) : outside;
    return factor * (excess * order.inverse_b + (large ? 1.0 + minus_1 : 1.0) * rest);
}

// ((1 + u)^a + (1 + u)^(1 - a) - (1 + u) - 1) / b = e^(a L) (1 - e^(-a L)) (1 - e^(-b L)) / b for
// u >= 0, and `low` as above.
inline double power_excess_of_both(double low, double log_ratio, const SampledOrder& order) {
    const double y = order.b * log_ratio;
    const double slope = order.b > 0.0 ? -expm1(-y) * order.inverse_b : log_ratio;
    return exp(low - order.reference + y) * -expm1(-y - log_ratio) * slope;
}

// Smaller sampling rates q are taken as this, so that q times a likelihood ratio is in range where
// it matters.
constexpr double kLeastSamplingRate = 1e-300;

// X = (E_Q[(dP/dQ)^a] - 1) / (a - 1) as e^reference times a number; reference >= 0, and 0 where X
// cannot overflow. For a = 1, X is the Kullback-Leibler divergence.
struct ScaledExcess {
    double scaled, reference;
};

inline double reference_for(double exponent) {
    return exponent > 30.0 ? exponent : 0.0;
}

// D from X and b = a - 1: log(1 + b X) / b. Order 1 has reference 0.
inline double divergence(ScaledExcess x, double b) {
    if (b == 0.0) return x.scaled;
    if (x.reference == 0.0) return log1p(b * x.scaled) / b;
    return (x.reference + log(b * x.scaled + exp(-x.reference))) / b;
}

}  // namespace
}  // namespace tightnoise
