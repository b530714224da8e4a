#include "cost/contour/sampled_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_line.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kRange = 12.5;        // beyond the outermost modes
constexpr double kPruned = 1e-28;      // of M: nodes that are left out, and counted
constexpr double kMostNodes = 0x1p15;  // of one line
constexpr double kMomentError = -46.0;
constexpr double kWidestCut = 0.7;  // of a split, in z

}  // namespace

// Nodes at a_j = j * spacing exactly, z_j = sigma a_j + 1/(2 sigma).
struct SampledGaussianLaw::Nodes {
    std::vector<double> z, excess, loss, log_weight;  // excess = w - 1, loss = log w
};

double SampledGaussianLaw::share(double z) const {
    return share_of(q_, z / sigma_ - 0.5 / (sigma_ * sigma_));
}

double SampledGaussianLaw::loss(double z) const {
    return loss_of(q_, z / sigma_ - 0.5 / (sigma_ * sigma_));
}

double SampledGaussianLaw::log_smaller(double z, const Cut& cut) const {
    return cut.width == kInfinity ? 0.0
                                  : log_ndtr((is_remove() ? cut.z - z : z - cut.z) / cut.width);
}

double SampledGaussianLaw::log_larger(double z, const Cut& cut) const {
    return cut.width == kInfinity ? -kInfinity
                                  : log_ndtr((is_remove() ? z - cut.z : cut.z - z) / cut.width);
}

// E[Phi((z - c)/w)] = Phi((m - c)/sqrt(1 + w^2)) for z ~ N(m, 1).
double SampledGaussianLaw::mean_larger(const Cut& cut) const {
    const double scale = std::sqrt(1.0 + cut.width * cut.width);
    if (!is_remove()) return ndtr(cut.z / scale);
    return (1.0 - q_) * ndtr(-cut.z / scale) + q_ * ndtr((1.0 / sigma_ - cut.z) / scale);
}

std::optional<Trimmed> SampledGaussianLaw::trimmed(double mass) const {
    auto made = std::make_shared<SampledGaussianLaw>(*this);
    Cut& top = made->top_;
    top.width = kWidestCut;
    const double sign = is_remove() ? 1.0 : -1.0;
    double low = 0.0, high = 60.0 + (is_remove() ? 1.0 / sigma_ : 0.0);
    while (high - low > 0.01) {
        top.z = sign * 0.5 * (low + high);
        (mean_larger(top) > mass ? low : high) = sign * top.z;
    }
    top.z = sign * high;
    made->lacking_ = mean_larger(top);
    return Trimmed{made, made->lacking_ * (1.0 + 1e-11)};
}

// Beyond it there is less than kOutside of M, and of the part above a cut: section 5.3.
Interval SampledGaussianLaw::range(double order, const Cut* cut) const {
    double low = 0.0, high = std::max(order, 1.0) / sigma_;  // the outermost modes
    if (order < 0.0) {
        // -z + order p / sigma falls with z and is 0 at the mode.
        double above = 0.0;
        low = order / sigma_;
        while (above - low > 0.25 && above - low > 1e-6 * -low) {
            const double middle = 0.5 * (low + above);
            (order * share(middle) / sigma_ >= middle ? low : above) = middle;
        }
    } else if (high > top_.z) {
        high = std::max((high + top_.z * top_.spread()) / (1.0 + top_.spread()), 1.0 / sigma_);
    }
    if (cut && std::isfinite(cut->z)) {
        low = std::min(low, cut->z);
        high = std::max(high, cut->z);
    }
    return {low - kRange, high + kRange};
}

// log of a bound of the integral of |w^order e^(iy log w)| on Im z = d relative to M: an upper sum
// over cells for the one, a lower one for the other. Section 5.1.
double SampledGaussianLaw::log_growth(double order, double reach, double d, const Cut* cut) const {
    const double b = d / sigma_, sine = std::sin(b), cosine = std::cos(b);
    const Interval ends = range(order, cut);
    // Beyond `end` |w(z + id)| is at least this, and M at least 1.
    const double floor = order < 0.0 ? (1.0 - q_) * (b > 0.5 * kPi ? sine : 1.0) : 1.0;
    const double growth = 2.0 * (reach * b + std::min(order, 0.0) * std::log(floor));
    const double end = ends.upper + std::sqrt(growth + kRange * kRange);
    const double spread = 1.0 + top_.spread() + (cut ? cut->spread() : 0.0);
    const auto above_cut = [&](double at) { return cut ? log_larger(at, *cut) : 0.0; };
    double most = -kInfinity, sum = 0.0, least = -kInfinity, lower_sum = 0.0;
    const auto add = [](double term, double& largest, double& total) {
        if (term > largest) {
            total = total * std::exp(largest - term) + 1.0;
            largest = term;
        } else {
            total += std::exp(term - largest);
        }
    };
    double z = ends.lower, loss_here = loss(z), top_here = log_smaller(z, top_);
    double cut_here = above_cut(z);
    while (z < end) {
        const double next = z + std::max(0.25, 0.05 * std::fabs(z));
        const double loss_next = loss(next), top_next = log_smaller(next, top_);
        const double cut_next = above_cut(next);
        const double nearest = std::clamp(0.0, z, next);
        const double farthest = std::max(std::fabs(z), std::fabs(next));
        const double width = std::log(next - z) - 0.5 * std::log(2.0 * kPi);
        const double p = share(next), mixed = p < 0.5 ? p * (1.0 - p) : 0.25;
        const double angle = turned(p, sine, cosine);
        const double of_power = order < 0.0 ? 0.5 * order * log_shrink(mixed, cosine) : 0.0;
        const double high_power = std::max(order * loss_here, order * loss_next);
        const double low_power = std::min(order * loss_here, order * loss_next);
        const double most_share = std::max(top_here, top_next) + std::max(cut_here, cut_next);
        const double least_share = std::min(top_here, top_next) + std::min(cut_here, cut_next);
        add(width - 0.5 * nearest * nearest + high_power + most_share + reach * angle + of_power,
            most, sum);
        add(width - 0.5 * farthest * farthest + low_power + least_share, least, lower_sum);
        z = next;
        loss_here = loss_next;
        top_here = top_next;
        cut_here = cut_next;
    }
    const double p = share(ends.lower);
    const double angle = turned(p, sine, cosine);
    const double left_power = order < 0.0 ? order * log_cos(0.5 * b) : 0.0;
    const double inside = most + std::log(sum) - least - std::log(lower_sum);
    const double outside = std::log(kOutside) + reach * angle + left_power;
    return 0.5 * spread * d * d + std::max(inside, outside) + 0.7 + 1e-9 * (1.0 + reach * b);
}

double SampledGaussianLaw::crude_step(double order, double reach, double log_error) const {
    const double widest = std::min(kStrip * kPi * sigma_, kWidest);
    double best = 0.0;
    for (double d = widest; d > 0.02 * widest; d *= 0.85) {
        const double b = d / sigma_;
        const double of_power = order < 0.0 ? order * log_cos(0.5 * b) : 0.0;
        const double growth = 0.5 * (1.0 + top_.spread()) * d * d + reach * b + of_power;
        best = std::max(best, 2.0 * kPi * d / (growth + std::log(2.1) - log_error));
    }
    return best;
}

double SampledGaussianLaw::step(double order, double reach, double log_error,
                                const Cut* cut) const {
    const double many = reach > 0.0 ? 300.0 : 8192.0;  // where a sharper bound pays
    const double widest = std::min(kStrip * kPi * sigma_, kWidest);
    const auto finest = [&](double best, const Cut* part) {
        for (double d = widest; d > 1e-3 * widest; d *= 0.7) {
            const double growth = std::max(log_growth(order, reach, d, part), 0.0);
            const double width = 2.0 * kPi * d / (growth + std::log(2.1) - log_error);
            if (width < 0.6 * best) break;
            best = std::max(best, width);
        }
        return best;
    };
    const double crude = crude_step(order, reach, log_error);
    const Interval ends = range(order, cut);
    const bool is_enough = (ends.upper - ends.lower) / crude < many;
    const double whole = is_enough ? crude : finest(crude, nullptr);
    return cut ? std::min(whole, finest(0.0, cut)) : whole;
}

// At infinity where no loss is so large.
SampledGaussianLaw::Cut SampledGaussianLaw::cut_at(const Split& split) const {
    if (split.is_none()) return {};
    const double ratio = 1.0 + (is_remove() ? expm1(split.cut) : expm1(-split.cut)) / q_;  // e^a
    if (!(ratio > 0.0)) return {-kInfinity, kWidestCut};
    const double z = sigma_ * std::log(ratio) + 0.5 / sigma_;
    // So narrow that e^(t L) rises neither at the cut, by t p/sigma, nor beyond, where it is
    // p^t e^(t z/sigma), faster than the share of small losses falls.
    const double t = split.steepness, p = share(z);
    const double beyond = std::max(std::sqrt(-std::log(p) / t), 1.0 / t);
    return {z, std::min(kWidestCut, sigma_ * std::min(beyond, 1.0 / (t * p)))};
}

std::optional<SampledGaussianLaw::Nodes> SampledGaussianLaw::nodes(double order, double width,
                                                                   const Cut* cut) const {
    const auto [low, high] = range(order, cut);
    int exponent;
    const double mantissa = std::frexp(width / sigma_, &exponent);
    const double spacing = std::ldexp(std::floor(std::ldexp(mantissa, 24)), exponent - 24);
    const double middle = 0.5 / sigma_;
    const double first = std::floor((low - middle) / (sigma_ * spacing));
    const double count = std::ceil((high - middle) / (sigma_ * spacing)) - first + 1.0;
    if (!(count <= kMostNodes && std::fabs(first) < 0x1p28)) return std::nullopt;
    const auto n = static_cast<std::size_t>(count);
    Nodes made;
    for (auto* column : {&made.z, &made.excess, &made.loss, &made.log_weight}) {
        column->resize(n);
    }
    const double log_step = std::log(sigma_ * spacing * 0.39894228040143267794);
    for (std::size_t j = 0; j < n; ++j) {
        const double a = (first + static_cast<double>(j)) * spacing;
        const double z = sigma_ * a + middle;
        const Weight w = weight_of(q_, a);
        made.z[j] = z;
        made.excess[j] = w.excess;
        made.loss[j] = w.loss;
        made.log_weight[j] = log_step - 0.5 * z * z + log_smaller(z, top_);
    }
    return made;
}

namespace {

// Relative error of e^(log weight + order loss), in units u.
double weight_error(double z, double sigma, double order_times_loss) {
    return 3.0 * z * z + std::fabs(z) / sigma + 10.0 * std::fabs(order_times_loss) + 12.0;
}

}  // namespace

double SampledGaussianLaw::top_error(double z) const {
    const double t = (is_remove() ? top_.z - z : z - top_.z) / top_.width;
    return share_error(t, z, top_.z, top_.width);
}

Moment SampledGaussianLaw::moment(double t) const {
    const double u = order(t);
    const auto grid = nodes(u, step(u, 0.0, kMomentError));
    if (!grid) {  // Jensen: w^u <= 1 - q + q e^(a u)
        const double exponent = 0.5 * u * (u - 1.0) / (sigma_ * sigma_);
        const double bound = exponent < kLogOverflow ? std::log1p(q_ * std::expm1(exponent))
                                                     : exponent + std::log(q_) + 1e-9;
        return {bound * (1.0 + 1e-14), kInfinity, t / (sigma_ * sigma_), 1.0 / (sigma_ * sigma_)};
    }
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double sign = u < 0.0 ? -1.0 : 1.0;
    double mean = 0.0, square = 0.0, error = 0.0;
    for (std::size_t j = 0; j < law.weight.size(); ++j) {
        const double g = law.weight[j], loss = grid->loss[j];
        mean += g * loss;
        square += g * loss * loss;
        error += g * (weight_error(grid->z[j], sigma_, u * loss) + top_error(grid->z[j]));
    }
    const double rounding =
        kUnit * (error + static_cast<double>(law.weight.size()) + 4.0 * std::fabs(law.log_sum));
    return {law.log_sum, rounding + 3.0 * (std::exp(kMomentError) + kOutside), sign * mean,
            std::max(square - mean * mean, 0.0)};
}

// K where it is small, from terms that are all of one sign: section 5.2.
Moment SampledGaussianLaw::careful_moment(const Nodes& grid, double t, const Moment& plain,
                                          double log_error) const {
    double sum = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double loss = grid.loss[j];
        const double term = careful_term(direction_, t, {grid.excess[j], loss}, grid.log_weight[j]);
        sum += term;
        error += term * (weight_error(grid.z[j], sigma_, 2.0 * t * loss) + 50.0);
    }
    const double discrete = (2.0 + 2.0 * t) * (std::exp(log_error) + 2.0 * kOutside);
    const double absolute = kUnit * (error + static_cast<double>(n) * sum) + discrete * (1.0 + sum);
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = absolute / (1.0 + sum) + 4.0 * kUnit * moment.value;
    return moment;
}

// The same of a trimmed law: M - 1 = E[e^(t L) - 1] over what is kept, less the mass that is not.
Moment SampledGaussianLaw::trimmed_moment(const Nodes& grid, double t, const Moment& plain,
                                          double log_error) const {
    const double sign = is_remove() ? 1.0 : -1.0;
    double sum = 0.0, size = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double gain = sign * t * grid.loss[j];
        const double under_p = grid.log_weight[j] + (is_remove() ? grid.loss[j] : 0.0);
        const double term = gain > 300.0 ? exp(under_p + gain) : expm1(gain) * exp(under_p);
        sum += term;
        size += std::fabs(term);
        error += std::fabs(term) * (weight_error(grid.z[j], sigma_, 2.0 * t * grid.loss[j]) +
                                    top_error(grid.z[j]) + 50.0);
    }
    sum -= lacking_;
    const double discrete = 2.0 * (std::exp(log_error) + 2.0 * kOutside);
    const double absolute =
        kUnit * (error + static_cast<double>(n) * size) + discrete * (2.0 + sum) + 1e-11 * lacking_;
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = absolute / (1.0 + sum) + 4.0 * kUnit * std::fabs(moment.value);
    return moment;
}

// The small losses alone are the law trimmed at the cut; what else is trimmed only lessens them.
double SampledGaussianLaw::log_small_moment(double t, const Split& split) const {
    SampledGaussianLaw small = *this;
    small.top_ = cut_at(split);
    const Moment moment = small.moment(t);
    return moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
}

std::unique_ptr<Line> SampledGaussianLaw::line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const double sign = is_remove() ? 1.0 : -1.0;
    const Cut cut = cut_at(request.split);
    const Cut* split = request.split.is_none() ? nullptr : &cut;
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    const double missed = 2.0 * std::exp(log_error) + kOutside;
    SampledGaussianLine::Details details;
    details.width = step(u, request.reach, log_error, split);
    details.spread = 1.0 + top_.spread();
    details.large_spread = details.spread + cut.spread();
    const auto grid = nodes(u, details.width, split);
    if (!grid) return nullptr;
    const std::size_t n = grid->loss.size();
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    std::vector<double> large(split ? n : 0);
    double large_sum = 0.0;
    for (std::size_t j = 0; j < large.size(); ++j) {
        large[j] = law.weight[j] * exp(log_larger(grid->z[j], cut));
        large_sum += large[j];
    }
    TiltedNodes kept{{}, {}, {}, 9.0, 0.0, request.step};
    double error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double g = law.weight[j], loss = grid->loss[j], z = grid->z[j];
        const double relative = weight_error(z, sigma_, u * loss) + top_error(z);
        error += g * relative;
        if (g < kPruned && !(split && large[j] >= kPruned * large_sum)) {
            details.left_out += g;
            if (split) details.large_left_out += large[j];
            continue;
        }
        kept.loss.push_back(sign * loss);
        kept.weight.push_back(g);
        kept.error.push_back(relative);
        details.share.push_back(share(z));
        if (!split) continue;
        kept.large.push_back(large[j]);
        kept.large_error.push_back(
            share_error(sign * (z - cut.z) / cut.width, z, cut.z, cut.width));
    }
    kept.missing = 2.0 * (missed + details.left_out);
    kept.large_missing = 2.0 * (missed * large_sum + details.large_left_out);
    details.left_out += kOutside;
    details.large_left_out += kOutside * large_sum;
    Moment moment{law.log_sum, 0.0, 0.0, 0.0};
    moment.error =
        kUnit * (error + static_cast<double>(n) + 4.0 * std::fabs(law.log_sum)) + 2.0 * missed;
    if (law.log_sum < 1.0) {
        moment = lacking_ > 0.0 ? trimmed_moment(*grid, request.tilt, moment, log_error)
                                : careful_moment(*grid, request.tilt, moment, log_error);
    }
    return std::make_unique<SampledGaussianLine>(std::move(kept), moment, sigma_, u,
                                                 std::move(details));
}

// One release: the base profile in closed form, at an argument bounded from both sides.
std::optional<Interval> SampledGaussianLaw::profile(double x) const {
    if (lacking_ > 0.0) return std::nullopt;
    return sampled_profile(direction_, q_, x,
                           [&](double at) { return gaussian_profile_bounds(1.0 / sigma_, at); });
}

}  // namespace tightnoise::contour
