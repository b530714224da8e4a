// A proof that a mixture of Gaussians has one mode, at 0. Only for .cpp files: containers.
//
// Why it matters: if f has one mode, at 0, D_epsilon(shift) does not decrease in the shift. It is
//     integral (f(y) - e^epsilon f(y - shift))_+ dy,        epsilon >= 0.
// For y <= 0, f(y - shift) decreases in the shift. For y > 0 it does so from shift = y on, and at
// smaller shifts f(y - shift) >= f(y), so that the integrand is 0.
//
// With s the smallest standard deviation, N(x) = f(x) e^(x^2 / (2 s^2)) is log-convex, and the pull
//     m(x) = s^2 (log N)'(x) = x + s^2 (log f)'(x)
// does not decrease. f decreases on x > 0 if and only if m(x) <= x there, and the law is symmetric.
// - A cell [a, b] with m(b) <= a is proven: m(x) <= m(b) <= a <= x.
// - The cell [0, b] touches m(0) = 0. Every symmetric pair of components adds to N a positive
//   multiple of e^(c x^2) cosh(d x), c >= 0: a power series in x^2 whose coefficients are not
//   negative. So N increases, and so does N'(x) / x: the cell is proven if
//   s^2 N'(b) / b <= N(0), that is m(b) / b <= N(0) / N(b).
// - Beyond the outermost location every component decreases.
// - A lattice of one standard deviation and log-concave weights needs its first period only. Given
//   x + spacing, and counted from there, the component has weights w_(k + 1) in place of w_k: their
//   ratio does not increase in k, so its mean is not greater, and x - m(x) never decreases by a
//   step of the lattice.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "mechanisms/shift_divergence.hpp"

namespace tightnoise {

// True only with proof. False if the density rises somewhere on x > 0, or where the proof would
// take more than some thousands of densities (m touches x, or nearly). The law is a symmetric
// mixture of Gaussians; it is enough to look at x up to `farthest`.
template <class Law>
bool proven_unimodal(const Law& law, double farthest) {
    if (!(farthest > 0.0)) return true;  // all components are centred at 0
    constexpr int kMostDensities = 4096;
    // m is exact to a fraction 1e-13 of the greatest location.
    const double margin = 1e-12 * farthest;
    const double sigma = law.least_sigma();
    const double log_at_0 = law.log_density(0.0);
    struct Cell {
        double low, high;
        DensityPoint top;  // at the upper end
    };
    std::vector<Cell> open{{0.0, farthest, law.density_point(farthest)}};
    // Breadth first, so that a density with other modes is told from a few points.
    for (std::size_t next = 0; next < open.size(); ++next) {
        const auto [low, high, top] = open[next];
        if (low > 0.0) {
            if (top.m + margin <= low) continue;
        } else {
            const double ratio = high / sigma;
            const double log_rise = top.log_density - log_at_0 + 0.5 * ratio * ratio;
            const double rounding = 1e-14 * (100.0 + ratio * ratio);
            if ((top.m + margin) * std::exp(log_rise + rounding) <= high) continue;
        }
        if (open.size() >= kMostDensities) return false;
        const double middle = 0.5 * (low + high);
        const DensityPoint there = law.density_point(middle);
        if (there.m > middle) return false;
        open.push_back({low, middle, there});
        open.push_back({middle, high, top});
    }
    return true;
}

}  // namespace tightnoise
