#include "additive/quasi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "additive/private_scale.hpp"
#include "additive/quasi_gaussian.hpp"
#include "additive/quasi_gaussian_threshold.hpp"
#include "additive/scale_search.hpp"

namespace tightnoise {
namespace {

// Both thresholds, where the second one matters: sigma_2 is at most 1 / sqrt(2 epsilon).
struct Thresholds {
    double of_shift;
    double of_ratio;
};

Thresholds thresholds(double epsilon, double delta) {
    const double of_shift = quasi_gaussian_sigma_of_shift(epsilon, delta);
    const bool decides = of_shift >= 1.0 / std::sqrt(2.0 * epsilon);
    return {of_shift, decides ? 0.0 : quasi_gaussian_sigma_of_ratio(epsilon)};
}

}  // namespace

double quasi_gaussian_sigma(double epsilon, double delta, double sensitivity) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    constexpr double kClose = 1e-11;
    const auto law_of = [=](double sigma) { return QuasiGaussianLaw(sigma, epsilon, 1.0); };
    const auto real_law_of = [=](double sigma) {
        return QuasiGaussianLaw(sigma * sensitivity, epsilon, sensitivity);
    };
    const Thresholds known = thresholds(epsilon, delta);
    const double most = std::max(known.of_shift, known.of_ratio);
    const ScaleSearch search(law_of, epsilon, target_of_search(delta), kNever);
    // Where sigma_1 decides, the divergence of the greatest shift is delta there, and others have
    // less. Else a shift between forbids less noise than that.
    ScaleRoot root{known.of_shift, 1.0};
    if (known.of_ratio > known.of_shift) {
        root =
            search.at_maxima(known.of_shift, most, 0.9 * most + 0.1 * known.of_shift, {}, kClose);
    }
    std::vector<double> shifts{root.shift};
    const auto search_again = [&](double low, double shift) {
        shifts.push_back(shift);
        return low < most ? search.at_maxima(low, most, low, shifts, kClose)
                          : ScaleRoot{low, shift};
    };
    return sensitivity *
           private_scale(law_of, real_law_of, search_again, epsilon, delta, sensitivity, root);
}

double quasi_gaussian_sigma_of_paper(double epsilon, double delta, double sensitivity) {
    const Thresholds known = thresholds(epsilon, delta);
    return sensitivity * std::max(known.of_shift, known.of_ratio);
}

}  // namespace tightnoise
