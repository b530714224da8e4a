// The end of every search for a scale: the certificate. Only for .cpp files.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "worst/scale_search.hpp"
#include "worst/worst_shift.hpp"

namespace tightnoise {

// What a divergence must not exceed so that worst_shift says at most delta: it rounds upwards by
// 1e-11 and 1e-306, and where it searches it is content within 3e-10 of the greatest.
inline double target_of_last_shift(double delta) {
    return (delta - 2e-306) * (1.0 - 1.5e-11);
}
inline double target_of_search(double delta) {
    return (delta - 2e-306) * (1.0 - 3.3e-10);
}

// How steeply log D falls with log sigma.
template <class Law>
double steepness(const Law& law, double shift, double epsilon, double sigma) {
    const ShiftDivergence at = shift_divergence(law, shift, epsilon);
    return std::max(1e-3, -sigma * at.d_scale / at.delta);
}

// So much more noise, relative, that the certificate has room: where the divergence falls steeply
// with the scale (as the square of the distance to the scale at which the density melts into one
// mode: by 1e6 times as much for delta = 1e-12) a coarse one is enough.
constexpr double kRoom = 5e-10;

// The scale, in units of the sensitivity, from root.sigma on, at which it is proven that
// worst_shift says that the noise is (epsilon, delta)-DP. Where a shift is found that costs more
// than the search knew of, search_again(low, shift) goes on from there. NaN if nothing helps.
//
// law_of(sigma): the law at sensitivity 1; real_law_of(sigma): the one that is released.
template <class LawOf, class RealLawOf, class SearchAgain>
double private_scale(LawOf law_of, RealLawOf real_law_of, SearchAgain search_again, double epsilon,
                     double delta, double sensitivity, ScaleRoot root) {
    double sigma = root.sigma;
    double least_step = std::numeric_limits<double>::epsilon();
    // Where the greatest shift decides, one mode may be all the proof that it needs: then only
    // rounding is left.
    for (int i = 0; i < 20 && root.shift == 1.0; ++i, least_step *= 2.0) {
        const WorstShift worst = worst_shift(real_law_of(sigma), epsilon, sensitivity);
        if (worst.delta <= delta) return sigma;
        if (worst.proof != Proof::unimodal) break;
        const double excess = std::log(worst.delta / delta);
        sigma *= 1.0 + std::max(excess / steepness(law_of(sigma), 1.0, epsilon, sigma), least_step);
    }
    const double target = target_of_search(delta);
    sigma *= 1.0 + kRoom;
    least_step = 0.125 * kRoom;
    for (int i = 0; i < 60; ++i) {
        const ShiftCheck check = certify_at_most(real_law_of(sigma), epsilon, sensitivity, target);
        if (check.holds) return sigma;
        const double shift = std::min(check.shift / sensitivity, 1.0);
        if (shift_divergence(law_of(sigma), shift, epsilon).delta > delta) {
            const double next = search_again(sigma, shift).sigma * (1.0 + kRoom);
            sigma = std::max(next, sigma * (1.0 + least_step));
        } else {
            const double excess = std::max(std::log(check.divergence / target), 0.0);
            const double by = excess / steepness(law_of(sigma), shift, epsilon, sigma);
            sigma *= 1.0 + std::max(by, least_step);
        }
        least_step *= 2.0;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tightnoise
