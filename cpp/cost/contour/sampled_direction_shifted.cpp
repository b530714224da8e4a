// Nodes of sampled directions beside the real axis: sections 5.5 and 8 of CONTOUR.md.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/complex_sphere_mean.hpp"
#include "cost/contour/sampled_direction_law.hpp"
#include "cost/contour/sampled_direction_nodes.hpp"
#include "cost/contour/shifted_line.hpp"
#include "numeric/compensated_sum.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr double kWidestShift = 0.6;  // in deviations: farther, weights lose digits to each other
constexpr double kPruned = 1e-28;
constexpr double kLogNothing = -150.0;  // of a node's weight
constexpr double kMostFrequencies = 1e6;
constexpr double kTailEnd = 1e16, kLogTurned = 2.9e-4;  // 1e16 e^-kLogTurn

// By nodes on lines of a stretch. Far out sums on other lines know of a sharper tail.
class StretchedLine : public ShiftedLine {
  public:
    // The losses beyond a cut have a mass of `far` at least, by that of all.
    StretchedLine(const Moment& moment, double step, ShiftedSum whole, ShiftedSum large,
                  DirectionTail tail, double far, DirectionTail far_tail,
                  std::optional<DirectionTail> large_tail)
        : ShiftedLine(moment, step, std::move(whole), std::move(large), nullptr),
          tail_(std::move(tail)),
          far_(far),
          far_tail_(std::move(far_tail)),
          large_tail_(std::move(large_tail)) {}

    double log_tail(double y) const override {
        const double beside = std::log1p(std::exp(far_tail_.log_bound(y)) - far_) + 1e-13;
        return std::min({tail_.log_bound(y), log_damped(y) + kLogTurned, beside, 0.0});
    }
    double log_large_tail(double y) const override {
        const double damped = ShiftedLine::log_large_tail(y) + kLogTurned;
        return large_tail_ ? std::min(large_tail_->log_bound(y), damped) : damped;
    }
    double tail_end() const override { return kTailEnd; }

  private:
    DirectionTail tail_;
    double far_;
    DirectionTail far_tail_;
    std::optional<DirectionTail> large_tail_;
};

}  // namespace

// What weights relative to M err by, beside their own rounding: the rule and what is outside, M's
// rounding in units u, and a part of their moduli.
struct SampledDirectionLaw::Missed {
    double log_error, outside, rounding, part = 0.0;
};

std::unique_ptr<Line> SampledDirectionLaw::shifted_line(const LineRequest& request) const {
    const double t = request.tilt;
    const double log_error = std::clamp(request.log_missing, -300.0, -30.0);
    const auto whole = shifted_nodes(t, log_error, nullptr);
    auto plain = plain_line({t, 0.0, request.error, request.step});
    if (!whole || !plain) return nullptr;
    const Moment moment = plain->moment();
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment.slope, request.step);
    };
    if (request.split.is_none()) {
        return std::make_unique<ShiftedLine>(moment, request.step, sum(*whole), sum({}),
                                             std::move(plain));
    }
    const Cut cut = cut_at(request.split);
    const auto large = std::isfinite(cut.v) ? shifted_nodes(t, log_error, &cut) : ShiftedNodes{};
    if (!large) return nullptr;
    return std::make_unique<ShiftedLine>(moment, request.step, sum(*whole), sum(*large), nullptr);
}

std::unique_ptr<Line> SampledDirectionLaw::stretched_line(const LineRequest& request,
                                                          const Rule& rule) const {
    const double t = request.tilt, u = order(t), step = request.step;
    const double log_error = std::clamp(request.log_missing, -300.0, -30.0);
    const auto real = nodes(t, rule, top(), nullptr);
    if (!real) return nullptr;
    const Tilted of_real = tilted(real->log_weight, real->loss, u);
    const double outside = std::exp(real->outside(u, of_real.log_sum)) + real->base_outside;
    const double missed = 2.0 * std::exp(kMomentError) + outside;
    if (!(missed < 1e-9)) return nullptr;
    const Moment moment = exact_moment(*real, of_real, t, missed);
    const Ends ends = this->ends(t, top(), nullptr);
    const DirectionCells cells(density_, q_, ends.below, ends.above);
    const auto lines = lines_for_tails();
    const double slack = 1e-9 + 4.0 * kUnit * rounding_of(*real, of_real, u);  // of cells, too
    const double log_whole = of_real.log_sum + real->log_norm + std::log(real->spacing) - slack;
    const auto nodes_of = [&](const Cut* cut) {
        return stretched_nodes(t, log_error, cut, *rule.stretch, *real, of_real, step);
    };
    const auto tail_of = [&](const Cut* cut) {
        return DirectionTail(cells, lines, u, shares(top(), cut), log_whole);
    };
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment.slope, step);
    };
    const auto whole = nodes_of(nullptr);
    if (!whole) return nullptr;
    const Cut cut = request.split.is_none() ? Cut{} : cut_at(request.split);
    const bool has_large = !cut.is_none();
    const auto large = has_large ? nodes_of(&cut) : ShiftedNodes{};
    if (!large) return nullptr;
    std::optional<DirectionTail> large_tail;
    if (has_large) large_tail = tail_of(&cut);
    const double mode = density_.mode(
        [&](const Hyperbolic& at) { return is_remove() ? large_pull(t, at) : density_.along(); });
    const Cut half{sign() * 0.5 * mode, 0.125 * mode};
    const double far = std::exp(cells.log_least(u, shares(top(), &half)) - log_whole - 2.0 * slack);
    return std::make_unique<StretchedLine>(moment, step, sum(*whole), sum(*large), tail_of(nullptr),
                                           std::min(far, 1.0), tail_of(&half),
                                           std::move(large_tail));
}

// Flat for v < 0 and far out, so that w has no zero below; to so many deviations.
std::vector<LineAbove> SampledDirectionLaw::lines_for_tails() const {
    std::vector<LineAbove> lines;
    const double zero = q_ < 1.0 ? std::log((1.0 - q_) / q_) : 0.0;
    const double first = std::min(0.5 * kAtZero / density_.along(), kMostShift);
    const double slope = std::min(kRises / (std::max(zero, 0.0) + 1.0), 1.0);
    for (const double deviations : {0.35, 0.7, 1.4, 2.8, 5.6}) {
        const double most = std::max(std::min(deviations * density_.scale(), kMostShift), first);
        lines.push_back({[=](double v) { return std::min(first + slope * std::max(v, 0.0), most); },
                         std::hypot(1.0, slope)});
    }
    return lines;
}

// Of Im v, as far as A is known.
double SampledDirectionLaw::farthest_shift() const {
    return density_.across() > 0.0 ? 0.98 * kFarthestShift : kInfinity;
}

// Relative to M; with a cut, the part of larger losses only.
std::optional<ShiftedNodes> SampledDirectionLaw::shifted_nodes(double t, double log_error,
                                                               const Cut* cut) const {
    const double u = order(t);
    const double spread = (cut ? cut->spread() : 0.0) + (top() ? top_.spread() : 0.0);
    double tau = 0.0, width = 0.0;
    double farthest = std::min({farthest_shift(), 0.5 * widest(), kWidestShift * density_.scale()});
    for (const Cut* share : {cut, top()}) {
        if (share) farthest = std::min(farthest, kMostOfWidth * share->width);
    }
    for (double tried = farthest; tried > 1e-3 * farthest; tried *= 0.8) {
        const double growth =
            std::max(mean_growth_at(t, 2.0 * tried, 0.0), 0.0) + 2.0 * tried * tried * spread;
        const double most = 2.0 * kPi * tried / (growth + std::log(4.2) - log_error);
        if (most > width) {
            width = most;
            tau = tried;
        }
    }
    auto grid = nodes(t, {width}, top(), cut);
    if (!grid) return std::nullopt;
    grid->shift.assign(grid->v.size(), tau);
    grid->stretch.assign(grid->v.size(), 1.0);
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double of_shift = std::max(mean_growth_at(t, tau, 0.0), 0.0) + 0.5 * tau * tau * spread;
    const double outside =
        (std::exp(grid->outside(u, law.log_sum)) + grid->base_outside) * std::exp(of_shift);
    return weighed(t, *grid, law.log_sum, cut, {log_error, outside, rounding_of(*grid, law, u)});
}

// The same along a stretch. `real` are nodes on the real line, e^log_sum is M by these.
std::optional<ShiftedNodes> SampledDirectionLaw::stretched_nodes(
    double t, double log_error, const Cut* cut, const Stretched& stretch, const Nodes& real,
    const Tilted& of_real, double step) const {
    const double u = order(t), length = stretch.axis.length;
    const auto shares = this->shares(top(), cut);
    const Ends ends = this->ends(t, top(), cut);
    const DirectionCells cells(density_, q_, ends.below, ends.above);
    const double log_least = cells.log_least(u, shares);
    const auto growth = [&](double angle) {
        return cells.growth(stretch.axis, angle, u, shares, kLogTurn, log_least);
    };
    double angle = 0.0, width = 0.0;
    double farthest = std::min(0.5 * stretch.most_angle, farthest_shift() / length);
    // As far as shares are known: up to where they are next to 1 or to 0. Lines rise by less than
    // they go on.
    const auto is_beyond = [&](const Cut* share, double widths) {
        const double v = std::fabs(share->v) + widths * share->width;
        return stretch.axis.shift_at(v, farthest) > kMostOfWidth * share->width;
    };
    while ((cut && is_beyond(cut, kDeepInside)) || (top() && is_beyond(top(), 2.0 * kDeepInside))) {
        farthest *= 0.8;
    }
    for (double tried = farthest; tried > 1e-3 * farthest; tried *= 0.8) {
        const double of_whole = std::max(growth(2.0 * tried).log_whole, 0.0);
        const double most = 2.0 * kPi * tried * length / (of_whole + std::log(4.2) - log_error);
        if (most < 0.8 * width) break;
        if (most > width) {
            width = most;
            angle = tried;
        }
    }
    const Beside beside{angle, real.log_norm + std::log(real.spacing)};
    const auto grid = nodes(t, {width, stretch}, top(), cut, &beside);
    if (!grid) return std::nullopt;
    const DirectionCells::Growth grown = growth(angle);
    const double outside =
        std::exp(grid->outside(u, of_real.log_sum, grown.log_below, grown.log_above)) +
        grid->base_outside;
    // The rule for M, and what is outside; and arg w, where it is below 0.
    const double more = 2.0 * std::exp(kMomentError) + std::exp(real.outside(u, of_real.log_sum)) +
                        kMostFrequencies * step * std::exp(-kLogTurn);
    return weighed(t, *grid, of_real.log_sum, cut,
                   {log_error, outside, rounding_of(real, of_real, u), more});
}

// Of M by nodes on the real line.
double SampledDirectionLaw::rounding_of(const Nodes& grid, const Tilted& law, double u) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < grid.v.size(); ++j) {
        sum += law.weight[j] * weight_error(grid.error[j], u * grid.loss[j], grid.loss_error[j]);
    }
    return sum + 2.0 * static_cast<double>(grid.v.size());
}

std::optional<ShiftedNodes> SampledDirectionLaw::weighed(double t, const Nodes& grid,
                                                         double log_sum, const Cut* cut,
                                                         const Missed& missed) const {
    const double u = order(t), h = density_.along(), g = density_.across(), m = density_.sphere();
    const double of_place = grid.error_of_place(), of_share = grid.error_of_share();
    const ComplexSphereMean sphere_mean(0.5 * m - 1.0);
    std::vector<ComplexShare> complex_shares;
    if (top()) complex_shares.push_back({top_.v, top_.width, sign()});
    if (cut) complex_shares.push_back({cut->v, cut->width, -sign()});
    ShiftedNodes made;
    double left_out = 0.0, of_argument = 0.0;
    CompensatedSum of_real, of_imaginary;
    double moduli = 0.0, total_error = 0.0;
    for (std::size_t j = 0; j < grid.v.size(); ++j) {
        const double tau = grid.shift[j], sine = std::sin(tau), cosine = std::cos(tau);
        const double square = sine * sine, turn = sine * cosine;
        const double inside = grid.sech_square[j] * square, rest = 1.0 - inside;
        const double tanh = grid.tanh[j] / rest, tilt = grid.sech_square[j] * turn / rest;
        const double a = 2.0 * h * tanh, b = 2.0 * h * tilt;
        Ratio w = ratio_at(a, Shift(b), q_);
        if (b > 1.0) w.angle = unwound(a, b, q_);
        const double phase = std::atan(grid.tanh[j] * std::tan(tau));  // of cosh
        Complex exponent(grid.log_weight[j] - log_sum - h * (tanh - grid.tanh[j]) -
                             0.5 * m * std::log1p(-inside) + u * w.log_size,
                         -h * tilt - m * phase + u * w.angle);
        exponent += std::log(grid.stretch[j]);
        double error = 0.0;
        if (g > 0.0) {
            const double z_square = g * g * grid.sech_square[j];
            const double tanh_there = grid.tanh[j];
            const Complex cosh(cosine, tanh_there * sine);  // by cosh v
            const Complex less(square * (1.0 + tanh_there * tanh_there), -2.0 * tanh_there * turn);
            const bool is_near = sine < kNearShift * cosine * cosine;
            const auto change =
                sphere_mean.change(z_square, z_square * less / (cosh * cosh), is_near);
            if (!change) return std::nullopt;
            exponent += change->value;
            error = change->error;
        }
        if (top()) {
            exponent -= grid.log_share[j];
            error += 4.0 * std::fabs(grid.log_share[j]);
        }
        bool is_nothing = false;
        for (const ComplexShare& share : complex_shares) {
            const double most = exponent.real() + share.log_most(grid.v[j], tau);
            if (most < kLogNothing) {
                left_out += std::exp(most);
                is_nothing = true;
                break;
            }
            if (!share.is_known(grid.v[j], tau)) return std::nullopt;
            exponent += share.log(grid.v[j], tau);
            error += of_share * share.error(grid.v[j]);
        }
        if (is_nothing) continue;
        const double modulus = std::exp(exponent.real());
        if (!(modulus >= kPruned * (cut ? moduli : 1.0))) {
            left_out += modulus;
            continue;
        }
        // What an error of a, relative to itself, counts in log w: |p a|, p the complex share.
        const double log_share = q_ < 1.0 ? std::log(q_) + a - w.log_size : 0.0;
        const double moved = std::hypot(a, b) * std::exp(log_share);
        const double size = std::hypot(w.log_size, w.angle);
        of_argument = std::max(of_argument, (12.0 + of_place) * moved / (size + 1e-300));
        error += grid.error[j] + (16.0 + of_place) * h * (std::fabs(tanh) + tilt) +
                 10.0 * m * (inside + std::fabs(phase)) +
                 std::fabs(u) * (12.0 * size + (12.0 + of_place) * moved) +
                 2.0 * std::abs(exponent) + 16.0;
        const Complex weight =
            modulus * Complex(std::cos(exponent.imag()), sign() * std::sin(exponent.imag()));
        add(of_real, weight.real());
        add(of_imaginary, weight.imag());
        moduli += modulus;
        total_error += modulus * error;
        made.loss.push_back(sign() * w.log_size);
        made.damping.push_back(w.angle > 0.0 ? w.angle : 0.0);  // not -0.0
        made.real.push_back(weight.real());
        made.imaginary.push_back(weight.imag());
        made.error.push_back(error);
    }
    made.loss_error = 12.0 + of_argument;
    left_out += missed.part * moduli;
    const Complex total(value(of_real), value(of_imaginary));
    if (cut) {
        for (double& error : made.error) error += 1.02 * missed.rounding + 8.0;
        made.missing = 1.01 * left_out + 1.05 * std::abs(total) * std::exp(missed.log_error) +
                       2.0 * missed.outside;
        return made;
    }
    if (!(std::abs(total - 1.0) < 0.01)) return std::nullopt;
    for (std::size_t j = 0; j < made.real.size(); ++j) {
        const Complex weight = Complex(made.real[j], made.imaginary[j]) / total;
        made.real[j] = weight.real();
        made.imaginary[j] = weight.imag();
        made.error[j] += 1.02 * (total_error + 4.0 * moduli) + 8.0;
    }
    made.missing = 2.1 * (left_out + std::exp(missed.log_error) + missed.outside);
    return made;
}

}  // namespace tightnoise::contour
