#include "worst/truncated_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/roots.hpp"
#include "worst/gaussian_calibration.hpp"
#include "worst/scale_calibration.hpp"
#include "worst/truncated_search.hpp"

namespace tightnoise {
namespace {

// How far the certified bound may be above the greatest delta found, and what rounding may do to
// delta: fractions of delta or of 1 - delta, whichever is less.
constexpr double kTolerance = 5e-11;
constexpr double kRounding = 2e-12;
// Farther than this the squares of distances overflow.
constexpr double kMostWidth = 1e150;
// Searches go this far, in logarithms.
constexpr double kFarthest = 700.0;

// Proven by the loss, or by the scale that is calibrated for it: the last digits of the two differ.
bool is_pure(const TruncatedProblem& at) {
    const double pure = truncated_epsilon_upper(at.sigma, at.width, at.sensitivity);
    return at.epsilon >= pure ||
           (at.epsilon >= pure * (1.0 - 1e-12) &&
            at.sigma >= truncated_sigma_upper(at.epsilon, at.width, at.sensitivity));
}

bool is_beyond(const TruncatedProblem& problem) {
    return !(problem.width / problem.sigma <= kMostWidth);
}

double worst_delta(const TruncatedProblem& problem) {
    if (is_pure(problem)) return 0.0;
    if (is_beyond(problem)) return 1.0;
    const TruncatedSearch search(problem);
    const TruncatedPair top = search.peak();
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    if (!(top.x > 0.0)) return kLeast;
    const double excess = search.most_excess(top, kTolerance) + kRounding;
    if (top.log_rest < top.log_delta) {
        return std::min(std::nextafter(1.0 - std::exp(top.log_rest) * (1.0 - excess), 2.0), 1.0);
    }
    return std::clamp(std::exp(top.log_delta) * (1.0 + excess), kLeast, 1.0);
}

// Increases with delta, 0 where it is so little below the target that the certificate will hold.
// Below, a square root: delta vanishes like the square of the distance to the pure epsilon.
double excess(const TruncatedProblem& problem, double target) {
    if (is_beyond(problem)) return kFarthest;
    const TruncatedPair top = TruncatedSearch(problem).peak();
    const double log_ratio =
        target > 0.5 ? std::log(1.0 - target) - top.log_rest : top.log_delta - std::log(target);
    const double x = log_ratio + (kTolerance + 2.0 * kRounding);
    return x > 0.0 ? x : 2.0 * std::expm1(0.5 * x);
}

// The least x found that is private, for a guarantee that more of x makes better: near the root of
// excess_at(x), and checked by is_private. Searches start at `start`; `most` is private anyway.
template <class Excess, class Good>
double least_private(Excess excess_at, Good is_private, double start, double most) {
    // log(start/x): from where x is private to where it is not.
    const auto excess_below = [=](double log_ratio) {
        return excess_at(start * std::exp(-log_ratio));
    };
    double low = 0.0, high = 0.05;
    while (low > -kFarthest && excess_below(low) > 0.0) {
        high = low;
        low = 2.0 * low - 0.05;
    }
    while (high < kFarthest && !(excess_below(high) > 0.0)) {
        low = high;
        high *= 2.0;
    }
    const double root = start * std::exp(-root_from_below(excess_below, low, high, 1e-13));
    double x = std::min(root, most), step = 1e-12;
    for (int i = 0; i < 60; ++i, step *= 2.0) {
        if (x >= most || is_private(x)) return x;
        x = std::min(root + step * std::max(root, 1e-3 * start), most);
    }
    return most;
}

}  // namespace

double truncated_worst_delta(double sigma, double width, double sensitivity, double epsilon) {
    return worst_delta({sigma, width, std::min(sensitivity, width), epsilon});
}

double truncated_epsilon_at(double sigma, double width, double sensitivity, double delta) {
    const double reach = std::min(sensitivity, width);
    const auto at = [=](double epsilon) { return TruncatedProblem{sigma, width, reach, epsilon}; };
    const auto is_private = [=](double epsilon) { return worst_delta(at(epsilon)) <= delta; };
    if (is_private(0.0)) return 0.0;
    const double pure = truncated_epsilon_upper(sigma, width, reach);
    if (is_beyond(at(0.0))) return pure;
    const double start = std::min(pure, gaussian_epsilon_upper(delta, reach / sigma));
    return least_private([=](double epsilon) { return excess(at(epsilon), delta); }, is_private,
                         start > 0.0 ? start : pure, pure);
}

double truncated_sigma_at(double epsilon, double delta, double width, double sensitivity) {
    const double reach = std::min(sensitivity, width);
    const auto at = [=](double sigma) { return TruncatedProblem{sigma, width, reach, epsilon}; };
    const auto is_private = [=](double sigma) { return worst_delta(at(sigma)) <= delta; };
    // (epsilon', 0)-DP implies (epsilon, delta)-DP for delta = 1 - e^(epsilon - epsilon').
    const double enough = truncated_sigma_upper(epsilon - std::log1p(-delta), width, reach);
    const double most = epsilon > 0.0
                            ? std::min(truncated_sigma_upper(epsilon, width, reach), 2.0 * enough)
                            : 2.0 * enough;
    const double start = std::min(most, gaussian_sigma_upper(epsilon, delta, reach));
    return least_private([=](double sigma) { return excess(at(sigma), delta); }, is_private, start,
                         most);
}

}  // namespace tightnoise
