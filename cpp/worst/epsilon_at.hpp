// The smallest epsilon at which a law costs no more than a delta. Only for .cpp files: Boost.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanisms/shift_divergence.hpp"
#include "numeric/roots.hpp"
#include "worst/worst_shift.hpp"

namespace tightnoise {

// The smallest epsilon >= 0 found with worst_shift(law, epsilon, sensitivity).delta <= delta, for
// delta in [0, 1] and finite sensitivity >= 0. Infinite if there is none below 1e300.
//
// The cost decreases in epsilon, and at no single shift is it more than at the worst. So the root
// for one shift is a lower bound, and the root for the shift that is the worst there a better one:
// a few rounds end at the root for the worst shift. Roots are looked for at a fraction kSlack below
// delta, for costs are rounded upwards, by less than that; so at the epsilon returned the cost is
// at most delta, and at any smaller one it is above delta (1 - 1e-9), but for rounding of epsilon.
template <class Law>
double smallest_epsilon(const Law& law, double delta, double sensitivity) {
    constexpr double kSlack = 3e-10;
    constexpr double kLeast = 1e-320;  // has a logarithm
    constexpr double kGreatest = 1e300;
    constexpr double kNear = 1e-3;  // one shift's root is to the next one's
    constexpr int kRounds = 60;
    const auto log_of = [=](double x) { return std::log(std::max(x, kLeast)); };
    const double aim = log_of(delta * (1.0 - kSlack));
    double low = 0.0;
    double step = 1e-16;  // upwards, where rounding alone is left
    for (int round = 0; round < kRounds; ++round) {
        const WorstShift worst = worst_shift(law, low, sensitivity);
        if (worst.delta <= delta) return low;
        if (!(delta > 0.0)) break;  // costs are rounded upwards
        const auto excess = [&](double epsilon) {
            return aim - log_of(shift_divergence(law, worst.shift, epsilon).delta);
        };
        // Far beyond the root a divergence may take long.
        double apart = round == 0 ? 1.0 : kNear * std::max(low, 1.0), high = low + apart;
        while (excess(high) < 0.0 && high < kGreatest) high += apart *= 2.0;
        if (!(high < kGreatest)) break;
        const double root = root_from_below(excess, low, high);
        const double least = low + step * std::max(low, 1.0);
        if (root <= least) step *= 16.0;
        low = std::max(root, least);
    }
    return std::numeric_limits<double>::infinity();
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
