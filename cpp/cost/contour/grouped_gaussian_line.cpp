#include "cost/contour/grouped_gaussian_line.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kPruned = 1e-18;  // of M

// |sum_j share_j e^(i j b)| and its argument, b the angle of these.
struct Turned {
    double log_size, angle, square;
};
Turned turned(const double* share, const GroupSide::Turns& turns) {
    double real = 0.0, imaginary = 0.0;
    for (std::size_t j = 0; j < turns.sine.size(); ++j) {
        real += share[j] * turns.versine[j];
        imaginary += share[j] * turns.sine[j];
    }
    const double change = real * (real - 2.0) + imaginary * imaginary;
    return {0.5 * std::log1p(change), std::atan2(imaginary, 1.0 - real), 1.0 + change};
}

}  // namespace

GroupedGaussianLine::Tail::Tail(const GroupedGaussianLaw& law, double tilt, double spread,
                                const GroupedGaussianLaw::Nodes& nodes, const Moment& moment)
    : law_(law), tilt_(tilt), spread_(spread), spacing_(nodes.spacing) {
    const int records = std::max(law.ours().records(), law.theirs().records());
    farthest_ = std::min(kWidest, 0.95 * kPi / (law.mu() * std::max(records, 2)));
    const std::size_t of_ours = law.ours().records() + 1, of_theirs = law.theirs().records() + 1;
    for (std::size_t j = 0; j < nodes.z.size(); ++j) {
        const double weight = std::exp(nodes.tilted[j] - moment.value);
        if (weight < kPruned) {
            left_out_ += weight;
            continue;
        }
        weight_.push_back(weight);
        error_.push_back(nodes.error_of_tilted[j]);
        ours_.resize(ours_.size() + of_ours);
        theirs_.resize(theirs_.size() + of_theirs);
        law.ours().shares(nodes.z[j], &ours_[ours_.size() - of_ours]);
        law.theirs().shares(nodes.z[j], &theirs_[theirs_.size() - of_theirs]);
        mean_slope_ +=
            weight * law.mu() * (law.ours().mean(nodes.z[j]) + law.theirs().mean(nodes.z[j]));
    }
    left_out_ += std::exp(nodes.log_outside - moment.value) + 2.0 * moment.error;
}

// Found downhill in tau: any proves a bound.
double GroupedGaussianLine::Tail::log_bound(double y) const {
    double tau = std::min(y * mean_slope_ / (1.0 + spread_) + 1e-300, farthest_);
    double best = std::min(sum(tau, y), 0.0);
    for (const double factor : {2.0, 0.5, 1.4, 0.7}) {
        for (int i = 0; i < 40; ++i) {
            const double next = std::min(tau * factor, farthest_);
            if (next == tau) break;
            const double value = sum(next, y);
            if (!(value < best)) break;
            best = value;
            tau = next;
        }
    }
    return best;
}

double GroupedGaussianLine::Tail::sum(double tau, double y) const {
    const double b = law_.mu() * tau;
    const auto ours = law_.ours().turns(b), theirs = law_.theirs().turns(b);
    const std::size_t of_ours = ours.sine.size(), of_theirs = theirs.sine.size();
    double total = 0.0;
    for (std::size_t j = 0; j < weight_.size(); ++j) {
        const Turned above = turned(&ours_[j * of_ours], ours);
        const Turned below = turned(&theirs_[j * of_theirs], theirs);
        const double exponent = (1.0 + tilt_) * above.log_size - tilt_ * below.log_size -
                                y * (std::max(above.angle, 0.0) + std::max(below.angle, 0.0));
        // Shares err by no more than the node's densities, and some functions.
        const double shares = (1.0 + tilt_ + y) *
                              std::min(b * static_cast<double>(of_ours + of_theirs), 2.0) *
                              (2.0 * error_[j] + 64.0 * static_cast<double>(of_ours + of_theirs)) /
                              std::min(above.square, below.square);
        const double error = kUnit * (error_[j] + shares + 16.0 * std::fabs(exponent) + 64.0);
        total += weight_[j] * std::exp(exponent + error);
    }
    const double growth = law_.log_growth(tilt_, tau) + 0.5 * spread_ * tau * tau;
    const double rest = left_out_ * std::exp(std::min(growth, 700.0));
    return std::log(total * std::exp(0.5 * (1.0 + spread_) * tau * tau) * (1.0 + 1e-13) + rest +
                    missing(tau));
}

// The rule's error for that sum, its integrand continued to |Im z| <= delta.
double GroupedGaussianLine::Tail::missing(double tau) const {
    const double most = std::max(0.5 * kPi / law_.mu(), tau),
                 power = law_.theirs().records() * tilt_;
    double best = kInfinity;
    for (double delta = std::min(most, kWidest); delta > 0.05; delta *= 0.8) {
        if (!(law_.mu() * (tau + delta) < kStrip * kPi)) continue;
        const double turns = 2.0 * kPi * delta / spacing_;
        if (turns < 1.0) break;
        const double growth = 0.5 * (1.0 + spread_) * (tau * tau + delta * delta) -
                              0.5 * power *
                                  (log_cos(0.5 * law_.mu() * (tau + delta)) +
                                   log_cos(0.5 * law_.mu() * (delta - tau)));
        best = std::min(best, growth - turns);
    }
    return 4.0 * std::exp(std::min(best, 700.0));
}

}  // namespace tightnoise::contour
