// Shares of larger and of smaller losses: what a split and a trim of the sampled Gaussian take.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cost/contour/sampled_gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kWidestCut = 0.7;  // in z
constexpr double kCutWidth = 0.25;  // in a

}  // namespace

double SampledGaussianLaw::log_smaller(double z, const Cut& cut) const {
    return cut.width == kInfinity ? 0.0
                                  : log_ndtr((is_remove() ? cut.z - z : z - cut.z) / cut.width);
}

double SampledGaussianLaw::log_larger(double z, const Cut& cut) const {
    return cut.width == kInfinity ? -kInfinity
                                  : log_ndtr((is_remove() ? z - cut.z : cut.z - z) / cut.width);
}

// E[Phi((z - c)/w)] = Phi((m - c)/sqrt(1 + w^2)) for z ~ N(m, 1).
double SampledGaussianLaw::mean_larger(const Cut& cut, double at) const {
    return ndtr((is_remove() ? at - cut.z : cut.z - at) / std::sqrt(1.0 + cut.width * cut.width));
}

SampledGaussianLaw::Cut SampledGaussianLaw::cut_above(double loss, double width) const {
    const double ratio = 1.0 + (is_remove() ? expm1(loss) : expm1(-loss)) / q_;  // e^a
    if (!(ratio > 0.0)) return {-kInfinity, width};
    return {sigma_ * std::log(ratio) + 0.5 / sigma_, width};
}

// Losses of "add" are bounded: none of them is rare and large.
std::shared_ptr<const Law> SampledGaussianLaw::trimmed(const Split& at) const {
    if (!is_remove() || !(at.cut < kLogOverflow)) return nullptr;
    auto made = std::make_shared<SampledGaussianLaw>(*this);
    made->top_ = cut_at(at);
    const Interval mass = made->lacking().mass;
    made->lacking_ = 0.5 * (mass.lower + mass.upper);
    return made;
}

Masses SampledGaussianLaw::masses_above(const Cut& cut) const {
    if (cut.width == kInfinity) return {};
    constexpr double kError = 0.9e-11;
    const double absent = mean_larger(cut, 0.0), present = mean_larger(cut, 1.0 / sigma_);
    const double mixed = (1.0 - q_) * absent + q_ * present;
    Masses found{{mixed * (1.0 - kError), mixed * (1.0 + kError)},
                 {absent * (1.0 - kError), absent * (1.0 + kError)}};
    if (!is_remove()) std::swap(found.mass, found.swapped);
    return found;
}

// Of what is below the cut, and yet trimmed, there is next to nothing: at most the largest product
// Phi(-s) Phi(-t) of both shares, Phi(-s) <= e^(-s^2/2).
Masses SampledGaussianLaw::larger(const Split& split) const {
    if (split.is_none()) return lacking();
    const Cut cut = cut_at(split);
    Masses found = masses_above(cut);
    if (top_.width == kInfinity) return found;
    const double apart = std::max(top_.z - cut.z, 0.0);
    const double squares = top_.width * top_.width + cut.width * cut.width;
    const double both = std::exp(-0.5 * apart * apart / squares) * 1.0001;
    found.mass.upper += both;
    found.swapped.upper += both;
    return found;
}

// E_Q[e^(-t L)]: that of the other direction.
double SampledGaussianLaw::log_swapped_moment(double t) const {
    const Direction other = is_remove() ? Direction::add : Direction::remove;
    const Moment known = SampledGaussianLaw(sigma_, q_, other).moment(t);
    return known.value + (known.error < kInfinity ? known.error : 0.0);
}

// E_Q0[Phi((z - c)/w) w^-t] by log w >= p a - KL(p, q), for any p, the share at any z: section 4.
double SampledGaussianLaw::log_lacking_moment(double t) const {
    if (top_.width == kInfinity) return -kInfinity;
    constexpr int kSteps = 3;
    const double deviation = std::sqrt(1.0 + top_.width * top_.width);
    double best = kInfinity, z = top_.z;
    for (int i = 0; i < kSteps; ++i) {
        const double p = share(z), slope = t * p / sigma_;
        const double kept = p > 0.0 ? p * std::log(p / q_) : 0.0;
        const double lost = p < 1.0 ? (1.0 - p) * std::log((1.0 - p) / (1.0 - q_)) : 0.0;
        const double at = (-slope - top_.z) / deviation, above = log_ndtr(at);
        const double of_slope = 0.5 * slope * (slope + 1.0 / sigma_);
        const double size = t * (std::fabs(kept) + std::fabs(lost)) + of_slope + std::fabs(above);
        const double bound = t * (kept + lost) + of_slope + above;
        best = std::min(best, bound + 16.0 * kUnit * size);
        z = -slope + hazard(-at) / deviation;  // the mean of what this counts
    }
    return best;
}

// At infinity where no loss is so large.
SampledGaussianLaw::Cut SampledGaussianLaw::cut_at(const Split& split) const {
    if (split.is_none()) return {};
    const double z = cut_above(split.cut, kWidestCut).z;
    if (z == -kInfinity) return {z, kWidestCut};
    // So narrow that e^(t L) rises neither at the cut, by t p/sigma, nor beyond, where it is
    // p^t e^(t z/sigma), faster than the share of small losses falls.
    const double t = split.steepness, p = share(z);
    const double beyond = std::max(std::sqrt(-std::log(p) / t), 1.0 / t);
    return {z, std::min(kWidestCut, sigma_ * std::min({kCutWidth, beyond, 1.0 / (t * p)}))};
}

// The small losses alone are the law trimmed at the cut; what else is trimmed only lessens them.
double SampledGaussianLaw::log_small_moment(double t, const Split& split) const {
    SampledGaussianLaw small = *this;
    small.top_ = cut_at(split);
    const Moment moment = small.moment(t);
    return moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
}

}  // namespace tightnoise::contour
