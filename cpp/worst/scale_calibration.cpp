#include "worst/scale_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "numeric/roots.hpp"
#include "worst/bounded_laplace_loss.hpp"
#include "worst/rectified_loss.hpp"
#include "worst/theorem_loss.hpp"
#include "worst/truncated_loss.hpp"

namespace tightnoise {
namespace {

// What computed losses are raised by: the errors of the losses (2.5e-15) and of k and w, of which
// the loss is at most the third power, and some more.
constexpr double kRaised = 1.0 + 1e-14;

// The loss of Theorem 6, with sigma as its own bound: (width + c/2) c/sigma^2 + log Delta C.
struct TheoremBound {
    static LossPoint at(double k, double w) {
        const LossPoint normaliser = TheoremLoss::at(k, w);
        return {k * (w + 0.5 * k) + normaliser.loss, (w + k) + normaliser.slope};
    }
};

template <class Family>
double epsilon_upper(double scale, double width, double sensitivity) {
    const double w = width / scale;
    if (!(w < kInfinity)) return kInfinity;
    const double k = std::min(sensitivity, width) / scale;
    // A greater width has a greater loss, if not twice as great; a loss that is no normal number is
    // off by a few of the least numbers.
    return Family::at(k, std::max(w, 1e-300)).loss * kRaised + 1e-322;
}

// Bounds of the w = width/scale that is sought, for c/width = share: every loss lies between two
// simple functions of w. And what power of w it is like in between.
struct Bracket {
    double low, high, power;
};

// k w/2 <= H <= k (w - k/2), see truncated_loss.hpp.
Bracket bracket_of(TruncatedLoss, double epsilon, double share) {
    return {std::sqrt(epsilon / (share * (1.0 - 0.5 * share))), std::sqrt(2.0 * epsilon / share),
            2.0};
}

// z and h(0) <= h(z) <= z + h(0), since h rises by less than 1 a unit: k (w - k/2) and k h(0) <= H
// <= k (w - k/2) + k h(0).
Bracket bracket_of(RectifiedLoss, double epsilon, double share) {
    constexpr double kHazardAt0 = 0.79788456080286536;
    const double square = share * (1.0 - 0.5 * share);
    const double half = 0.5 * kHazardAt0 * share;
    // The root of square w^2 + 2 half w = epsilon.
    const double low = epsilon / (half + std::sqrt(half * half + square * epsilon));
    return {low, std::min(epsilon / (2.0 * half), std::sqrt(epsilon / square)), 1.5};
}

// k <= H <= 2 k.
Bracket bracket_of(BoundedLaplaceLoss, double epsilon, double share) {
    return {0.5 * (epsilon / share), epsilon / share, 1.0};
}

// k (w + k/2) <= H <= 13/8 k w: with m = min(k, w/2), the loss of the truncated Gaussian at m is m
// (w - m/2) - log Delta C and at least m w/2, hence log Delta C <= m (w - m)/2.
Bracket bracket_of(TheoremBound, double epsilon, double share) {
    return {std::sqrt(epsilon / (1.625 * share)),
            std::sqrt(epsilon / (share * (1.0 + 0.5 * share))), 2.0};
}

// The w at which the loss is epsilon, to within 1e-14 or so. log H is almost linear in log w, with
// a slope between 1/2 and 2: the secant through the last two points.
template <class Family>
double search(double epsilon, double share) {
    const Bracket bracket = bracket_of(Family{}, epsilon, share);
    const double end = log(bracket.high / bracket.low);
    double slope = bracket.power;
    double x = 0.5 * end;
    double last_x = x;
    double last_y = 1.0;
    for (int i = 0; i < 30; ++i) {
        const double w = bracket.low * exp(x);
        const double y = log(Family::at(share * w, w).loss * kRaised / epsilon);
        if (i > 0) {
            const double secant = (y - last_y) / (x - last_x);
            if (secant > 0.4 && secant < 2.5) slope = secant;
        }
        const double next = std::clamp(x - y / slope, -1e-6, end + 1e-6);
        const bool is_close = std::fabs(y * last_y) < 1e-14;  // the error after a secant step
        last_x = x;
        last_y = y;
        x = next;
        if (is_close || x == last_x) break;
    }
    return bracket.low * exp(x);
}

// scale/width, of 45 significant bits: neighbours on this grid differ by 2.8e-14 at least, and
// their losses by more than any error of computed ones. So whether a loss is at most epsilon
// changes once along the grid, and the answer depends on epsilon monotonically.
template <class Family>
double unit_scale_upper(double epsilon, double share) {
    constexpr std::uint64_t kSpacing = 256;
    const auto is_private = [=](double unit_scale) {
        const double w = 1.0 / unit_scale;
        return Family::at(share * w, w).loss * kRaised <= epsilon;
    };
    return least_good(is_private, 1.0 / search<Family>(epsilon, share), kSpacing);
}

template <class Family>
double scale_upper(double epsilon, double width, double sensitivity) {
    return width * unit_scale_upper<Family>(epsilon, std::min(sensitivity / width, 1.0));
}

}  // namespace

double truncated_epsilon_upper(double sigma, double width, double sensitivity) {
    return epsilon_upper<TruncatedLoss>(sigma, width, sensitivity);
}

double rectified_epsilon_upper(double sigma, double width, double sensitivity) {
    return epsilon_upper<RectifiedLoss>(sigma, width, sensitivity);
}

double bounded_laplace_epsilon_upper(double scale, double width, double sensitivity) {
    return epsilon_upper<BoundedLaplaceLoss>(scale, width, sensitivity);
}

double truncated_sigma_upper(double epsilon, double width, double sensitivity) {
    if (sensitivity < width) return scale_upper<TruncatedLoss>(epsilon, width, sensitivity);
    // The least sigma of all numbers with width^2/(2 sigma^2) <= epsilon. The last digits are
    // settled for unit <= 1 in place of width = unit 2^exponent, where no remainder underflows.
    int exponent;
    const double unit = std::frexp(width, &exponent);
    const auto is_private = [=](double sigma) {
        // (q + d)^2 - 2 epsilon, with q the quotient as rounded and d the rest of it.
        const double q = unit / sigma;
        const double d = std::fma(-q, sigma, unit) / sigma;
        return std::fma(q, q, -2.0 * epsilon) + d * (2.0 * q + d) <= 0.0;
    };
    return std::ldexp(least_good(is_private, unit / std::sqrt(2.0 * epsilon), 1), exponent);
}

double rectified_sigma_upper(double epsilon, double width, double sensitivity) {
    return scale_upper<RectifiedLoss>(epsilon, width, sensitivity);
}

double bounded_laplace_scale_upper(double epsilon, double width, double sensitivity) {
    if (sensitivity < width) return scale_upper<BoundedLaplaceLoss>(epsilon, width, sensitivity);
    // The least scale of all numbers with width/scale <= epsilon.
    int exponent;
    const double unit = std::frexp(width, &exponent);
    const auto is_private = [=](double scale) { return std::fma(epsilon, scale, -unit) >= 0.0; };
    return std::ldexp(least_good(is_private, unit / epsilon, 1), exponent);
}

double truncated_theorem_sigma_upper(double epsilon, double width, double sensitivity) {
    return scale_upper<TheoremBound>(epsilon, width, sensitivity);
}

}  // namespace tightnoise
