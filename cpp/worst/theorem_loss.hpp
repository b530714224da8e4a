// The normaliser's part in the bound of "The Bounded Gaussian Mechanism for Differential Privacy",
// Theorems 6 and 13. Branch-free. Kernel-side header: internal linkage, one copy a level.
//
// log Delta C = log(Z(min(k, w/2))/Z(0)), the largest log-ratio of two normalisers at most k apart:
// Z rises up to the centre. Concave in k up to w/2, where it ends with slope 0: log Z is concave,
// for Z is the convolution of two log-concave functions. Rises with w at k/w fixed: in Z(k)/Z(0) =
// [N(k) + N(w - k)]/N(w), N(x) = Phi(x) - 1/2, both terms above rise more in proportion than N(w)
// does, for x N'(x)/N(x) falls.
//
// Card: w from 1e-150 to 1e150, 0 <= k <= w. Relative error of the loss below 2.5e-15; error of
// the slope below 1e-15 w. NaN in, NaN out.
#pragma once

#include "worst/loss_point.hpp"
#include "worst/normaliser_ratio.hpp"

namespace tightnoise {
namespace {

struct TheoremLoss {
    static LossPoint at(double k, double w) {
        const double half = 0.5 * w;
        const double nearest = k > half ? half : k;
        const NormaliserRatio z = normaliser_ratio(nearest, w);
        const double slope = -density_difference(nearest, w) / z.mass;
        return {log1p(z.excess), slope > 0.0 ? slope : slope - slope};
    }

    static constexpr double reach = 0.5, slope_error = 1e-14;
    // slope^2 - Z''/Z for Z = P(-k <= N(0, 1) <= w - k).
    static double curvature(double k, double w, double slope) {
        const double bend = (w - k) * exp_minus_half_square(w - k) + k * exp_minus_half_square(k);
        const double mass = central_mass(k) + central_mass(w - k);
        return slope * slope + kInverseSqrtTwoPi * bend / mass;
    }
};

}  // namespace
}  // namespace tightnoise
