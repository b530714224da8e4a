// What a law of pieces costs, whose worst shift is known: it is the sensitivity.
#pragma once

#include <algorithm>
#include <limits>

#include "worst/worst_shift.hpp"

namespace tightnoise {

// divergence: within 1e-12 of the truth where above 1e-300, and within a few subnormals below.
// positive: whether the true one is above 0. Never below the truth, at most 1e-11 of it above.
inline double unimodal_cost(double divergence, bool positive) {
    constexpr double kMargin = 1e-11;
    constexpr double kUnderflow = 16.0 * std::numeric_limits<double>::denorm_min();
    return positive ? std::min(1.0, divergence * (1.0 + kMargin) + kUnderflow) : 0.0;
}

// The smallest epsilon >= 0 found at which worst_shift is at most delta; `greatest` is a finite
// bound on all finite losses, from which on the cost stays as it is. Infinite where that is more
// than delta. By bisection: every epsilon that is kept as the upper end has been found good.
template <class Law>
double unimodal_epsilon(const Law& law, double delta, double sensitivity, double greatest) {
    const auto is_good = [&](double epsilon) {
        return worst_shift(law, epsilon, sensitivity).delta <= delta;
    };
    if (is_good(0.0)) return 0.0;
    double high = std::min(greatest, std::numeric_limits<double>::max());
    if (!is_good(high)) return std::numeric_limits<double>::infinity();
    double low = 0.0;
    for (int halving = 0; halving < 200; ++halving) {
        const double middle = low + 0.5 * (high - low);
        if (!(low < middle && middle < high)) break;
        (is_good(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace tightnoise
