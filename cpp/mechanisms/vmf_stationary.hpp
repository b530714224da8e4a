// Where two forces on a cosine x are in balance: kappa (1 - x^2) = m x. Kernel-side header:
// internal linkage, one copy a level; branch-free.
#pragma once

#include <cmath>

namespace tightnoise {
namespace {

struct Stationary {
    double x;
    double one_minus_x;
};

// x = 2 kappa / (m + hypot(m, 2 kappa)), from 0 to 1, and with b = m / (2 kappa + hypot(m, 2
// kappa)), 1 - x = 2 b / (1 + b). Range: kappa >= 0, m > 0. Relative error: a few units of the last
// place of either. kappa = 0 gives x = 0, infinity x = 1.
inline Stationary stationary(double kappa, double m) {
    const double half = 0.5 * m;
    const bool is_flat = kappa < half;
    const double q = is_flat ? kappa / half : half / kappa;  // its square cannot overflow
    const double root = std::sqrt(1.0 + q * q);
    const double x = is_flat ? q / (1.0 + root) : 1.0 / (q + root);
    const double b = is_flat ? 1.0 / (q + root) : q / (1.0 + root);
    return {x, 2.0 * b / (1.0 + b)};
}

}  // namespace
}  // namespace tightnoise
