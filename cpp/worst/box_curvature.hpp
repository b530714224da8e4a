// -H'' of the losses of one coordinate, for the steps of a Newton iteration only: a few digits, no
// card. Whatever the losses compute as well costs nothing here. Branch-free. Kernel-side header:
// internal linkage, one copy a level.
#pragma once

#include "numeric/elementary.hpp"
#include "worst/central_mass.hpp"

namespace tightnoise {
namespace {

// The variance of N(w - k, 1) on [0, w], with mean m: 1 - (w - m) p(w) - m p(0).
inline double truncated_curvature(double k, double w, double mean) {
    const double inverse = kInverseSqrtTwoPi / (central_mass(k) + central_mass(w - k));
    const double at_lower = exp_minus_half_square(w - k) * inverse;
    const double at_upper = exp_minus_half_square(k) * inverse;
    const double wide = 1.0 - (k + at_upper - at_lower) * at_upper - mean * at_lower;
    const double narrow = w * w * (1.0 / 12.0);
    return w < 0.1 ? narrow : (wide > 0.0 ? wide : 0.0);
}

// h(t) (h(t) - t) for the hazard h at t = w - k.
inline double rectified_curvature(double k, double w, double hazard_there) {
    const double excess = hazard_there - (w - k);
    return excess > 0.0 ? hazard_there * excess : 0.0;
}

// g'^2/g^2 - g''/g for g = 2 - e^-k - e^-(w - k); slope - 1 = g'/g.
inline double bounded_laplace_curvature(double k, double w, double slope) {
    const double near = exp(-k), far = exp(k - w);
    const double relative = slope - 1.0;
    return relative * relative - (near + far) / (expm1(-k) + expm1(k - w));
}

// slope^2 - Z''/Z for Z = P(-k <= N(0, 1) <= w - k).
inline double normaliser_curvature(double k, double w, double slope) {
    const double bend = (w - k) * exp_minus_half_square(w - k) + k * exp_minus_half_square(k);
    const double mass = central_mass(k) + central_mass(w - k);
    return slope * slope + kInverseSqrtTwoPi * bend / mass;
}

}  // namespace
}  // namespace tightnoise
