// The loss of the truncated Gaussian N(s, sigma^2 | [lower, upper]). Branch-free. Kernel-side
// header: internal linkage, one copy a level.
//
// The supremum of log p_s(x)/p_s'(x) over |s - s'| <= c and x is attained at s' = upper, s = upper
// - c, x = lower, and at the mirror image. Proof, for s' > s: the density is an exponential family
// in s, with log-partition function A(s) = s^2/(2 sigma^2) + log Z. The log-ratio falls with x, so
// x = lower, where it is G = A(s') - A(s) - lower (s' - s)/sigma^2. As both values move up, their
// distance kept, until s' = upper, G does not fall: dG/ds + dG/ds' = A'(s') - A'(s) >= 0, for A' =
// E[X]/sigma^2 rises. As s then moves down to upper - c, G rises: dG/ds = -(E_s[X] -
// lower)/sigma^2 < 0.
//
// In units of sigma, measured from lower, with Z(t) = Phi(w - t) - Phi(-t):
//     H(k, w) = k (2 w - k)/2 - log(Z(k)/Z(0)),   dH/dk = E[y] at s = w - k.
// (Theorem 6 of "The Bounded Gaussian Mechanism for Differential Privacy" bounds the two terms
// apart, whose maxima lie at opposite ends of the domain, and adds the square instead of
// subtracting it.) H is concave in k: its second derivative is -Var[y]. H(rw, w)/w rises with w,
// for it is r times the mean of E[y] over s from (1 - r) w to w, and E[y] rises with s/w fixed: s
// moves up and so does the upper edge. So H falls as sigma rises, at least like 1/sigma. H >= k
// w/2, the chord of the concave H between H(0) = 0 and H(w) = w^2/2; hence the two terms cancel by
// a factor of two at most.
//
// Card: w from 1e-150 to 1e150, 0 <= k <= w. Relative error of the loss and of the slope below
// 1.5e-15 (where k w is not subnormal). NaN in, NaN out.
#pragma once

#include "worst/loss_point.hpp"
#include "worst/normaliser_ratio.hpp"

namespace tightnoise {
namespace {

struct TruncatedLoss {
    static LossPoint at(double k, double w) {
        const NormaliserRatio z = normaliser_ratio(k, w);
        return {k * (w - 0.5 * k) - log1p(z.excess), (w - k) + density_difference(k, w) / z.mass};
    }

    static constexpr double reach = 1.0, slope_error = 0.0;
    // The variance of N(w - k, 1) on [0, w], with mean m: 1 - (w - m) p(w) - m p(0).
    static double curvature(double k, double w, double mean) {
        const double inverse = kInverseSqrtTwoPi / (central_mass(k) + central_mass(w - k));
        const double at_lower = exp_minus_half_square(w - k) * inverse;
        const double at_upper = exp_minus_half_square(k) * inverse;
        const double wide = 1.0 - (k + at_upper - at_lower) * at_upper - mean * at_lower;
        const double narrow = w * w * (1.0 / 12.0);
        return w < 0.1 ? narrow : (wide > 0.0 ? wide : 0.0);
    }
};

}  // namespace
}  // namespace tightnoise
