#include "cost/contour/sampled_direction_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/complex_sphere_mean.hpp"
#include "cost/contour/sampled_direction_line.hpp"
#include "cost/contour/sampled_direction_nodes.hpp"
#include "mechanisms/vmf_profile.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kPruned = 1e-28;   // of M: nodes that are left out, and counted
constexpr double kBreadth = 24.0;   // of the density, in deviations
constexpr double kWidestCut = 0.7;  // of a split, in standard deviations of v
// The same by a, of which losses are next to nothing soon below the cut: phi of the share of large
// ones falls no sooner for a wider one. A cut is so many widths above 0, at least.
constexpr double kWidestByLoss = 0.7, kWidths = 8.0;

}  // namespace

SampledDirectionLaw::SampledDirectionLaw(double kappa, double dim, double half_chord, double rate,
                                         Direction direction)
    : kappa_(kappa),
      dim_(dim),
      half_chord_(half_chord),
      q_(rate),
      direction_(direction),
      density_(kappa, dim, half_chord) {}

// Up to the angle at 0 the line is at 1.2 in b, and b rises to 1.6 more where losses are so large
// or small that w has no zero: section 8.
SampledDirectionLaw::Stretched SampledDirectionLaw::stretched() const {
    constexpr double kShift = 1.4, kMostAngle = 0.4;
    const double h = density_.along();
    double angle = kMostAngle;
    if (q_ < 1.0) {
        const double zero = std::log((1.0 - q_) / q_);
        angle = std::atan(kRises / std::max(zero + 1.0, kLogTurn - zero));
    }
    // Losses that count are far from 0, where A is next to 1; A is known so far, twice.
    const double most = density_.across() > 0.0 ? 1.96 * kFarthestShift : kMostShift;
    const double length = std::min(kShift / std::sqrt(density_.sphere()), most) / angle;
    return Stretched{{length, std::min(kAtZero / (2.0 * h * length * std::sin(angle)), 1.0)},
                     angle};
}

std::vector<SmoothShare> SampledDirectionLaw::shares(const Cut* top, const Cut* part) const {
    std::vector<SmoothShare> found;
    if (top) found.push_back({top->v, top->width, -sign(), true});
    if (part) found.push_back({part->v, part->width, sign(), false});
    return found;
}

SampledDirectionLaw::Rule SampledDirectionLaw::moment_rule(double t, const Cut* top,
                                                           const Cut* part) const {
    constexpr double kMany = 800.0;  // nodes
    const double spread = (top ? top->spread() : 0.0) + (part ? part->spread() : 0.0);
    const double plain = step(t, 0.0, kMomentError, spread, top != nullptr);
    if (kBreadth * density_.scale() < kMany * plain) return {plain};
    const Stretched stretch = stretched();
    return {stretched_step(stretch, t, top, part), stretch};
}

double SampledDirectionLaw::stretched_step(const Stretched& stretch, double t, const Cut* top,
                                           const Cut* part) const {
    const Ends ends = this->ends(t, top, part);
    const DirectionCells cells(density_, q_, ends.below, ends.above);
    struct Integral {
        double order;
        std::vector<SmoothShare> shares;
        double log_least;
    };
    std::vector<Integral> integrals{{0.0, {}, cells.log_least(0.0, {})}};
    const auto shares = this->shares(top, part);
    for (const double u : {order(t), 0.0, 1.0}) {
        if (u == 0.0 && shares.empty()) continue;
        integrals.push_back({u, shares, cells.log_least(u, shares)});
    }
    const auto growth = [&](double angle) {
        double most = 0.0;
        for (const Integral& each : integrals) {
            const auto grown = cells.growth(stretch.axis, angle, each.order, each.shares,
                                            DirectionCells::kLeastAbove, each.log_least);
            most = std::max(most, grown.log_whole);
        }
        return most;
    };
    double best = 0.0;
    for (double angle = stretch.most_angle; angle > 1e-4; angle *= 0.75) {
        const double width = 2.0 * kPi * stretch.axis.length * angle /
                             (growth(angle) + std::log(2.1) - kMomentError);
        if (width < 0.8 * best) break;
        best = std::max(best, width);
    }
    return best;
}

double SampledDirectionLaw::widest() const {
    constexpr double kWidest = 0.25 * kPi;
    if (q_ == 1.0) return kWidest;
    return std::min(kWidest, std::atan(kStrip * kPi / (2.0 * density_.along())));
}

// At infinity where no loss is so large.
SampledDirectionLaw::Cut SampledDirectionLaw::cut_at(const Split& split) const {
    const double h = density_.along(), scale = density_.scale();
    const double ratio = 1.0 + (is_remove() ? expm1(split.cut) : expm1(-split.cut)) / q_;  // e^a
    const double at = ratio > 0.0 ? std::log(ratio) / (2.0 * h) : -kInfinity;
    if (!(std::fabs(at) < 1.0)) return {sign() * kInfinity, kWidestCut * scale};
    const double v = std::atanh(at);
    if (!(std::fabs(v) < 0.5 * kFarthest)) return {sign() * kInfinity, kWidestCut * scale};
    // So narrow that e^(t L) rises neither at the cut nor beyond faster than the share falls.
    const double slope = 2.0 * h * (1.0 - at) * (1.0 + at);
    const double t = split.steepness, p = share_of(q_, 2.0 * h * at);
    const double beyond = std::max(std::sqrt(std::max(-std::log(p), 0.0) / t), 1.0 / t);
    const double widest = std::max(kWidestByLoss, split.cut / kWidths);
    const double width = std::min({widest, beyond, 1.0 / (t * p)}) / slope;
    return {v, std::min(kWidestCut * scale, width)};
}

double SampledDirectionLaw::step(double t, double reach, double log_error, double spread,
                                 bool is_small) const {
    const double top = widest();
    double best = 0.0;
    for (double d = top; d > 1e-4 * top; d *= 0.85) {
        const double growth =
            (is_small ? growth_at(t, d) : mean_growth_at(t, d, reach)) + 0.5 * spread * d * d;
        const double width = 2.0 * kPi * d / (growth + std::log(2.1) - log_error);
        if (width < 0.5 * best) break;
        best = std::max(best, width);
    }
    return best;
}

// w^u <= 1 - q + q e^(a u), convex, and E_Q0[e^(a u)] is that of the unsampled release.
Moment SampledDirectionLaw::crude_moment(double t) const {
    const double exponent = density_.log_unsampled_moment(t);
    const double bound = exponent < kLogOverflow ? std::log1p(q_ * std::expm1(exponent))
                                                 : exponent + std::log(q_) + 1e-9;
    const double variance = std::pow(2.0 * density_.along() * density_.scale(), 2.0);
    return {std::max(bound, 0.0) * (1.0 + 1e-14) + 1e-300, kInfinity, t * variance, variance};
}

Moment SampledDirectionLaw::moment(double t) const {
    return moment_below(t, top());
}

Moment SampledDirectionLaw::moment_below(double t, const Cut* top) const {
    const double u = order(t);
    const auto grid = nodes(t, moment_rule(t, top, nullptr), top, nullptr);
    if (!grid) return crude_moment(t);
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    double mean = 0.0, variance = 0.0, error = 0.0, base_error = 0.0;
    for (std::size_t j = 0; j < law.weight.size(); ++j) {
        const double g = law.weight[j], loss = grid->loss[j];
        mean += g * loss;
        error += g * weight_error(grid->error[j], u * loss, grid->loss_error[j]);
        base_error += exp(grid->log_weight[j]) * (grid->error[j] + 12.0);
    }
    // Next to the largest loss, of a tiny part: no difference of squares.
    for (std::size_t j = 0; j < law.weight.size(); ++j) {
        variance += law.weight[j] * (grid->loss[j] - mean) * (grid->loss[j] - mean);
    }
    const double outside = std::exp(grid->outside(u, law.log_sum)) + grid->base_outside;
    const double rounding =
        kUnit * (error + base_error + 2.0 * static_cast<double>(grid->v.size()) +
                 4.0 * std::fabs(law.log_sum));
    const double missed = 3.0 * (2.0 * std::exp(kMomentError) + outside);
    if (!(rounding + missed < 0.01)) return crude_moment(t);
    return {law.log_sum, 1.02 * (rounding + missed), sign() * mean, variance};
}

// K, of which the rule misses so much; a share of smaller losses is that of the law.
Moment SampledDirectionLaw::exact_moment(const Nodes& grid, const Tilted& law, double t,
                                         double missed) const {
    const double u = order(t);
    double mean = 0.0, error = 0.0, base_error = 0.0;
    for (std::size_t j = 0; j < grid.v.size(); ++j) {
        const double g = law.weight[j], loss = grid.loss[j];
        mean += g * loss;
        error += g * weight_error(grid.error[j], u * loss, grid.loss_error[j]);
        base_error += exp(grid.log_weight[j]) * (grid.error[j] + 12.0);
    }
    const double rounding = error + base_error + 2.0 * static_cast<double>(grid.v.size()) +
                            4.0 * std::fabs(law.log_sum);
    const Moment moment{law.log_sum, 1.02 * (kUnit * rounding + 2.0 * missed), sign() * mean, 0.0};
    if (law.log_sum >= 1.0) return moment;
    return top() ? part_moment(grid, t, moment, missed) : careful_moment(grid, t, moment, missed);
}

// K where it is small, from terms that are all of one sign.
Moment SampledDirectionLaw::careful_moment(const Nodes& grid, double t, const Moment& plain,
                                           double discrete) const {
    double sum = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const Weight w{grid.excess[j], grid.loss[j]};
        const double term = careful_term(direction_, t, w, grid.log_weight[j]);
        const double of_loss = (7.0 + grid.error_of_place()) *
                                   (1.0 + 2.0 * density_.along() * std::fabs(grid.tanh[j])) +
                               8.0;
        sum += term;
        const double gain = std::max(t * sign() * w.loss, 0.0);  // e^x - 1 - x is tame for x < 0
        error += term * (grid.error[j] + (4.0 + 2.0 * gain) * of_loss + 62.0);
    }
    double base_error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        base_error += exp(grid.log_weight[j]) * (grid.error[j] + 12.0);
    }
    const double absolute = kUnit * (error + sum * (base_error + 2.0 * static_cast<double>(n))) +
                            (2.0 + 2.0 * t) * discrete * (1.0 + sum);
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = 1.02 * absolute / (1.0 + sum) + 4.0 * kUnit * moment.value;
    return moment.error < plain.error ? moment : plain;
}

// The same of a law without larger losses: M - 1 is E_P[e^(t L) - 1] less what they have.
Moment SampledDirectionLaw::part_moment(const Nodes& grid, double t, const Moment& plain,
                                        double discrete) const {
    double sum = 0.0, size = 0.0, error = 0.0, base_error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double loss = grid.loss[j], gain = t * loss, under_p = grid.log_weight[j] + loss;
        const double term = gain > 300.0 ? exp(under_p + gain) : expm1(gain) * exp(under_p);
        sum += term;
        size += std::fabs(term);
        error += std::fabs(term) *
                 (grid.error[j] + (5.0 + (2.0 + 2.0 * t) * std::fabs(loss)) * grid.loss_error[j] +
                  2.0 * std::fabs(under_p) + 62.0);
        base_error += exp(grid.log_weight[j]) * (grid.error[j] + 12.0);
    }
    const auto [least, most] = lacking_.mass;
    sum -= 0.5 * (least + most);
    const double absolute = kUnit * (error + size * (base_error + 2.0 * static_cast<double>(n))) +
                            0.5 * (most - least) + 4.0 * kUnit * most + discrete * (3.0 + sum);
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = 1.02 * absolute / (1.0 + sum) + 4.0 * kUnit * std::fabs(moment.value);
    return moment;
}

double SampledDirectionLaw::log_swapped_moment(double t) const {
    const Direction other = is_remove() ? Direction::add : Direction::remove;
    const Moment known = SampledDirectionLaw(kappa_, dim_, half_chord_, q_, other).moment(t);
    return known.value + (known.error < kInfinity ? known.error : 0.0);
}

// Sums over the share of larger losses, of the weights and of the weights times w.
Masses SampledDirectionLaw::larger(const Split& split) const {
    const Cut cut = split.is_none() ? Cut{} : cut_at(split);
    if (cut.is_none()) return lacking_;
    const Interval unknown{0.0, 1.0};
    const auto grid = nodes(0.0, moment_rule(0.0, nullptr, &cut), nullptr, &cut);
    if (!grid) return {unknown, unknown};
    const std::size_t n = grid->v.size();
    double absent = 0.0, mixed = 0.0, error = 0.0, mixed_error = 0.0, base_error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double at = sign() * (grid->v[j] - cut.v) / cut.width, log_share = log_ndtr(at);
        const double exponent = grid->log_weight[j] + log_share;
        const double of_share =
            grid->error_of_share() * share_error(at, grid->v[j], cut.v, cut.width) +
            2.0 * std::fabs(exponent) + grid->error[j] + 16.0;
        const double under_base = exp(exponent), under_mixed = exp(exponent + grid->loss[j]);
        absent += under_base;
        mixed += under_mixed;
        error += under_base * of_share;
        mixed_error +=
            under_mixed * (of_share + weight_error(0.0, grid->loss[j], grid->loss_error[j]));
        base_error += exp(grid->log_weight[j]) * (grid->error[j] + 12.0);
    }
    const auto within = [&](double sum, double of_terms) {
        const double rounding = of_terms + sum * (base_error + 2.0 * static_cast<double>(n));
        const double off =
            1.02 * kUnit * rounding + 2.0 * std::exp(kMomentError) * sum + 3.0 * grid->base_outside;
        return Interval{std::max(sum - off, 0.0), sum + off};
    };
    const Interval of_mixed = within(mixed, mixed_error), of_base = within(absent, error);
    return is_remove() ? Masses{of_mixed, of_base} : Masses{of_base, of_mixed};
}

// P and Q of this part are no probabilities. Losses of "add" are bounded: none are rare and large.
std::shared_ptr<const Law> SampledDirectionLaw::part_below(const Split& split) const {
    const Cut cut = cut_at(split);
    if (!is_remove() || cut.is_none() || top()) return nullptr;
    auto made = std::make_shared<SampledDirectionLaw>(*this);
    made->lacking_ = larger(split);
    made->top_ = cut;
    if (!(made->lacking_.mass.upper < 0.5)) return nullptr;
    return made;
}

double SampledDirectionLaw::log_small_moment(double t, const Split& split) const {
    if (top()) return kInfinity;  // no part has parts
    const Cut cut = cut_at(split);
    const Moment moment = moment_below(t, cut.is_none() ? nullptr : &cut);
    return moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
}

namespace {

// The one, of which the tail is told by fewer nodes.
class FineLine : public Line {
  public:
    FineLine(std::unique_ptr<Line> fine, std::unique_ptr<Line> coarse)
        : fine_(std::move(fine)), coarse_(std::move(coarse)) {}

    Moment moment() const override { return fine_->moment(); }
    double centre() const override { return fine_->centre(); }
    void at(std::size_t first, std::size_t count, Characteristics* out) const override {
        fine_->at(first, count, out);
    }
    double log_tail(double y) const override { return coarse_->log_tail(y); }
    std::size_t work() const override { return fine_->work(); }
    std::size_t block() const override { return fine_->block(); }

  private:
    std::unique_ptr<Line> fine_, coarse_;
};

}  // namespace

// Nodes beside the real line serve where there would be many on it, and do for all frequencies.
std::unique_ptr<Line> SampledDirectionLaw::line(const LineRequest& request) const {
    constexpr double kMany = 1200.0;  // of nodes
    const bool is_split = !request.split.is_none();
    if (is_split && top()) return nullptr;
    const Rule rule = moment_rule(request.tilt, top(), nullptr);
    if (rule.stretch) return stretched_line(request, rule);
    const double width =
        step(request.tilt, request.reach, std::log(request.error), top() ? top_.spread() : 0.0);
    const bool has_many = kBreadth * density_.scale() > kMany * width;
    if (is_split || has_many) {
        if (auto shifted = shifted_line(request)) return shifted;
    }
    if (is_split) return plain_line(request);
    auto fine = plain_line(request);
    auto coarse = plain_line({request.tilt, 0.0, request.error, request.step});
    if (!fine || !coarse) return nullptr;
    return std::make_unique<FineLine>(std::move(fine), std::move(coarse));
}

std::unique_ptr<Line> SampledDirectionLaw::plain_line(const LineRequest& request) const {
    constexpr std::size_t kFrequencies = 16;  // for a sine and a cosine a node,
    constexpr double kMany = 500.0;           // if there are no more than that
    const double t = request.tilt, u = order(t);
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    Cut cut;
    const bool is_split = !request.split.is_none() && !(cut = cut_at(request.split)).is_none();
    const double spread = is_split ? cut.spread() : 0.0, top_spread = top() ? top_.spread() : 0.0;
    const double width = step(t, request.reach, log_error, spread + top_spread);
    const auto grid = nodes(t, {width}, top(), is_split ? &cut : nullptr);
    if (!grid) return nullptr;
    const std::size_t n = grid->v.size();
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double outside = std::exp(grid->outside(u, law.log_sum)) + grid->base_outside;
    const double missed = 2.0 * std::exp(log_error) + outside;
    if (!(missed < 1e-9)) return nullptr;
    std::vector<double> large(is_split ? n : 0);
    double large_sum = 0.0;
    for (std::size_t j = 0; j < large.size(); ++j) {
        large[j] = law.weight[j] * exp(log_ndtr(sign() * (grid->v[j] - cut.v) / cut.width));
        large_sum += large[j];
    }
    SampledDirectionLine::Details details{density_, q_, u, t, width, widest(), spread, top_spread};
    const double most = q_ < 1.0 ? 2.0 - std::log(q_) : 1.0;
    TiltedNodes kept{{}, {}, {}, 7.0 * most + 9.0, 0.0, request.step};
    kept.block = request.reach > kMany * request.step ? kManyNodes : kFrequencies;
    for (std::size_t j = 0; j < n; ++j) {
        const double g = law.weight[j], loss = grid->loss[j];
        const double relative = weight_error(grid->error[j], u * loss, grid->loss_error[j]);
        if (g < kPruned && !(is_split && large[j] >= kPruned * large_sum)) {
            details.left_out += g;
            if (is_split) details.large_left_out += large[j];
            continue;
        }
        kept.loss.push_back(sign() * loss);
        kept.weight.push_back(g);
        kept.error.push_back(relative);
        details.tanh.push_back(grid->tanh[j]);
        details.sech_square.push_back(grid->sech_square[j]);
        details.loss.push_back(loss);
        if (!is_split) continue;
        kept.large.push_back(large[j]);
        kept.large_error.push_back(
            share_error(sign() * (grid->v[j] - cut.v) / cut.width, grid->v[j], cut.v, cut.width));
    }
    kept.missing = 2.0 * (2.0 * std::exp(log_error) + outside + details.left_out);
    // Beyond the end of large losses their share is at most 1, beyond the other one less than at
    // it.
    double large_outside = 0.0;
    if (is_split) {
        const std::size_t far = is_remove() ? n - 1 : 0, near = n - 1 - far;
        const double high = is_remove() ? grid->high_decay : grid->low_decay;
        const double low = is_remove() ? grid->low_decay : grid->high_decay;
        large_outside = law.weight[far] * exp(high) + large[near] * exp(low);
    }
    kept.large_missing =
        2.0 * (2.0 * std::exp(log_error) * large_sum + large_outside + details.large_left_out);
    details.left_out += outside + 1e-300;
    details.large_left_out += large_outside;
    return std::make_unique<SampledDirectionLine>(
        std::move(kept), exact_moment(*grid, law, t, missed), std::move(details));
}

namespace {

Interval profile_bounds(double kappa, double dim, double half_chord, double x) {
    double upper;
    vmf_delta_upper(kappa, dim, {&half_chord, false, true}, {&x, false, true}, 1, &upper);
    if (!(upper >= 0.0)) return {0.0, 1.0};
    return {std::max(upper * (1.0 - 1.2e-10) - 1e-288, 0.0), std::min(upper, 1.0)};
}

}  // namespace

// One release: the base profile, at an argument bounded from both sides.
std::optional<Interval> SampledDirectionLaw::profile(double x) const {
    if (top()) return std::nullopt;
    const auto base = [&](double at) { return profile_bounds(kappa_, dim_, half_chord_, at); };
    if (q_ == 1.0) return base(x);
    return sampled_profile(direction_, q_, x, base);
}

}  // namespace tightnoise::contour
