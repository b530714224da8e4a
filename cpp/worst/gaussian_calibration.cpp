#include "worst/gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/gaussian_profile.hpp"
#include "numeric/normal_quantile.hpp"
#include "numeric/roots.hpp"

namespace tightnoise {
namespace {

// log(x / y) for the x that p holds. Near 0 it has more digits than a difference of logarithms.
double log_quotient(const GaussianProfile& p, double y) {
    const double quotient = value(p) / y;
    return quotient > 0.5 && quotient < 2.0 ? log(quotient) : log_value(p) - log(y);
}

// Positive where the guarantee at this point is worse than delta, in units of log delta or, where
// delta > 1/2, of log(1 - delta). Never NaN, nor so large that the search would overflow.
double excess(double delta, double epsilon, double mu) {
    const GaussianProfile p = gaussian_profile(epsilon, mu);
    const double smaller = delta > 0.5 ? 1.0 - delta : delta;
    double x = (delta > 0.5) == p.is_complement ? log_quotient(p, smaller)
                                                : log1p(-value(p)) - log(smaller);
    x = delta > 0.5 ? -x : x;
    return x > -1e60 ? std::min(x, 1e60) : -1e60;
}

// The positive root mu of epsilon/mu - mu/2 = a.
double mu_at(double epsilon, double a) {
    const double scale = kSqrtTwo * std::sqrt(epsilon);
    const double root = std::hypot(a, scale);
    return a > 0.0 ? scale * (scale / (a + root)) : root - a;
}

// delta <= Phi(-a), and 1 - delta <= 2 Phi(a) since m(b) <= m(-a) for b >= -a: the quantiles of
// delta bracket a. Both are a little wider than rounding needs.
constexpr double kWider = 1e-6;

double least_a(double delta) {
    // Below 1e-3, Phi^-1(1/2 - h) = -sqrt(2 pi) h (1 + 2 pi h^2 / 6 + ...), h = delta / 2.
    return (1.0 + kWider) * (delta < 1e-3 ? -0.5 * kSqrtTwoPi * delta : ndtri(0.5 * (1.0 - delta)));
}

double most_a(double delta) {
    const double quantile = -ndtri(delta);
    return quantile + kWider * std::fabs(quantile);
}

}  // namespace

double gaussian_delta_upper(double epsilon, double mu) {
    if (mu == kInfinity) return 1.0;
    if (mu == 0.0 || epsilon == kInfinity) return 0.0;
    const double a = epsilon / mu - 0.5 * mu;  // to within 2^-51 mu
    if (a > 40.0 && a > 0x1p-20 * mu) return std::numeric_limits<double>::denorm_min();
    const GaussianProfile p = gaussian_profile(epsilon, mu);
    if (!(p.error < 1.0)) return 1.0;
    if (p.is_complement) {
        // The smallest double above 1 - least; subtracting from 1 again is exact.
        const double least = value(p) * (1.0 - p.error);
        const double upper = 1.0 - least;
        return 1.0 - upper > least ? std::nextafter(upper, 2.0) : upper;
    }
    return std::min(std::nextafter(value(p) * (1.0 + p.error), 2.0), 1.0);  // never 0
}

double gaussian_epsilon_upper(double delta, double mu) {
    if (delta >= gaussian_delta_upper(0.0, mu)) return 0.0;
    if (delta == 0.0 || mu == kInfinity) return kInfinity;
    const double half = 0.5 * mu;
    const double least = std::max(0.0, mu * (half + least_a(delta)) * (1.0 - kWider));
    const double most = mu * (half + most_a(delta)) * (1.0 + kWider);
    if (!(most < kInfinity)) return kInfinity;
    const double root =
        root_from_below([=](double x) { return -excess(delta, x, mu); }, least, most);
    return step_until([=](double x) { return gaussian_delta_upper(x, mu) <= delta; }, root);
}

double gaussian_sigma_upper(double epsilon, double delta, double sensitivity) {
    // delta <= mu / sqrt(2 pi) besides, for d delta / d mu = phi(a).
    const double least =
        std::max(kSqrtTwoPi * delta, mu_at(epsilon, most_a(delta))) * (1.0 - kWider);
    const double most = mu_at(epsilon, least_a(delta)) * (1.0 + kWider);
    const double root =
        root_from_below([=](double x) { return excess(delta, epsilon, least * std::exp(x)); }, 0.0,
                        std::log(most / least));
    const double mu = least * std::exp(root);
    // sensitivity / sigma is rounded as well: the exact quotient lies below the next number.
    const auto is_private = [=](double sigma) {
        const double quotient = sensitivity / sigma;
        return gaussian_delta_upper(epsilon, quotient) <= delta &&
               gaussian_delta_upper(epsilon, std::nextafter(quotient, kInfinity)) <= delta;
    };
    return step_until(is_private, sensitivity / mu);
}

}  // namespace tightnoise
