// The standard normal probability of [0, x]. Branch-free. Kernel-side header: internal linkage, one
// copy a level.
#pragma once

#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

// (-1/2)^n / (n! (2 n + 1)): integral_0^1 e^(-(x t)^2 / 2) dt in powers of x^2.
constexpr double kCentralMass[18] = {
    1.0,
    -1.0 / 6.0,
    1.0 / 40.0,
    -1.0 / 336.0,
    1.0 / 3456.0,
    -1.0 / 42240.0,
    1.0 / 599040.0,
    -1.0 / 9676800.0,
    1.0 / 175472640.0,
    -1.0 / 3530096640.0,
    1.0 / 78033715200.0,
    -1.0 / 1880240947200.0,
    1.0 / 49049763840000.0,
    -1.0 / 1377317368627200.0,
    1.0 / 41421544567603200.0,
    -1.0 / 1328346084409344000.0,
    1.0 / 45249466617298944000.0,
    -1.0 / 1631723190138961920000.0,
};

// Phi(x) - Phi(0) for x >= 0.
// Relative error: 6e-16, however small x. NaN gives NaN, inf 1/2.
inline double central_mass(double x) {
    const double series = kInverseSqrtTwoPi * x * polynomial_in_halves(kCentralMass, x * x);
    const double tail = exp_minus_half_square(x) * (kSqrtHalf * erfcx_over_scale(x, kSqrtTwo));
    const double far = 0.5 - tail;
    return x < 1.0 ? series : far;
}

}  // namespace
}  // namespace tightnoise
