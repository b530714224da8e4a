#include "cost/contour/sampled_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/node_line.hpp"
#include "numeric/elementary.hpp"
#include "numeric/log1p_remainder.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kRange = 12.5;        // beyond the outermost modes
constexpr double kOutside = 1e-26;     // of M: what lies beyond that, section 5.3
constexpr double kPruned = 1e-28;      // of M: nodes that are left out, and counted
constexpr double kMostNodes = 0x1p15;  // of one line
constexpr double kStrip = 0.95;        // of the distance to the zeros of w
constexpr double kMomentError = -46.0;
constexpr double kLogOverflow = 700.0;
constexpr double kWidestCut = 0.7;  // of a split, in z

double log_cos(double b) {
    return std::log(std::cos(b));
}

}  // namespace

// Nodes at a_j = j * spacing exactly, z_j = sigma a_j + 1/(2 sigma).
struct SampledGaussianLaw::Nodes {
    std::vector<double> z, a, excess, loss, log_weight;  // excess = w - 1, loss = log w
};

double SampledGaussianLaw::share(double z) const {
    const double a = z / sigma_ - 0.5 / (sigma_ * sigma_);
    return 1.0 / (1.0 + (1.0 - q_) / q_ * std::exp(-a));
}

// The widest step of the trapezoidal rule whose error is below e^log_error of M, over strips
// |Im z| <= d: section 5.1.
double SampledGaussianLaw::step(double order, double reach, double log_error, double spread) const {
    const double widest = std::min(kStrip * kPi * sigma_, 14.0);
    double best = 0.0;
    for (double d = widest; d > 0.02 * widest; d *= 0.85) {
        const double b = d / sigma_;
        const double of_power = order < 0.0 ? order * log_cos(0.5 * b) : 0.0;
        const double exponent =
            0.5 * spread * d * d + reach * b + of_power + std::log(2.1) - log_error;
        best = std::max(best, 2.0 * kPi * d / exponent);
    }
    return best;
}

// At infinity where no loss is so large.
SampledGaussianLaw::Cut SampledGaussianLaw::cut_at(const Split& split) const {
    const double width = std::min(kWidestCut, sigma_ / std::max(split.steepness, 1e-300));
    if (split.is_none()) return {kInfinity, kInfinity};
    const double ratio = 1.0 + (is_remove() ? expm1(split.cut) : expm1(-split.cut)) / q_;  // e^a
    if (!(ratio > 0.0)) return {-kInfinity, width};
    return {sigma_ * std::log(ratio) + 0.5 / sigma_, width};
}

std::optional<SampledGaussianLaw::Nodes> SampledGaussianLaw::nodes(double order,
                                                                   double width) const {
    double low = -kRange;
    if (order < 0.0) {  // the mode of w^order, from below
        // -z + order p / sigma falls with z and is 0 there.
        double mode = order / sigma_, above = 0.0;
        while (above - mode > 0.25 && above - mode > 1e-6 * -mode) {
            const double middle = 0.5 * (mode + above);
            (order * share(middle) / sigma_ >= middle ? mode : above) = middle;
        }
        low += mode;
    }
    const double high = kRange + std::max(order, 1.0) / sigma_;
    int exponent;
    const double mantissa = std::frexp(width / sigma_, &exponent);
    const double spacing = std::ldexp(std::floor(std::ldexp(mantissa, 24)), exponent - 24);
    const double middle = 0.5 / sigma_;
    const double first = std::floor((low - middle) / (sigma_ * spacing));
    const double count = std::ceil((high - middle) / (sigma_ * spacing)) - first + 1.0;
    if (!(count <= kMostNodes && std::fabs(first) < 0x1p28)) return std::nullopt;
    const auto n = static_cast<std::size_t>(count);
    Nodes made;
    for (auto* column : {&made.z, &made.a, &made.excess, &made.loss, &made.log_weight}) {
        column->resize(n);
    }
    const double log_step = std::log(sigma_ * spacing * 0.39894228040143267794);
    for (std::size_t j = 0; j < n; ++j) {
        const double a = (first + static_cast<double>(j)) * spacing;
        const double z = sigma_ * a + middle;
        const double v = q_ * expm1(std::min(a, kLogOverflow));
        made.a[j] = a;
        made.z[j] = z;
        made.excess[j] = v;
        made.loss[j] = a > kLogOverflow ? log(q_) + a
                       : v < -0.5       ? log((1.0 - q_) + q_ * exp(a))
                                        : log1p(v);
        made.log_weight[j] = log_step - 0.5 * z * z;
    }
    return made;
}

namespace {

// e_j = log weight + order * loss, e^(e_j - largest), and their sum.
struct Tilted {
    std::vector<double> weight;
    double log_sum;
};

Tilted tilted(const std::vector<double>& log_weight, const std::vector<double>& loss,
              double order) {
    const std::size_t n = loss.size();
    Tilted result{std::vector<double>(n), 0.0};
    double largest = -kInfinity;
    for (std::size_t j = 0; j < n; ++j) {
        result.weight[j] = log_weight[j] + order * loss[j];
        largest = std::max(largest, result.weight[j]);
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        result.weight[j] = exp(result.weight[j] - largest);
        sum += result.weight[j];
    }
    for (double& g : result.weight) g /= sum;
    result.log_sum = largest + log(sum);
    return result;
}

// Relative error of e^(log weight + order loss), in units u.
double weight_error(double z, double sigma, double order_times_loss) {
    return 3.0 * z * z + std::fabs(z) / sigma + 10.0 * std::fabs(order_times_loss) + 12.0;
}

}  // namespace

Moment SampledGaussianLaw::moment(double t) const {
    const double u = order(t);
    const auto grid = nodes(u, step(u, 0.0, kMomentError, 1.0));
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
        error += g * weight_error(grid->z[j], sigma_, u * loss);
    }
    const double rounding =
        kUnit * (error + static_cast<double>(law.weight.size()) + 4.0 * std::fabs(law.log_sum));
    return {law.log_sum, rounding + 3.0 * (std::exp(kMomentError) + kOutside), sign * mean,
            std::max(square - mean * mean, 0.0)};
}

// K where it is small, from terms that are all of one sign: section 5.2.
Moment SampledGaussianLaw::careful_moment(const Nodes& grid, double t, const Moment& plain,
                                          double log_error) const {
    constexpr double kLargeTilt = 300.0;
    const double u = order(t);
    double sum = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double v = grid.excess[j], loss = grid.loss[j];
        const double remainder = log1p_remainder(v, 1.0 + v);
        const double power = u * loss, tilt = is_remove() ? t * loss : power;
        double term;
        if (tilt > kLargeTilt) {  // the rest is less than e^-kLargeTilt of it
            term = exp(grid.log_weight[j] + power);
        } else if (is_remove()) {
            const double entropy = v < 1.0 ? v * v - remainder * (1.0 + v) : (1.0 + v) * loss - v;
            term = ((1.0 + v) * expm1mx(tilt) + t * entropy) * exp(grid.log_weight[j]);
        } else {
            term = (expm1mx(tilt) + t * remainder) * exp(grid.log_weight[j]);
        }
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

// An upper bound: both the rule's error and what lies outside are relative to the part itself.
double SampledGaussianLaw::log_small_moment(double t, const Split& split) const {
    const double u = order(t);
    const Cut cut = cut_at(split);
    const auto grid = nodes(u, step(u, 0.0, kMomentError, cut.spread()));
    if (!grid) return kInfinity;
    std::vector<double> log_weight = grid->log_weight;
    for (std::size_t j = 0; j < log_weight.size(); ++j) {
        const double away = (cut.z - grid->z[j]) / cut.width;
        log_weight[j] += log_ndtr(is_remove() ? away : -away);
    }
    const double log_small = tilted(log_weight, grid->loss, u).log_sum;
    const double log_whole = tilted(grid->log_weight, grid->loss, u).log_sum;
    const double end = is_remove() ? grid->z.back() - cut.z : cut.z - grid->z.front();
    const double outside = std::exp(log_ndtr(-kRange) - log_small) +
                           kOutside * std::exp(log_ndtr(-end / cut.width) + log_whole - log_small);
    return log_small + std::log1p(outside + 1e-12) + 1e-13 * std::fabs(log_small);
}

// |phi(y')| for y' >= y by moving the inner contour to Im z = tau: section 5.4.
class SampledGaussianLaw::TiltedLine : public NodeLine {
  public:
    TiltedLine(TiltedNodes nodes, Moment moment, std::vector<double> share, double sigma,
               double order, double width, double spread, double pruned)
        : NodeLine(std::move(nodes), moment),
          share_(std::move(share)),
          sigma_(sigma),
          order_(order),
          width_(width),
          spread_(spread),
          pruned_(pruned) {}

    double log_tail(double y) const override { return least_bound(y, weight(), 1.0); }
    double log_large_tail(double y) const override {
        return large().empty() ? -kInfinity : least_bound(y, large(), spread_);
    }

  private:
    // log of the least bound of |sum of weight e^(i y d)| found downhill in tau.
    double least_bound(double y, const std::vector<double>& weight, double spread) const {
        const double widest = std::min(0.5 * kStrip * kPi * sigma_, 6.0);
        double mass = 0.0, mean = 0.0;
        for (std::size_t j = 0; j < share_.size(); ++j) {
            mass += weight[j];
            mean += weight[j] * share_[j];
        }
        const auto at = [&](double tau) {
            return std::log(sum(tau, y, weight) + (pruned_ + kOutside) * of_power(tau, 0.0) +
                            mass * missing(tau, spread)) +
                   0.5 * spread * tau * tau;
        };
        double tau = std::min(y * mean / (mass * sigma_ * spread) + 1e-300, widest);
        double best = std::min(at(tau), std::log(mass) + 1e-12);
        for (const double factor : {2.0, 0.5, 1.4, 0.7}) {
            for (int i = 0; i < 40; ++i) {
                const double next = std::min(tau * factor, widest);
                if (next == tau) break;
                const double value = at(next);
                if (!(value < best)) break;
                best = value;
                tau = next;
            }
        }
        return best;
    }

    double sum(double tau, double y, const std::vector<double>& weight) const {
        const double b = tau / sigma_, sine = std::sin(b), cosine = std::cos(b);
        double total = 0.0;
        for (std::size_t j = 0; j < share_.size(); ++j) {
            const double p = share_[j];
            const double shrink = std::log1p(-2.0 * p * (1.0 - p) * (1.0 - cosine));
            const double angle = std::atan2(p * sine, 1.0 - p + p * cosine);
            total += weight[j] * std::exp(0.5 * order_ * shrink - y * angle);
        }
        return total * (1.0 + weight_error() + 1e-12);
    }

    // A bound of |w(z + i tau + i delta) w(z + i tau - i delta)|^(order / 2) / w^order.
    double of_power(double tau, double delta) const {
        if (order_ >= 0.0) return 1.0;
        const double most = 0.5 * (tau + delta) / sigma_, least = 0.5 * (tau - delta) / sigma_;
        return std::exp(0.5 * order_ * (log_cos(most) + log_cos(least)));
    }

    // The rule's error for that sum, its integrand continued to |Im z| <= delta.
    double missing(double tau, double spread) const {
        const double widest = std::min(kStrip * kPi * sigma_ - tau, 14.0);
        double best = kInfinity;
        for (double delta = widest; delta > 0.2 * widest; delta *= 0.8) {
            const double turns = 2.0 * kPi * delta / width_;
            if (turns < 1.0) break;
            best = std::min(best,
                            of_power(tau, delta) * std::exp(0.5 * spread * delta * delta - turns));
        }
        return 4.0 * best;
    }

    std::vector<double> share_;
    double sigma_, order_, width_, spread_, pruned_;
};

std::unique_ptr<Line> SampledGaussianLaw::line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const bool is_split = !request.split.is_none();
    const Cut cut = cut_at(request.split);
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    const double width = step(u, request.reach, log_error, is_split ? cut.spread() : 1.0);
    const auto grid = nodes(u, width);
    if (!grid) return nullptr;
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double sign = is_remove() ? 1.0 : -1.0;
    TiltedNodes kept{{}, {}, {}, 9.0, 0.0};
    std::vector<double> shares;
    double pruned = 0.0, error = 0.0;
    for (std::size_t j = 0; j < law.weight.size(); ++j) {
        const double g = law.weight[j], loss = grid->loss[j], z = grid->z[j];
        const double relative = weight_error(z, sigma_, u * loss);
        error += g * relative;
        if (g < kPruned) {
            pruned += g;
            continue;
        }
        kept.loss.push_back(sign * loss);
        kept.weight.push_back(g);
        kept.error.push_back(relative);
        shares.push_back(share(z));
        if (!is_split) continue;
        const double away = sign * (cut.z - z) / cut.width;  // above 0: a small loss
        kept.small.push_back(g * ndtr(away));
        kept.large.push_back(g * ndtr(-away));
        const double density = std::isfinite(away) ? std::exp(-0.5 * away * away) : 0.0;
        const double place =
            std::isfinite(away) ? (std::fabs(z) + std::fabs(cut.z)) / cut.width + 1.0 : 0.0;
        kept.split_error.push_back(8.0 * ndtr(-away) + 4.0 * density * place);
    }
    kept.missing = 2.0 * (2.0 * std::exp(log_error) + kOutside + pruned);
    Moment moment{law.log_sum, 0.0, 0.0, 0.0};
    moment.error =
        kUnit * (error + static_cast<double>(law.weight.size()) + 4.0 * std::fabs(law.log_sum)) +
        2.0 * (std::exp(log_error) + kOutside);
    if (law.log_sum < 1.0) moment = careful_moment(*grid, request.tilt, moment, log_error);
    return std::make_unique<TiltedLine>(std::move(kept), moment, std::move(shares), sigma_, u,
                                        width, cut.spread(), pruned);
}

// One release: the base profile in closed form, at an argument bounded from both sides.
std::optional<Interval> SampledGaussianLaw::profile(double x) const {
    constexpr double kSlack = 16.0 * kUnit;
    const double mu = 1.0 / sigma_;
    if (is_remove()) {  // q delta(log(1 + (e^x - 1)/q))
        const double at = x < kLogOverflow ? log1p(expm1(x) / q_) : x - log(q_);
        return Interval{
            q_ * gaussian_profile_bounds(mu, at * (1.0 + kSlack)).lower * (1.0 - kSlack),
            q_ * gaussian_profile_bounds(mu, at * (1.0 - kSlack)).upper * (1.0 + kSlack)};
    }
    // A delta(log(1 + (e^x - 1)/A)), A = 1 - (1 - q) e^x: rises with A.
    const double growth = expm1(std::min(x, kLogOverflow));
    const double part = (1.0 - q_) * growth;
    const double most = (q_ - part) + kSlack * (q_ + part);
    const double least = (q_ - part) - kSlack * (q_ + part);
    if (!(most > 0.0)) return Interval{0.0, 0.0};
    const double upper_at = log1p(growth / most) * (1.0 - kSlack);
    const double upper = most * gaussian_profile_bounds(mu, upper_at).upper * (1.0 + kSlack);
    if (!(least > 0.0)) return Interval{0.0, upper};
    const double lower_at = log1p(growth / least) * (1.0 + kSlack);
    return Interval{least * gaussian_profile_bounds(mu, lower_at).lower * (1.0 - kSlack), upper};
}

}  // namespace tightnoise::contour
