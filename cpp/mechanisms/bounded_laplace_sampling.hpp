// Sampling the Laplace distribution conditioned on [lower, upper] by inverting its distribution
// function: one uniform a sample, no rejection, any theta. Kernel-side header: internal linkage,
// one copy a level.
//
// Notation of bounded_laplace.hpp. With a share V of the mass below the sample, V Z - F(p) is the
// mass between theta and the sample, 1 - e^-t if it lies t above; so t = -log(1 - that), and where
// that is near 1 its complement is (1 - V) Z + e^-r: a sum of positive terms. Downwards likewise.
// The sample has an absolute error of a few units of the last place of the scale times t, of the
// support's width or of theta, whichever is least; near theta at a bound, or outside, t itself has
// full relative accuracy.
#pragma once

#include <cstdint>

#include "numeric/elementary.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace bounded_laplace_noise {

// e^-t and 1 - e^-t for t >= 0; beyond 700 those at 700. Relative error: 3e-16.
struct Decay {
    double kept, lost;
};
inline Decay decay(double t) {
    const ExpReduction e = reduce_exp(t < 700.0 ? -t : -700.0);
    const double power = power_of_two(e.k);
    const double rest = power * (e.r + e.r * e.r * polynomial_in_halves(kExp, e.r));
    return {power + rest, (1.0 - power) - rest};
}

inline double sample(double theta, double scale, double lower, double upper, std::uint64_t bits) {
    const double not_below = theta < lower ? lower : theta;
    const double mode = not_below > upper ? upper : not_below;
    const uniform::Shares share = uniform::shares(bits);
    const Decay below = decay((mode - lower) / scale);
    const Decay above = decay((upper - mode) / scale);
    const double mass = below.lost + above.lost;
    // One of the two is positive, and exact to the last place where theta is at a bound.
    const double up = share.below * mass - below.lost;
    const double down = share.above * mass - above.lost;
    const double inner = up < 0.0 ? (down < 0.0 ? 0.0 : down) : up;
    const double outer =
        up < 0.0 ? share.below * mass + below.kept : share.above * mass + above.kept;
    const double complement = 1.0 - inner;
    const double lost = inner < 0.5 ? (1.0 - complement) - inner : 0.0;
    const double distance = -scale * log_of_sum(inner < 0.5 ? complement : outer, lost);
    const double x = up < 0.0 ? mode - distance : mode + distance;
    const double y = x < lower ? lower : x;
    return y > upper ? upper : y;
}

}  // namespace bounded_laplace_noise
}  // namespace
}  // namespace tightnoise
