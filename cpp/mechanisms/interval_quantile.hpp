// Where a conditioned normal has a given probability below it, measured from the nearer edge, so
// that a support in the far tail keeps its digits. Kernel-side header: internal linkage.
#pragma once

#include "mechanisms/cell.hpp"

namespace tightnoise {
namespace {

struct Quantile {
    double distance;  // in units of sigma, from the lower or the upper edge
    bool from_lower;
};

// The y with P(lower < Z < lower + y | support) = q, 0 < q < 1. Newton's iteration on the logarithm
// of the probability on the smaller side, in a bracket that shrinks: quadratic once close, never
// lost. Ends when a step changes nothing visible.
inline Quantile quantile_within(const Interval& support, double q) {
    const double log_all = rounded(log_mass(support));
    const bool from_lower = q <= 0.5;
    // Seen from the nearer edge the problem is always "the first q <= 1/2 of the mass".
    const DoubleDouble edge = from_lower ? support.lower : -support.upper;
    const double target = log(from_lower ? q : 1.0 - q) + log_all;
    double low = 0.0, high = support.width;
    double y = high;
    // In a tail that falls away from the edge, the density at the edge bounds the answer.
    const double start = 2.0 / (1.0 + std::fabs(edge.hi));
    if (start < y) y = start;
    y *= 0.5;
    for (int i = 0; i < 200; ++i) {
        const DoubleDouble end = edge + y;
        const double log_below = rounded(log_mass({edge, end, y}));
        if (log_below > target) {
            high = y;
        } else {
            low = y;
        }
        const double log_density = -0.5 * end.hi * end.hi - kLogSqrtTwoPi;
        double next = y - (log_below - target) * exp(log_below - log_density);
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (std::fabs(next - y) <= 1e-16 * y || next == low || next == high) break;
        y = next;
    }
    return {y, from_lower};
}

}  // namespace
}  // namespace tightnoise
