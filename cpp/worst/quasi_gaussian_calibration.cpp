#include "worst/quasi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/quasi_gaussian.hpp"
#include "worst/least_scale.hpp"
#include "worst/quasi_gaussian_threshold.hpp"

namespace tightnoise {
namespace {

struct QuasiGaussianOfSigma {
    double epsilon;

    QuasiGaussianLaw operator()(double sigma, double sensitivity) const {
        return {sigma * sensitivity, epsilon, sensitivity};
    }
};

// The other threshold, at most 1 / sqrt(2 epsilon), where it may be the larger one.
double sigma_of_ratio(double epsilon, double of_shift) {
    const bool decides = of_shift >= 1.0 / std::sqrt(2.0 * epsilon);
    return decides ? 0.0 : quasi_gaussian_sigma_of_ratio(epsilon);
}

LeastScale<QuasiGaussianOfSigma> least_scale(double epsilon, double delta, double sensitivity,
                                             double most) {
    // Twice: not to be cut off by rounding.
    return {{epsilon}, epsilon, delta, sensitivity, 2.0 * most};
}

}  // namespace

double quasi_gaussian_sigma(double epsilon, double delta, double sensitivity) {
    const double of_shift = quasi_gaussian_sigma_of_shift(epsilon, delta);
    const double of_ratio = sigma_of_ratio(epsilon, of_shift);
    auto scale = least_scale(epsilon, delta, sensitivity, std::max(of_shift, of_ratio));
    scale.raise_to(of_shift);
    if (of_ratio > of_shift) scale.raise_to_peak();
    return sensitivity * scale.private_sigma();
}

double quasi_gaussian_sigma_of_paper(double epsilon, double delta, double sensitivity) {
    const double of_shift = quasi_gaussian_sigma_of_shift(epsilon, delta);
    const double sigma = std::max(of_shift, sigma_of_ratio(epsilon, of_shift));
    auto scale = least_scale(epsilon, delta, sensitivity, sigma);
    scale.raise_to(sigma);
    return sensitivity * scale.private_sigma();
}

}  // namespace tightnoise
