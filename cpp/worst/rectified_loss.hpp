// The loss of the rectified Gaussian, clip(N(s, sigma^2), lower, upper). Branch-free. Kernel-side
// header: internal linkage, one copy a level.
//
// Pure differential privacy holds as long as s is in the domain. For s' > s the log-ratio of the
// outputs falls with the output (monotone likelihood ratio), so it is greatest at the atom at
// lower, log Phi((lower - s)/sigma) - log Phi((lower - s')/sigma). log Phi is concave and
// increasing, so that does not fall as both values move up, their distance kept, until s' = upper,
// and then rises as s moves down: the worst pair is s' = upper, s = upper - c.
//     H(k, w) = log Phi(-(w - k)) - log Phi(-w) = integral_(w-k)^w h(z) dz,   dH/dk = h(w - k),
// with the hazard h(z) = phi(z)/Phi(-z) = 1/M(z), M the Mills ratio. h rises: H is concave in k,
// and H(rw, w)/w, r times the mean of h over [(1 - r) w, w], rises with w; so H falls at least like
// 1/sigma.
//
// Card: w from 1e-150 to 1e150, 0 <= k <= w. Relative error of the loss below 1.5e-15, of the slope
// below 1.2e-15 (where k is not subnormal). NaN in, NaN out.
#pragma once

#include "worst/loss_point.hpp"
#include "worst/narrow_mean.hpp"

namespace tightnoise {
namespace {

struct RectifiedLoss {
    // k w < 1: log(1 + x), x = [Phi(w) - Phi(w - k)]/Phi(-w), of which the densities are divided
    // before: phi(m)/phi(w) = e^(k (w - k/4)/2) at the middle m = w - k/2. Else k (w - k/2) +
    // log(M(w - k)/M(w)). Nothing cancels in either.
    static LossPoint at(double k, double w) {
        const double near = mills_positive(w - k);
        const double far = mills_positive(w);
        const double m = w - 0.5 * k;
        const bool is_narrow = k * w < 1.0;
        const double exponent = 0.5 * k * (w - 0.25 * k);
        const double narrow = k * exp(is_narrow ? exponent : 0.0) * narrow_mean(k, m) / far;
        const double ratio = near / far;
        const double loss = log1p(is_narrow ? narrow : ratio - 1.0) + (is_narrow ? 0.0 : k * m);
        return {loss, 1.0 / near};
    }

    static constexpr double reach = 1.0, slope_error = 0.0;
    // h(t) (h(t) - t) for the hazard h at t = w - k.
    static double curvature(double k, double w, double hazard_there) {
        const double excess = hazard_there - (w - k);
        return excess > 0.0 ? hazard_there * excess : 0.0;
    }
};

}  // namespace
}  // namespace tightnoise
