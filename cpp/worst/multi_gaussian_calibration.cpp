#include "worst/multi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "worst/multi_gaussian_search.hpp"

namespace tightnoise {
namespace {

// The least number of modes whose outermost component weighs at most delta; may be beyond
// kMostModes. With q = e^-epsilon it is the log of 1 + (1 - q)(1 - delta)/(delta (1 + q)) by
// epsilon, of which the 1 would swallow the rest at small epsilon.
double light_modes(double epsilon, double delta) {
    const double odds = (1.0 - delta) / delta * std::tanh(0.5 * epsilon);
    return std::max(std::ceil(std::log1p(odds) / epsilon), 1.0);
}

}  // namespace

double multi_gaussian_sigma(double epsilon, double delta, double sensitivity, double modes) {
    const MultiGaussianSearch search(epsilon, delta, modes);
    return sensitivity * search.certified(search.root(), sensitivity);
}

MultiGaussianChoice best_multi_gaussian(double epsilon, double delta, double sensitivity,
                                        AdditiveLoss loss) {
    struct Candidate {
        double modes;
        MultiGaussianSearch search;
        ScaleRoot root;
        double loss;
        bool is_private;
    };
    const double light = light_modes(epsilon, delta);
    std::vector<Candidate> candidates;
    const auto consider = [&](double modes) {
        const MultiGaussianSearch search(epsilon, delta, modes);
        const ScaleRoot root =
            candidates.empty() ? search.root() : search.root(candidates.back().root);
        const double value = loss_of(search.law(root.sigma), loss);
        candidates.push_back({modes, search, root, value, false});
    };
    consider(0.0);
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
        if (best->is_private) return {best->root.sigma * sensitivity, best->modes};
        const double sigma = best->search.certified(best->root, sensitivity);
        best->is_private = true;
        best->loss = std::isnan(sigma) ? std::numeric_limits<double>::infinity()
                                       : loss_of(best->search.law(sigma), loss);
        best->root.sigma = sigma;
    }
}

}  // namespace tightnoise
