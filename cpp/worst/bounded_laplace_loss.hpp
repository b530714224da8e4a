// The loss of the bounded Laplace mechanism (Holohan, Antonatos, Braghin and Mac Aonghusa 2018,
// "The Bounded Laplace Mechanism in Differential Privacy"). Branch-free. Kernel-side header:
// internal linkage, one copy a level.
//
// Lengths in units of the scale. The density on [lower, upper] is e^(-|x - s|)/C(s), C = 2 - e^-u -
// e^-v with the distances u, v of s from the edges, u + v = w. Let s' = s + d, d > 0 (the other
// order is the mirror image). |x - s'| - |x - s| <= d, with equality for every x <= s, so that the
// supremum of the log-ratio over x is d + log C(s') - log C(s), attained at x = lower. log C is
// concave, hence that is greatest for s = lower. There it rises with d, see the slope. So the worst
// pair is s = lower, s' = lower + k; with C(k) the one at lower + k, C(0) = 1 - e^-w,
//     H(k, w) = k + log(C(k)/C(0)) = k + log(1 + (1 - e^-k) (1 - e^-(w - k))/(1 - e^-w)),
//     dH/dk = 2 (1 - e^-(w - k))/(2 - e^-k - e^-(w - k)), in [0, 2].
// The slope falls with k: H is concave. The fraction is 1/(1/p + 1/q - 1) with p = 1 - e^-k and q =
// 1 - e^-(w - k), so it rises as scale falls, and H as well: at least like 1/sqrt(scale), since k
// <= H <= 2 k. Nothing cancels: 1 - e^-w = p + q e^-k.
//
// Card: w from 1e-300 to 1e300, 0 <= k <= w. Relative error of the loss and of the slope below
// 1e-15 (where they are not subnormal). NaN in, NaN out.
#pragma once

#include "numeric/elementary.hpp"
#include "worst/loss_point.hpp"

namespace tightnoise {
namespace {

struct BoundedLaplaceLoss {
    static LossPoint at(double k, double w) {
        const double p = -expm1(-k);
        const double q = -expm1(k - w);
        const double whole = p + q * (1.0 - p);
        return {k + log1p(p * (q / whole)), 2.0 * (q / (p + q))};
    }

    static constexpr double reach = 1.0, slope_error = 0.0;
    // g'^2/g^2 - g''/g for g = 2 - e^-k - e^-(w - k); slope - 1 = g'/g.
    static double curvature(double k, double w, double slope) {
        const double near = exp(-k), far = exp(k - w);
        const double relative = slope - 1.0;
        return relative * relative - (near + far) / (expm1(-k) + expm1(k - w));
    }
};

}  // namespace
}  // namespace tightnoise
