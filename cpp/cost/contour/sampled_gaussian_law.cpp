#include "cost/contour/sampled_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/node_line.hpp"
#include "numeric/elementary.hpp"
#include "numeric/log1p_remainder.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kRange = 11.5;        // beyond the outermost modes
constexpr double kOutside = 1e-22;     // of M: what lies beyond that, section 5.3
constexpr double kPruned = 1e-26;      // of M: nodes that are left out, and counted
constexpr double kMostNodes = 0x1p15;  // of one line
constexpr double kStrip = 0.95;        // of the distance to the zeros of w
constexpr double kMomentError = -46.0;
constexpr double kLogOverflow = 700.0;

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

// The widest step whose error is below e^log_error, over strips |Im z| <= d: section 5.1.
SampledGaussianLaw::Step SampledGaussianLaw::step(double order, double reach,
                                                  double log_error) const {
    const double widest = std::min(kStrip * kPi * sigma_, 14.0);
    Step best{0.0, log_error};
    for (double d = widest; d > 0.02 * widest; d *= 0.85) {
        const double b = d / sigma_;
        const double of_power = order < 0.0 ? order * log_cos(0.5 * b) : 0.0;
        const double exponent = 0.5 * d * d + reach * b + of_power + std::log(2.1) - log_error;
        best.width = std::max(best.width, 2.0 * kPi * d / exponent);
    }
    return best;
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
    const auto grid = nodes(u, step(u, 0.0, kMomentError).width);
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
        const double power = u * loss, tilt = direction_ == Direction::remove ? t * loss : power;
        double term;
        if (tilt > kLargeTilt) {  // the rest is less than e^-kLargeTilt of it
            term = exp(grid.log_weight[j] + power);
        } else if (direction_ == Direction::remove) {
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

namespace {

// |phi(y')| for y' >= y by moving the inner contour to Im z = tau: section 5.4.
class SampledGaussianLine : public NodeLine {
  public:
    SampledGaussianLine(TiltedNodes nodes, Moment moment, std::vector<double> share, double sigma,
                        double order, double width, double pruned)
        : NodeLine(std::move(nodes), moment),
          share_(std::move(share)),
          sigma_(sigma),
          order_(order),
          width_(width),
          pruned_(pruned) {
        for (std::size_t j = 0; j < share_.size(); ++j) mean_share_ += weight()[j] * share_[j];
    }

    double log_tail(double y) const override {
        const double widest = std::min(0.5 * kStrip * kPi * sigma_, 6.0);
        double tau = std::min(y * mean_share_ / sigma_, widest);
        double best = std::min(bound(tau, y), 0.0);
        for (const double factor : {2.0, 0.5, 1.4, 0.7}) {
            for (int i = 0; i < 40; ++i) {
                const double next = std::min(tau * factor, widest);
                if (next == tau) break;
                const double value = bound(next, y);
                if (!(value < best)) break;
                best = value;
                tau = next;
            }
        }
        return best;
    }

  private:
    // log N(tau, y).
    double bound(double tau, double y) const {
        const double b = tau / sigma_, sine = std::sin(b), cosine = std::cos(b);
        double sum = 0.0;
        for (std::size_t j = 0; j < share_.size(); ++j) {
            const double p = share_[j];
            const double shrink = std::log1p(-2.0 * p * (1.0 - p) * (1.0 - cosine));
            const double angle = std::atan2(p * sine, 1.0 - p + p * cosine);
            sum += weight()[j] * std::exp(0.5 * order_ * shrink - y * angle);
        }
        const double of_power = order_ < 0.0 ? order_ * log_cos(0.5 * b) : 0.0;
        const double left_out = (pruned_ + kOutside) * std::exp(of_power);
        const double total = sum * (1.0 + weight_error() + 40.0 * kUnit) + left_out + missing(tau);
        return 0.5 * tau * tau + std::log(total);
    }

    // Discretisation of that sum: its integrand on |Im z| <= delta.
    double missing(double tau) const {
        const double widest = std::min(kStrip * kPi * sigma_ - tau, 14.0);
        double best = kInfinity;
        for (double delta = widest; delta > 0.3 * widest; delta *= 0.8) {
            const double most = (tau + delta) / sigma_, least = (tau - delta) / sigma_;
            const double of_power =
                order_ < 0.0 ? 0.5 * order_ * (log_cos(0.5 * most) + log_cos(0.5 * least)) : 0.0;
            const double turns = 2.0 * kPi * delta / width_;
            if (turns < 1.0) continue;
            best = std::min(best,
                            0.5 * delta * delta + of_power - turns - std::log1p(-std::exp(-turns)));
        }
        return 2.0 * std::exp(best);
    }

    std::vector<double> share_;
    double sigma_, order_, width_, pruned_, mean_share_ = 0.0;
};

}  // namespace

std::unique_ptr<Line> SampledGaussianLaw::line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const double log_error = std::max(std::min(std::log(request.error), -30.0), -300.0);
    const Step chosen = step(u, request.reach, log_error);
    const auto grid = nodes(u, chosen.width);
    if (!grid) return nullptr;
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double sign = u < 0.0 ? -1.0 : 1.0;
    TiltedNodes kept{{}, {}, {}, 9.0, 0.0};
    std::vector<double> shares;
    double pruned = 0.0, error = 0.0;
    for (std::size_t j = 0; j < law.weight.size(); ++j) {
        const double g = law.weight[j], loss = grid->loss[j];
        const double relative = weight_error(grid->z[j], sigma_, u * loss);
        error += g * relative;
        if (g < kPruned) {
            pruned += g;
            continue;
        }
        kept.loss.push_back(sign * loss);
        kept.weight.push_back(g);
        kept.error.push_back(relative);
        shares.push_back(share(grid->z[j]));
    }
    kept.missing = 2.0 * (2.0 * std::exp(log_error) + kOutside + pruned);
    Moment moment{law.log_sum, 0.0, 0.0, 0.0};
    moment.error =
        kUnit * (error + static_cast<double>(law.weight.size()) + 4.0 * std::fabs(law.log_sum)) +
        2.0 * (std::exp(log_error) + kOutside);
    if (law.log_sum < 1.0) moment = careful_moment(*grid, request.tilt, moment, log_error);
    return std::make_unique<SampledGaussianLine>(std::move(kept), moment, std::move(shares), sigma_,
                                                 u, chosen.width, pruned);
}

// One release: the base profile in closed form, at an argument bounded from both sides.
std::optional<Interval> SampledGaussianLaw::profile(double x) const {
    constexpr double kSlack = 16.0 * kUnit;
    const double mu = 1.0 / sigma_;
    if (direction_ == Direction::remove) {  // q delta(log(1 + (e^x - 1)/q))
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
