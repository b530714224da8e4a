#include "worst/quasi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/gaussian_profile.hpp"
#include "mechanisms/quasi_gaussian.hpp"
#include "numeric/normal.hpp"
#include "numeric/roots.hpp"
#include "worst/least_scale.hpp"

namespace tightnoise {
namespace {

// --- the two conditions with which Liu, Selvi and Wiesemann (2026) prove it private --------------
// At sensitivity 1: multiply by the sensitivity for others.

// log of D(1) / delta. (4b) is the divergence of N(0, 1) and N(2 / sigma, 1) at 2 epsilon:
//     D(1) = [Phi(1/sigma - epsilon sigma) - e^(2 epsilon) Phi(-1/sigma - epsilon sigma)]
//            / (e^epsilon + 2 Phi(1/sigma)).
double excess_at_shift(double epsilon, double delta, double sigma) {
    const GaussianProfile p = gaussian_profile(2.0 * epsilon, 2.0 / sigma);
    const double log_divergence = p.is_complement ? log1p(-value(p)) : log_value(p);
    const double weight = epsilon + log1p(2.0 * ndtr(1.0 / sigma) * exp(-epsilon));
    return log_divergence - weight - log(delta);
}

// log f(x) / f(1), at u = 1 / (2 sigma^2).
double log_over_last(double epsilon, double u, double x) {
    const double share = 1.0 / (1.0 + exp(u - epsilon));  // of the Gaussian at 1
    return log1p(share * expm1(2.0 * (1.0 - x) * u)) - (1.0 - x) * (1.0 - x) * u;
}

// Falls through 0 where the density is level: log((1 - x) / x) + (2 x - 1) u - epsilon, on (0, 1).
double level(double epsilon, double u, double x) {
    return log1p(-x) - log(x) + (2.0 * x - 1.0) * u - epsilon;
}

// log of max f / min f over [0, 1], less epsilon (Lemma 4.4): the greatest value is at the only
// level point left of x1, the least one at 1 or at the level point between 1/2 and x2, where
// x1, x2 = (1 -+ sqrt(1 - 4 sigma^2)) / 2.
double excess_of_ratio(double epsilon, double u) {
    const double square = std::max(1.0 - 2.0 / u, 0.0);
    const double root = std::sqrt(square);
    const double x1 = square > 0.0 ? 1.0 / (u * (1.0 + root)) : 0.5;
    const double x2 = 1.0 - x1;
    // The level point solves x / (1 - x) = e^(-epsilon - (1 - 2 x) u) >= e^(-epsilon - u). In log
    // x, as it may be tiny; one below e^-690 is as good as 0.
    const double first = std::max(std::min(-epsilon - u, std::log(x1)) - 1.0, -690.0);
    const double top = std::exp(root_from_below(
        [=](double y) { return -level(epsilon, u, std::exp(y)); }, first, std::log(x1)));
    double least = 0.0;
    if (square > 0.0 && level(epsilon, u, x2) > 0.0) {
        const double valley =
            root_from_below([=](double x) { return level(epsilon, u, x); }, 0.5, x2);
        least = std::min(least, log_over_last(epsilon, u, valley));
    }
    return log_over_last(epsilon, u, top) - least - epsilon;
}

// The smallest sigma whose divergence at the greatest shift is at most delta (Theorem 4.2, (4a));
// 0 where every sigma has that. Range: finite epsilon > 0, delta in (0, 1).
double sigma_of_shift(double epsilon, double delta) {
    const double log_delta = log(delta);
    // D(1) < 1 / (e^epsilon + 2) for every sigma.
    if (log_delta + epsilon + log1p(2.0 * exp(-epsilon)) >= 0.0) return 0.0;
    // Lemma 4.3: D(1) falls up to this sigma, and is below delta beyond. It is as good as its limit
    // at 0 where 1/sigma - epsilon sigma = 40.
    const double most = std::log(std::sqrt(2.0 * (epsilon - log_delta)) / epsilon);
    const double least = std::log(2.0 / (40.0 + std::sqrt(1600.0 + 4.0 * epsilon)));
    const double root = root_from_below(
        [=](double x) { return -excess_at_shift(epsilon, delta, std::exp(x)); }, least, most);
    return std::exp(root);
}

// The largest sigma whose density varies by e^epsilon exactly on [0, 1]; no larger one varies by
// more (Theorem 4.2, (5a)). Range: finite epsilon > 0.
double sigma_of_ratio(double epsilon) {
    // Lemma 4.5 proves the ratio good at u = 1 / (2 sigma^2) = epsilon, and claims that it rises
    // with u from there on. That is false for epsilon below 0.195, so the first crossing is looked
    // for step by step. The derivative of the logarithm by u is E[(x - k)^2] where f is least less
    // that where f is greatest, k being 0 or 1 as the Gaussians weigh at x: at most 1/4 at a level
    // point, where it is x (1 - x), and at 1 the weight of the first, which falls with u. So no
    // step of the distance to go over that misses a crossing, save the least, a thousandth of u.
    double u = epsilon;
    double excess = excess_of_ratio(epsilon, u);
    double before = u;
    while (excess < 0.0) {
        before = u;
        const double steepest = std::max(0.25, 1.0 / (1.0 + exp(u - epsilon)));
        u += std::max(-excess / steepest, 1e-3 * u);
        excess = excess_of_ratio(epsilon, u);
    }
    const double crossing =
        root_from_below([=](double x) { return excess_of_ratio(epsilon, x); }, before, u);
    return std::sqrt(0.5 / crossing);
}

// --- the least noise -----------------------------------------------------------------------------

struct QuasiGaussianOfSigma {
    double epsilon;

    QuasiGaussianLaw operator()(double sigma, double sensitivity) const {
        return {sigma * sensitivity, epsilon, sensitivity};
    }
};

// The other threshold, at most 1 / sqrt(2 epsilon), where it may be the larger one.
double larger_sigma_of_ratio(double epsilon, double of_shift) {
    const bool decides = of_shift >= 1.0 / std::sqrt(2.0 * epsilon);
    return decides ? 0.0 : sigma_of_ratio(epsilon);
}

LeastScale<QuasiGaussianOfSigma> least_scale(double epsilon, double delta, double sensitivity,
                                             double most) {
    // Twice: not to be cut off by rounding.
    return {{epsilon}, epsilon, delta, sensitivity, 2.0 * most};
}

}  // namespace

double quasi_gaussian_sigma(double epsilon, double delta, double sensitivity) {
    const double of_shift = sigma_of_shift(epsilon, delta);
    const double of_ratio = larger_sigma_of_ratio(epsilon, of_shift);
    auto scale = least_scale(epsilon, delta, sensitivity, std::max(of_shift, of_ratio));
    scale.raise_to(of_shift);
    if (of_ratio > of_shift) scale.raise_to_peak();
    return sensitivity * scale.private_sigma();
}

double quasi_gaussian_sigma_of_paper(double epsilon, double delta, double sensitivity) {
    const double of_shift = sigma_of_shift(epsilon, delta);
    const double sigma = std::max(of_shift, larger_sigma_of_ratio(epsilon, of_shift));
    auto scale = least_scale(epsilon, delta, sensitivity, sigma);
    scale.raise_to(sigma);
    return sensitivity * scale.private_sigma();
}

}  // namespace tightnoise
