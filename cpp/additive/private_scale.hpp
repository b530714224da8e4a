// The end of every search for a scale: the certificate. Only for .cpp files.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "additive/scale_search.hpp"
#include "additive/worst_shift.hpp"

namespace tightnoise {

// What a divergence must not exceed so that worst_shift says at most delta: it rounds upwards by
// 1e-11 and 1e-306, and where it searches it is content within 3e-10 of the greatest.
inline double target_of_last_shift(double delta) {
    return (delta - 2e-306) * (1.0 - 1.5e-11);
}
inline double target_of_search(double delta) {
    return (delta - 2e-306) * (1.0 - 3.3e-10);
}

// The scale, in units of the sensitivity, from root.sigma on, at which worst_shift itself says that
// the noise is (epsilon, delta)-DP. Where it finds a shift that costs more than the search knew of,
// search_again(low, shift) goes on from there; what is left is the slack of the certificate, and
// rounding, a few units of the last place more. NaN if nothing helps.
//
// law_of(sigma): the law at sensitivity 1; real_law_of(sigma): the one that is released.
template <class LawOf, class RealLawOf, class SearchAgain>
double private_scale(LawOf law_of, RealLawOf real_law_of, SearchAgain search_again, double epsilon,
                     double delta, double sensitivity, ScaleRoot root) {
    double sigma = root.sigma;
    double least_step = std::numeric_limits<double>::epsilon();
    for (int i = 0; i < 60; ++i) {
        const WorstShift worst = worst_shift(real_law_of(sigma), epsilon, sensitivity);
        if (worst.delta <= delta) return sigma;
        const double shift = std::min(worst.shift / sensitivity, 1.0);
        const ShiftDivergence at = shift_divergence(law_of(sigma), shift, epsilon);
        if (at.delta > delta) {
            sigma = std::max(search_again(sigma, shift).sigma, sigma * (1.0 + least_step));
        } else {
            const double steepness = -sigma * at.d_scale / at.delta;
            const double step = std::log(worst.delta / delta) / std::max(steepness, 1e-3);
            sigma *= 1.0 + std::max(step, least_step);
        }
        least_step *= 2.0;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tightnoise
