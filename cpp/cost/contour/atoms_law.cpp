#include "cost/contour/atoms_law.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cost/contour/atoms_line.hpp"
#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kOfSum = 4.0;     // units u: of a compensated sum, and of an average's margin
constexpr double kPruned = 1e-30;  // of M: atoms that are left out of a line, and counted
constexpr std::size_t kMany = 1000, kFrequencies = 64;  // of so many atoms, for a sine and a cosine

}  // namespace

AtomsLaw::AtomsLaw(const std::vector<double>& losses, const std::vector<double>& masses,
                   const std::vector<double>& log_masses, double infinite_mass, Exact exact)
    : infinite_(infinite_mass) {
    CompensatedSum sum;
    add(sum, -1.0);
    std::vector<std::size_t> order(losses.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t i, std::size_t j) { return losses[i] < losses[j]; });
    for (const std::size_t j : order) {
        if (log_masses[j] == -kInfinity) continue;
        loss_.push_back(losses[j]);
        mass_.push_back(masses[j]);
        log_mass_.push_back(log_masses[j]);
        add(sum, masses[j]);
        largest_ = std::max(largest_, std::fabs(losses[j]));
        if (exact == Exact::log_masses) rounding_ += masses[j] * (8.0 + std::fabs(log_masses[j]));
    }
    excess_ = value(sum);
}

AtomsLaw::Tilted AtomsLaw::tilted(double t) const {
    const std::size_t n = loss_.size();
    Tilted result{std::vector<double>(n), -kInfinity, 0.0};
    double largest = -kInfinity;
    for (std::size_t j = 0; j < n; ++j) {
        result.weight[j] = log_mass_[j] + t * loss_[j];
        largest = std::max(largest, result.weight[j]);
    }
    double error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double g = exp(result.weight[j] - largest);
        result.weight[j] = g;
        error += g * (6.0 + 2.0 * std::fabs(t * loss_[j]) + 2.0 * std::fabs(log_mass_[j]));
    }
    const double sum = value(compensated_sum(n, [&](std::size_t j) { return result.weight[j]; }));
    if (!(sum > 0.0)) return result;
    for (double& g : result.weight) g /= sum;
    result.log_sum = largest + log(sum);
    result.error = kUnit * (error / sum + kOfSum + 4.0 * std::fabs(result.log_sum));
    return result;
}

Moment AtomsLaw::moment(double t) const {
    const Tilted law = tilted(t);
    Moment moment{law.log_sum, law.error, 0.0, 0.0};
    for (std::size_t j = 0; j < loss_.size(); ++j) moment.slope += law.weight[j] * loss_[j];
    for (std::size_t j = 0; j < loss_.size(); ++j) {
        const double away = loss_[j] - moment.slope;
        moment.curvature += law.weight[j] * away * away;
    }
    return t * largest_ < 1.0 && !loss_.empty() ? careful_moment(t, moment) : moment;
}

double AtomsLaw::log_swapped_moment(double t) const {
    const Tilted law = tilted(-(1.0 + t));
    return law.log_sum + law.error;
}

Interval AtomsLaw::swapped_mass() const {
    const Tilted law = tilted(-1.0);
    const double mass = std::exp(law.log_sum), error = mass * (law.error + 4.0 * kUnit);
    return {mass - error, mass + error};
}

Interval AtomsLaw::finite_mass() const {
    const double error = kUnit * (1.01 * rounding_ + 4.0);
    return {std::max(1.0 + excess_ - error, 0.0), 1.0 + excess_ + error};
}

// M - 1 = (M(0) - 1) + (M - M(0)), where the logarithm would lose digits.
Moment AtomsLaw::careful_moment(double t, const Moment& plain) const {
    CompensatedSum rise;
    double size = 0.0;
    for (std::size_t j = 0; j < loss_.size(); ++j) {
        const double term = mass_[j] * expm1(t * loss_[j]);
        add(rise, term);
        size += std::fabs(term);
    }
    const double sum = value(rise) + excess_;
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error =
        kUnit * (10.0 * size + 4.0 * std::fabs(excess_) + 1.01 * rounding_ + 1e-12) / (1.0 + sum) +
        4.0 * kUnit * std::fabs(moment.value);
    return moment;
}

TiltedNodes AtomsLaw::nodes(double t) const {
    const Tilted law = tilted(t);
    TiltedNodes kept{{}, {}, {}, 0.0, 0.0, 1.0};
    kept.sum_error = kOfSum;
    for (std::size_t j = 0; j < loss_.size(); ++j) {
        if (law.weight[j] < kPruned) {
            kept.missing += 2.0 * law.weight[j];
            continue;
        }
        kept.loss.push_back(loss_[j]);
        kept.weight.push_back(law.weight[j]);
        kept.error.push_back(8.0 + 2.0 * std::fabs(t * loss_[j]) + 2.0 * std::fabs(log_mass_[j]));
    }
    if (kept.loss.size() > kMany) kept.block = kFrequencies;
    return kept;
}

std::unique_ptr<Line> AtomsLaw::line(const LineRequest& request) const {
    if (loss_.empty()) return nullptr;
    TiltedNodes kept = nodes(request.tilt);
    kept.step = request.step;
    return std::make_unique<AtomsLine>(std::move(kept), moment(request.tilt));
}

std::optional<Interval> AtomsLaw::profile(double x) const {
    double sum = infinite_;
    for (std::size_t j = 0; j < loss_.size(); ++j) {
        if (loss_[j] > x) sum -= mass_[j] * expm1(x - loss_[j]);
    }
    const double error = kUnit * (16.0 + static_cast<double>(loss_.size()) + 800.0);
    return Interval{std::min(sum * (1.0 - error), 1.0), std::min(sum * (1.0 + error), 1.0)};
}

}  // namespace tightnoise::contour
