// The Gaussian on a ball of radius T sigma in R^p. The supremum of the density at y is that at the
// nearest point of the ball, so that C is the Wills functional of the ball, in units of sigma
// (Theorem 5 of the paper is this with a factor 2 too many in its first term):
//
//     C = T^p / (2^(p/2) Gamma(p/2 + 1))                                              the ball
//         + 2 / (2^(p/2) Gamma(p/2)) integral_0^inf (x + T)^(p - 1) e^(-x^2/2) dx     the rest
//       = sum_(j=0)^p c_j,   c_j = Gamma((p + 1)/2) / Gamma((p + 1 - j)/2) (sqrt(2) T)^j / j!.
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>

#include "leakage/bayes_capacity.hpp"
#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

constexpr double kLargestSum = 0x1p200;

using Doubles = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;

// Gamma((p + 1)/2) / Gamma(p/2) for p >= 1.
double half_step_of_gamma(double p) {
    if (p < 200.0) return 1.0 / boost::math::tgamma_delta_ratio(0.5 * p, 0.5, Doubles());
    const double v = 1.0 / p;
    const double series =
        v * (-1.0 / 4 + v * (1.0 / 32 + v * (5.0 / 128 + v * (-21.0 / 2048 + v * -399.0 / 8192))));
    return std::sqrt(0.5 * p) * (1.0 + series);
}

// The series, all terms positive: c_j = c_(j-2) T^2 (p + 1 - j) / (j (j - 1)). Its terms rise and
// then fall, those of even and of odd j alike.
double series(double p, double reach) {
    double before = 1.0;
    double now = std::sqrt(2.0) * reach * half_step_of_gamma(p);
    double sum = now;  // without c_0 = 1
    double one = 1.0;
    double log_unit = 0.0;
    for (double j = 2.0; j <= p; j += 1.0) {
        const double ratio = reach * reach * (p + 1.0 - j) / (j * (j - 1.0));
        const double next = before * ratio;
        before = now;
        now = next;
        sum += now;
        if (ratio < 0.25 && now + before < 1e-18 * sum) break;
        while (sum > kLargestSum) {
            for (double* number : {&before, &now, &sum, &one}) *number /= kLargestSum;
            log_unit += std::log(kLargestSum);
        }
    }
    return log_unit > 0.0 ? log_unit + std::log(sum + one) : std::log1p(sum);
}

// log Gamma(x + 1) - (x log x - x + log(2 pi x)/2) for x >= 32: Stirling's series.
double stirling_rest(double x) {
    const double v = 1.0 / (x * x);
    return (1.0 / 12 - v * (1.0 / 360 - v * (1.0 / 1260 - v / 1680))) / x;
}

// The two parts of C. The integral is taken about the mode x = s of its integrand: with m = p - 1
// and r = s + T, s r = m, the exponent falls by y^2/2 + m (y/r - log(1 + y/r)) from there.
double by_parts(double p, double reach) {
    constexpr double kHalfWidth = 9.5;  // e^(-9.5^2 / 2) = 3e-20
    using Rule = GaussLegendre<64>;
    const double m = p - 1.0;
    const double s = 2.0 * m / (reach + std::hypot(reach, 2.0 * std::sqrt(m)));
    const double r = s + reach;
    const double left = s < kHalfWidth ? s : kHalfWidth;
    double integral = 0.0;
    for (int i = 0; i < 64; ++i) {
        for (const double width : {-left, kHalfWidth}) {
            const double y = width * Rule::nodes[i];
            const double fall = m * boost::math::log1pmx(y / r, Doubles()) - 0.5 * y * y;
            integral += std::fabs(width) * Rule::weights[i] * std::exp(fall);
        }
    }
    // Stirling's formula in both parts; at T = 0 the rest is 1.
    const double rest = 0.5 * (m * std::log1p(-1.0 / p) + 1.0 - std::log(kPi)) -
                        stirling_rest(0.5 * p) + m * std::asinh(reach / (2.0 * std::sqrt(m))) +
                        0.5 * reach * s + std::log(integral);
    const double ball = 0.5 * p * (2.0 * std::log(reach / std::sqrt(p)) + 1.0) -
                        0.5 * std::log(kPi * p) - stirling_rest(0.5 * p);
    const double larger = ball > rest ? ball : rest;
    return larger + std::log1p(std::exp(-std::fabs(ball - rest)));
}

}  // namespace

double log_ball_capacity(double dim, double reach) {
    constexpr double kFewDimensions = 64.0;  // a polynomial of so low a degree
    constexpr double kShortReach = 8.0;      // some 60 terms
    const bool is_short = dim <= kFewDimensions || reach * std::sqrt(dim) < kShortReach;
    return is_short ? series(dim, reach) : by_parts(dim, reach);
}

}  // namespace tightnoise
