#include "mechanisms/scale_mixture.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/bracketed_quantile.hpp"
#include "mechanisms/normal_mass.hpp"
#include "mechanisms/positive_part.hpp"

namespace tightnoise {
namespace {

using Component = ScaleMixtureLaw::Component;

// Components below e^-45 of the greatest do not count.
constexpr double kUncounted = -45.0;

double exponent(const Component& c, double x) {
    const double z = (x - c.location) / c.sigma;
    return c.log_factor - 0.5 * z * z;
}

// f(x) = e^log_factor sum, drift = s^2 (log f)'(x); log_factor is the exponent of the greatest
// component, but for log sqrt(2 pi).
struct MixtureSum {
    double log_factor, sum, drift;
    const Component* greatest;
};

MixtureSum mixture_sum(const ScaleMixtureLaw& law, double x) {
    const Component* dominant = nullptr;
    double greatest = -HUGE_VAL;
    for (const Component& c : law.components()) {
        const double here = exponent(c, x);
        if (here > greatest || dominant == nullptr) {
            greatest = here;
            dominant = &c;
        }
    }
    double sum = 0.0, score = 0.0;
    for (const Component& c : law.components()) {
        const double below = exponent(c, x) - greatest;
        if (below < kUncounted) continue;
        const double term = std::exp(below);
        sum += term;
        score += term * ((c.location - x) / (c.sigma * c.sigma));
    }
    const double square = law.least_sigma() * law.least_sigma();
    return {greatest - kLogSqrtTwoPi, sum, square * (score / sum), dominant};
}

// The least sigma of the components that count somewhere in [from, to]: all others together are
// below a unit of the last place of f there, so that log f + x^2 / (2 sigma^2) is convex. Beside a
// narrow component, intervals need not be as narrow.
double sigma_within(const ScaleMixtureLaw& law, double from, double to) {
    if (law.least_sigma() == law.greatest_sigma()) return law.least_sigma();
    double least = -HUGE_VAL;  // of the exponent of the greatest component in [from, to]
    for (const Component& c : law.components()) {
        least = std::max(least, std::min(exponent(c, from), exponent(c, to)));
    }
    double sigma = law.greatest_sigma();
    for (const Component& c : law.components()) {
        if (c.sigma >= sigma) continue;
        const double nearest = std::min(std::max(c.location, from), to);
        if (exponent(c, nearest) - least >= kUncounted) sigma = c.sigma;
    }
    return sigma;
}

// e^scale times the integral of f over [a, b].
double mixture_mass(const ScaleMixtureLaw& law, double scale, double a, double b) {
    double sum = 0.0;
    for (const Component& c : law.components()) {
        const double log_weight = c.log_factor + std::log(c.sigma);
        sum += scaled_normal_mass(scale + log_weight, (a - c.location) / c.sigma,
                                  (b - c.location) / c.sigma);
    }
    return sum;
}

class MixturePair {
  public:
    struct Point {
        double x, excess;
        double drift0, drift1;  // m - x at x and at x + shift
        double log_top, top_sum;
    };

    // Positions u mean x = u + origin and x + shift = u + shifted.
    MixturePair(const ScaleMixtureLaw& law, double epsilon, double shift, double origin,
                double shifted)
        : law_(law),
          epsilon_(epsilon),
          shift_(shift),
          origin_(origin),
          shifted_(shifted),
          inverse_(1.0 / (law.least_sigma() * law.least_sigma())),
          is_small_(shift < 0.1 * law.least_sigma()) {}

    Point at(double u, Side) const {
        const MixtureSum f0 = mixture_sum(law_, u + origin_);
        const MixtureSum f1 = mixture_sum(law_, u + shifted_);
        Point p;
        p.x = u;
        p.drift0 = f0.drift;
        p.drift1 = f1.drift;
        p.log_top = f1.log_factor;
        p.top_sum = f1.sum;
        const double log_ratio = is_small_ ? small_log_ratio(u + origin_)
                                           : exponents_apart(f0, f1, u) + std::log(f1.sum / f0.sum);
        p.excess = log_ratio - epsilon_;
        return p;
    }

    double slope(const Point& p) const { return (p.drift1 - p.drift0) * inverse_; }
    double top(const Point& p) const { return std::exp(p.log_top) * p.top_sum; }
    double top_score(const Point& p) const { return p.drift1 * inverse_; }
    double scale() const { return law_.least_sigma(); }
    double close() const { return 1e-7 * bend(); }
    // One normal density gives way to another at a distance d over s^2 / d; more than a dozen
    // sigmas apart they do so where next to nothing of either is left.
    double bend() const {
        const double s = law_.least_sigma();
        const double apart = std::min(2.0 * law_.greatest_location(), 12.0 * law_.greatest_sigma());
        return s * (s / std::max(apart, s));
    }
    double scale_between(double a, double b) const {
        return std::min(sigma_within(law_, a + origin_, b + origin_),
                        sigma_within(law_, a + shifted_, b + shifted_));
    }

    ExcessBounds bounds(const Point& a, const Point& b) const {
        const double w = b.x - a.x, size = shift_ * inverse_;
        const double sigma = scale_between(a.x, b.x), bend = w / (sigma * sigma);
        return {
            {size * (a.drift0 - w - shift_) - epsilon_, size * (b.drift1 + w + shift_) - epsilon_},
            {(a.drift1 - b.drift0) * inverse_ - bend, (b.drift1 - a.drift0) * inverse_ + bend}};
    }

    double top_mass(double a, double b) const {
        return mixture_mass(law_, 0.0, a + shifted_, b + shifted_);
    }
    double bottom_mass(double a, double b) const {
        return mixture_mass(law_, epsilon_, a + origin_, b + origin_);
    }

  private:
    // f1.log_factor - f0.log_factor; within one sigma so that little cancels.
    double exponents_apart(const MixtureSum& f0, const MixtureSum& f1, double u) const {
        const Component& c0 = *f0.greatest;
        const Component& c1 = *f1.greatest;
        if (c0.sigma != c1.sigma) return f1.log_factor - f0.log_factor;
        const double z0 = (u + origin_ - c0.location) / c0.sigma;
        const double z1 = (u + shifted_ - c1.location) / c1.sigma;
        const double apart = (shift_ - (c1.location - c0.location)) / c0.sigma;
        return (c1.log_factor - c0.log_factor) - 0.5 * apart * (z0 + z1);
    }

    // log(f(x + shift) / f(x)) as 1 plus a mean of differences from 1.
    double small_log_ratio(double x) const {
        double greatest = -HUGE_VAL;
        for (const Component& c : law_.components()) greatest = std::max(greatest, exponent(c, x));
        double sum = 0.0, change = 0.0;
        for (const Component& c : law_.components()) {
            const double below = exponent(c, x) - greatest;
            if (below < kUncounted) continue;
            const double term = std::exp(below);
            const double step = shift_ / c.sigma;
            sum += term;
            change += term * std::expm1(-step * ((x - c.location) / c.sigma + 0.5 * step));
        }
        return std::log1p(change / sum);
    }

    const ScaleMixtureLaw& law_;
    double epsilon_, shift_, origin_, shifted_, inverse_;
    bool is_small_;
};

PositivePart divergence(const ScaleMixtureLaw& law, double shift, double epsilon) {
    const double reach = law.greatest_location() + kNormalEnd * law.greatest_sigma();
    // Where f(x + shift) can be seen, -log f(x) is more than this.
    const double apart = std::max(shift - 2.0 * reach, 0.0) / law.greatest_sigma();
    if (0.5 * apart * apart > epsilon + 1500.0) return {1.0, 0.0, 0.0};
    const double low = -reach - shift, middle = -0.5 * shift, high = reach - shift;
    PositivePart total;
    Sign sign = Sign::unknown;
    // Positions left of -shift / 2 are counted from -shift, where x + shift has its digits.
    const MixturePair left(law, epsilon, shift, -shift, 0.0);
    add(total, positive_part(left, low + shift, std::min(middle, high) + shift, low + shift, sign),
        1.0);
    if (middle < high) {
        const MixturePair right(law, epsilon, shift, 0.0, shift);
        add(total, positive_part(right, middle, high, middle, sign), 1.0);
    }
    if (law.least_sigma() != law.greatest_sigma()) total.d_log_scale = kNaN;
    return total;
}

}  // namespace

ScaleMixtureLaw::ScaleMixtureLaw(const std::vector<double>& locations,
                                 const std::vector<double>& weights,
                                 const std::vector<double>& sigmas) {
    double total = 0.0;
    for (const double w : weights) total += w;
    for (std::size_t j = 0; j < locations.size(); ++j) {
        const double weight = weights[j] / total;
        const double c = std::fabs(locations[j]);
        const double half = c == 0.0 ? weight : 0.5 * weight;
        const double log_factor = std::log(half) - std::log(sigmas[j]);
        components_.push_back({c, sigmas[j], half, log_factor});
        if (c != 0.0) components_.push_back({-c, sigmas[j], half, log_factor});
    }
    std::sort(components_.begin(), components_.end(),
              [](const Component& a, const Component& b) { return a.location < b.location; });
    const auto range = std::minmax_element(sigmas.begin(), sigmas.end());
    least_sigma_ = *range.first;
    greatest_sigma_ = *range.second;
}

double ScaleMixtureLaw::log_density(double x) const {
    return density_point(x).log_density;
}

DensityPoint ScaleMixtureLaw::density_point(double x) const {
    if (std::isnan(x)) return {x, x};
    // So far out that the square of the distance overflows, even in the greatest sigma.
    const double nearest = (std::fabs(x) - greatest_location()) / greatest_sigma_;
    if (nearest > 0.0 && std::isinf(nearest * nearest)) return {-HUGE_VAL, x};
    const MixtureSum f = mixture_sum(*this, x);
    return {f.log_factor + std::log(f.sum), x + f.drift};
}

double ScaleMixtureLaw::distribution(double x) const {
    if (std::isnan(x)) return x;
    if (x > 0.0) return 1.0 - distribution(-x);
    const double low = -greatest_location() - kNormalEnd * greatest_sigma_;
    return x > low ? std::min(mixture_mass(*this, 0.0, low, x), 0.5) : 0.0;
}

double ScaleMixtureLaw::log_tail(double x) const {
    double total = -HUGE_VAL;
    for (const Component& c : components_) {
        const double log_weight = c.log_factor + std::log(c.sigma);
        total = log_sum(total, log_weight + log_ndtr((c.location - x) / c.sigma));
    }
    return total;
}

double ScaleMixtureLaw::mass(double from, double to) const {
    return mixture_mass(*this, 0.0, from, to);
}

double ScaleMixtureLaw::quantile(double q) const {
    return symmetric_quantile(*this, q, greatest_location() + kNormalEnd * greatest_sigma_);
}

double ScaleMixtureLaw::mean_abs() const {
    // E|N(c, sigma^2)| = |c| + 2 sigma phi(z) (1 - z m(z)), z = |c| / sigma, m Mills ratio.
    double sum = 0.0;
    for (const Component& c : components_) {
        const double z = std::fabs(c.location) / c.sigma;
        const double excess = exp_minus_half_square(z) * (1.0 - z * mills_positive(z));
        sum += c.weight * (std::fabs(c.location) + 2.0 * kInverseSqrtTwoPi * c.sigma * excess);
    }
    return sum;
}

double ScaleMixtureLaw::variance() const {
    double sum = 0.0;
    for (const Component& c : components_) {
        sum += c.weight * (c.sigma * c.sigma + c.location * c.location);
    }
    return sum;
}

double error_of_places(const ScaleMixtureLaw& law) {
    constexpr double kFar = 50.0, kError = 0x1p-46;  // 50: _FAR_APART of _additive_pair.py
    const double sigmas = law.greatest_location() / law.least_sigma();
    return sigmas > kFar ? kError * sigmas : 0.0;
}

ShiftDivergence shift_divergence(const ScaleMixtureLaw& law, double shift, double epsilon) {
    return shift_divergence_by(shift, epsilon, law.least_sigma(),
                               [&](double by) { return divergence(law, by, std::fabs(epsilon)); });
}

}  // namespace tightnoise
