// What P and Q give to outcomes of many releases together.
#pragma once

#include <algorithm>
#include <cmath>

#include "cost/contour/law.hpp"

namespace tightnoise::contour {

// prod (m_i - first_i)^n_i - prod (m_i - second_i)^n_i, m_i the mass of finite losses: of outcomes
// without any that `first` takes off, but with one that `second` does. Both are functions from a
// law to Masses, of which the second is the larger one.
template <class First, class Second>
Masses masses_between(const Terms& terms, First first, Second second) {
    constexpr double kRounding = 64.0 * kUnit;
    const auto side = [&](Interval Masses::* which, double Interval::* small,
                          double Interval::* large, double way, auto whole) {
        double log_kept = 0.0, log_ratio = 0.0, size = 0.0;
        for (const Releases& term : terms) {
            const double mass = whole(*term.law);
            if (!(mass > 0.0)) return 0.0;
            const double least = std::min((first(*term.law).*which).*small / mass, 1.0);
            const double most = std::min((second(*term.law).*which).*large / mass, 1.0);
            const double kept = std::log(mass) + std::log1p(-least);
            log_kept += term.count * kept;
            size += term.count * (std::fabs(std::log(mass)) + std::fabs(std::log1p(-least)));
            log_ratio += term.count * (std::log1p(-most) - std::log1p(-least));
        }
        const double share = -std::expm1(std::min(log_ratio, 0.0));
        return std::exp(log_kept + way * kRounding * (1.0 + size)) * share *
               (1.0 + way * kRounding);
    };
    const auto least_finite = [](const Law& law) { return law.finite_mass().lower; };
    const auto most_finite = [](const Law& law) { return law.finite_mass().upper; };
    const auto least = [](const Law& law) { return law.swapped_mass().lower; };
    const auto most = [](const Law& law) { return law.swapped_mass().upper; };
    constexpr auto kLower = &Interval::lower, kUpper = &Interval::upper;
    return {{side(&Masses::mass, kUpper, kLower, -1.0, least_finite),
             side(&Masses::mass, kLower, kUpper, 1.0, most_finite)},
            {side(&Masses::swapped, kUpper, kLower, -1.0, least),
             side(&Masses::swapped, kLower, kUpper, 1.0, most)}};
}

}  // namespace tightnoise::contour
