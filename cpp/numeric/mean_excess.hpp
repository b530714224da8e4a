// The mean excess E[Z - x | Z > x] = phi(x)/Phi(-x) - x of a standard normal Z. Branch-free.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "numeric/coefficients.hpp"
#include "numeric/polynomial.hpp"

namespace tightnoise {
namespace {

// Hazard less x: of the order of 1/x, so that subtracting would lose x^2 ulps. The Mills ratio is
// 1/(x + mean_excess(x)). P(t)/(x + 3/2) with t = (x - 3.5)/(x + 4.5), by one division.
// Range: x >= -1/2. Relative error: 6e-16. NaN gives NaN, inf 0.
inline double mean_excess(double x) {
    const bool far = x > 0x1p60;
    const double a = far ? 1.0 : x + 4.5;
    const double b = x + 1.5;
    const double inverse = 1.0 / (a * b);
    const double t = far ? 1.0 : (x - 3.5) * b * inverse;
    return polynomial_in_halves(kMeanExcess, t) * a * inverse;
}

}  // namespace
}  // namespace tightnoise
