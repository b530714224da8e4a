#include "worst/multi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mechanisms/multi_gaussian.hpp"
#include "worst/gaussian_calibration.hpp"
#include "worst/least_scale.hpp"

namespace tightnoise {
namespace {

// With more modes a divergence takes so long that a search takes minutes.
constexpr double kMostModesToSearch = 5000.0;

// A sigma at which a flank has no ripples to speak of: relative to its slope epsilon, those of a
// lattice of equal weights are about 4 pi^2 e^(-2 pi^2 sigma^2) / epsilon. The noise is hardly more
// for it, as the lattice makes nearly all of that where there are so many modes.
double smooth_flanks(double epsilon) {
    constexpr double kFourPiSquare = 39.478417604357434;
    return 1.6 * std::sqrt(2.0 * std::log1p(kFourPiSquare / epsilon) / kFourPiSquare);
}

struct MultiGaussianOfSigma {
    double epsilon, modes;

    MultiGaussianLaw operator()(double sigma, double sensitivity) const {
        return {sigma * sensitivity, epsilon, sensitivity, modes};
    }
};

LeastScale<MultiGaussianOfSigma> least_scale(double epsilon, double delta, double sensitivity,
                                             double modes) {
    // The Gaussian mechanism's sigma is enough, for noise on a lattice, added to it, is
    // post-processing. Twice: not to be cut off by rounding.
    const double most = 2.0 * gaussian_sigma_upper(epsilon, delta, 1.0);
    LeastScale<MultiGaussianOfSigma> scale({epsilon, modes}, epsilon, delta, sensitivity, most);
    if (modes > kMostModesToSearch) {
        scale.raise_to_last_shift();
        scale.raise_to(smooth_flanks(epsilon));
    } else {
        scale.raise_to_peak();
    }
    return scale;
}

// The least number of modes whose outermost component weighs at most delta; may be beyond
// kMostModes. With q = e^-epsilon it is the log of 1 + (1 - q)(1 - delta)/(delta (1 + q)) by
// epsilon, of which the 1 would swallow the rest at small epsilon.
double light_modes(double epsilon, double delta) {
    const double odds = (1.0 - delta) / delta * std::tanh(0.5 * epsilon);
    return std::max(std::ceil(std::log1p(odds) / epsilon), 1.0);
}

}  // namespace

double multi_gaussian_sigma(double epsilon, double delta, double sensitivity, double modes) {
    return sensitivity * least_scale(epsilon, delta, sensitivity, modes).private_sigma();
}

MultiGaussianChoice best_multi_gaussian(double epsilon, double delta, double sensitivity,
                                        AdditiveLoss loss) {
    struct Candidate {
        double modes;
        LeastScale<MultiGaussianOfSigma> scale;
        double loss;
    };
    std::vector<Candidate> candidates;
    const auto loss_at = [&](double modes, double sigma) {
        const MultiGaussianLaw law(sigma, epsilon, 1.0, modes);
        return loss == AdditiveLoss::l1 ? law.mean_abs() : law.variance();
    };
    const auto consider = [&](double modes) {
        const auto scale = least_scale(epsilon, delta, sensitivity, modes);
        candidates.push_back({modes, scale, loss_at(modes, scale.sigma())});
    };
    consider(0.0);
    const double light = light_modes(epsilon, delta);
    // Among so many modes one more or less makes no difference.
    const bool many = light > kMostModesToSearch;
    const double first = many ? light : std::max(light - 1.0, 1.0);
    const double last = std::min(many ? light : light + 3.0, kMostModes);
    for (double modes = first; modes <= last; modes += 1.0) consider(modes);
    // Only what may be the best needs its certificate: the other losses are lower bounds already.
    for (;;) {
        Candidate* best = &candidates.front();
        for (Candidate& other : candidates) {
            if (other.loss < best->loss * (1.0 - 1e-9)) best = &other;
        }
        if (best->scale.is_private()) return {sensitivity * best->scale.sigma(), best->modes};
        const double sigma = best->scale.private_sigma();
        best->loss = std::isnan(sigma) ? std::numeric_limits<double>::infinity()
                                       : loss_at(best->modes, sigma);
    }
}

}  // namespace tightnoise
