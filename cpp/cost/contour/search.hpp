// Searches for tilts and for crossings. None of them proves anything: claims come from the bounds
// that they are given.
#pragma once

#include <algorithm>
#include <cmath>

#include "cost/contour/contour.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {

constexpr int kMostSteps = 60;

// The c of about the least objective(c), found downhill in ratios.
template <class Objective>
double least_tilt(Objective objective, double first = 8.0) {
    constexpr double kLeast = 1e-12, kLargest = 1e200;
    double c = first, value = objective(c);
    for (const double step : {2.0, 1.4, 1.19, 1.09}) {
        bool has_moved = false;
        for (const double factor : {step, 1.0 / step}) {
            while (!has_moved || step == 2.0) {
                const double next = objective(c * factor);
                if (!(next < value) || c * factor < kLeast || c * factor > kLargest) break;
                c *= factor;
                value = next;
                has_moved = true;
                if (step < 2.0) break;
            }
            if (has_moved) break;
        }
    }
    return c;
}

// Where the guesses by a contour's sum say that D(x) = e^log_value: Newton's method on its
// logarithm, kept in a bracket. Where the sum is lost in rounding, x is far too high.
template <class Guess>
double crossing(Guess guessed, const Contour& contour, double log_value, double x,
                const Interval& known) {
    const double c = contour.tilt();
    const double reach = 3.0 * std::hypot(contour.deviation(), 1.0 / c);
    const double safe = contour.mean() - 1.0 / c;
    double low = known.lower, high = known.upper;
    for (int i = 0; i < kMostSteps; ++i) {
        const Contour::Guess guess = guessed(x);
        const double step = (guess.log_value - log_value) / guess.rate;
        const bool is_lost = !(std::fabs(step) < kInfinity);
        if (is_lost || step < 0.0)
            high = std::min(high, x);
        else
            low = std::max(low, x);
        double next = x + std::clamp(step, -reach, reach);
        const bool is_known = next == (step < 0.0 ? low : high) && low < high;  // and so no further
        if (is_lost || is_known || !(next >= low && next <= high)) {
            next = safe > low && safe < high && is_lost ? safe : 0.5 * (low + high);
        }
        const double moved = std::fabs(next - x);
        x = next;
        if (moved <= 1e-15 * std::fabs(x) || moved < 1e-300) break;
    }
    return x;
}

// Moves x by `first`, 1.5 `first`, ... until it is good; `never` if it never is.
template <class Good>
double stepped(Good is_good, double x, double first, double never) {
    for (int i = 0; i < kMostSteps; ++i, first *= 1.5) {
        if (is_good(x)) return x;
        x += first;
    }
    return never;
}

// epsilon(delta) of a falling profile with bounds on [0, inf).
template <class Profile>
Interval bisected(Profile profile, double delta, double precision = 2.0 * kUnit) {
    if (profile(0.0).upper <= delta) return {0.0, 0.0};
    double high = 1.0;
    while (!(profile(high).upper <= delta) && high < 1e300) high *= 2.0;
    if (high >= 1e300) return {0.0, kInfinity};
    const auto narrowed = [&](auto is_above) {
        double low = 0.0, top = high;
        for (int i = 0; i < 1100 && top - low > precision * top; ++i) {
            const double middle = low > 0.0 && top > 4.0 * low ? std::sqrt(low * top)
                                  : low > 0.0                  ? 0.5 * (low + top)
                                                               : std::min(0.5 * top, top * top);
            (is_above(middle) ? low : top) = middle;
            if (top < 1e-300) break;
        }
        return Interval{low, top};
    };
    return {narrowed([&](double x) { return profile(x).lower > delta; }).lower,
            narrowed([&](double x) { return !(profile(x).upper <= delta); }).upper};
}

}  // namespace tightnoise::contour
