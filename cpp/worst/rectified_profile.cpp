#include "worst/rectified_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanisms/gaussian_profile.hpp"
#include "numeric/double_double.hpp"
#include "numeric/roots.hpp"
#include "worst/gaussian_calibration.hpp"
#include "worst/ordinary_lengths.hpp"
#include "worst/scale_calibration.hpp"

namespace tightnoise {
namespace {

// A small number, e^(exponent + low) factor.
struct Scaled {
    double exponent, low, factor;

    double value() const { return exp_of_sum(exponent, low) * factor; }
    double logarithm() const { return exponent + (low + log_positive(factor)); }
};

// Phi(-u) for u = (width - reach)/sigma >= 0, whose square needs more digits than u has.
Scaled tail(double width, double reach, double sigma) {
    const Lengths in = ordinary_lengths(sigma, width, reach);
    const DoubleDouble u = two_sum(in.width, -in.sensitivity) / in.sigma;
    const DoubleDouble square = u.hi < 1e150 ? u * u : DoubleDouble{1e300, 0.0};
    return {-0.5 * square.hi, -0.5 * square.lo, kInverseSqrtTwoPi * mills_positive(u.hi)};
}

// Where the best test is that of the Gaussian: epsilon <= k (w - k/2).
double largest_gaussian_epsilon(double sigma, double width, double reach) {
    return reach / sigma * ((width - 0.5 * reach) / sigma);
}

// The loss H less epsilon, in two parts: k (w - k/2) - epsilon in double-double, and the logarithm
// of the Mills ratios of w - k and w, which keeps its digits where they are nearly the same.
double rest_of_loss(double width, double reach, double sigma, double epsilon) {
    const Lengths in = ordinary_lengths(sigma, width, reach);
    const DoubleDouble k = DoubleDouble{in.sensitivity, 0.0} / in.sigma;
    const DoubleDouble w = DoubleDouble{in.width, 0.0} / in.sigma;
    const double difference = mills_difference((w - k).hi, k.hi);
    const double of_ratio = log1p(difference / mills_positive(w.hi));
    return rounded(k * (w - k * 0.5) + -epsilon) + of_ratio * (1.0 + 5e-15);
}

// delta where the best test is the atom, not rounded down; the factor is 0 where it is 0.
Scaled delta_of_atom(double sigma, double width, double reach, double epsilon) {
    const double rest = rest_of_loss(width, reach, sigma, epsilon);
    Scaled delta = tail(width, reach, sigma);
    delta.factor *= rest > 0.0 ? -expm1(-rest) * (1.0 + 1e-14) : 0.0;
    return delta;
}

}  // namespace

double rectified_worst_delta(double sigma, double width, double sensitivity, double epsilon) {
    const double reach = std::min(sensitivity, width);
    if (epsilon <= largest_gaussian_epsilon(sigma, width, reach)) {
        // The quotient is rounded: the exact one lies below the next number.
        return gaussian_delta_upper(epsilon, std::nextafter(reach / sigma, kInfinity));
    }
    // Proven by the loss, or by the scale that is calibrated for it: the last digits differ.
    const double pure = rectified_epsilon_upper(sigma, width, reach);
    if (epsilon >= pure) return 0.0;
    if (epsilon >= pure * (1.0 - 1e-12) && sigma >= rectified_sigma_upper(epsilon, width, reach)) {
        return 0.0;
    }
    return std::clamp(delta_of_atom(sigma, width, reach, epsilon).value(),
                      std::numeric_limits<double>::denorm_min(), 1.0);
}

double rectified_epsilon_at(double sigma, double width, double sensitivity, double delta) {
    const double reach = std::min(sensitivity, width);
    const auto is_private = [=](double epsilon) {
        return rectified_worst_delta(sigma, width, reach, epsilon) <= delta;
    };
    if (is_private(0.0)) return 0.0;
    const double pure = rectified_epsilon_upper(sigma, width, reach);
    const double gaussian = gaussian_epsilon_upper(delta, std::nextafter(reach / sigma, kInfinity));
    double epsilon = gaussian;
    if (!(gaussian <= largest_gaussian_epsilon(sigma, width, reach))) {
        // 1 - e^(epsilon - H) = delta/Phi(-u).
        const double part = exp(log(delta) - tail(width, reach, sigma).logarithm());
        epsilon = part < 1.0 ? std::min(pure + log1p(-part), gaussian) : gaussian;
    }
    return std::min(step_until(is_private, std::max(epsilon, 0.0)), pure);
}

double rectified_sigma_at(double epsilon, double delta, double width, double sensitivity) {
    const double reach = std::min(sensitivity, width);
    const auto is_private = [=](double sigma) {
        return rectified_worst_delta(sigma, width, reach, epsilon) <= delta;
    };
    const double gaussian = gaussian_sigma_upper(epsilon, delta, reach);
    if (epsilon <= largest_gaussian_epsilon(gaussian, width, reach)) {
        return step_until(is_private, gaussian);
    }
    // Between the sigma up to which the Gaussian's test is the best, and that of the Gaussian.
    const double pure = rectified_sigma_upper(epsilon, width, reach);
    const double most = std::min(gaussian, pure);
    const double least = std::sqrt(reach / epsilon) * std::sqrt(width - 0.5 * reach);
    // epsilon + log(1 - delta/Phi(-u)) against the loss: smooth up to the pure sigma.
    const auto excess = [=](double log_ratio) {
        const double sigma = most * std::exp(-log_ratio);
        const double part = exp(log(delta) - tail(width, reach, sigma).logarithm());
        return rest_of_loss(width, reach, sigma, epsilon) + log1p(-std::min(part, 1.0 - 0x1p-53));
    };
    const double root = root_from_below(excess, 0.0, std::log(most / least));
    return std::min(step_until(is_private, most * std::exp(-root)), pure);
}

}  // namespace tightnoise
