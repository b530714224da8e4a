// The lower quantile of a law whose distribution has no closed inverse.
#pragma once

#include <cmath>

namespace tightnoise {
namespace {

// x in [low, high] with F(x) = q, for 0 < q <= F(high): Newton's method on log F, which is nearly
// straight in the tail, within a bracket. density(x) = F'(x).
template <class Distribution, class Density>
double bracketed_quantile(Distribution distribution, Density density, double q, double low,
                          double high) {
    double x = 0.5 * (low + high);
    for (int i = 0; i < 400; ++i) {
        const double at = distribution(x);
        if (at == q) return x;
        (at < q ? low : high) = x;
        const double step = at > 0.0 ? at / density(x) * std::log(q / at) : HUGE_VAL;
        double next = x + step;
        // Every third step halves: there are plains where Newton's method creeps.
        if (!(next > low && next < high) || i % 3 == 2) next = 0.5 * (low + high);
        if (std::fabs(next - x) <= 0x1p-53 * std::fabs(next) || next == low || next == high) {
            return next;
        }
        x = next;
    }
    return x;
}

// The quantile of a law symmetric about 0 of which all lies within +-reach.
// NaN and q outside [0, 1] give NaN, 0 -inf, 1 inf.
template <class Law>
double symmetric_quantile(const Law& law, double q, double reach) {
    if (!(q >= 0.0 && q <= 1.0)) return std::nan("");
    if (q == 0.0) return -HUGE_VAL;
    if (q == 1.0) return HUGE_VAL;
    if (q == 0.5) return 0.0;
    if (q > 0.5) return -symmetric_quantile(law, 1.0 - q, reach);
    return bracketed_quantile([&](double x) { return law.distribution(x); },
                              [&](double x) { return std::exp(law.log_density(x)); }, q, -reach,
                              0.0);
}

}  // namespace
}  // namespace tightnoise
