#include "cost/contour/sampled_gaussian_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {

SampledGaussianLine::SampledGaussianLine(TiltedNodes nodes, Moment moment, double sigma,
                                         double order, Details details)
    : NodeLine(std::move(nodes), moment),
      sigma_(sigma),
      order_(order),
      details_(std::move(details)) {}

// The least bound of |sum of g_j e^(i y d_j)| found downhill in tau.
double SampledGaussianLine::log_tail(double y) const {
    const double widest = std::min(0.5 * kStrip * kPi * sigma_, 6.0);
    const double spread = details_.spread;
    double mass = 0.0, mean = 0.0;
    for (std::size_t j = 0; j < details_.share.size(); ++j) {
        mass += weight()[j];
        mean += weight()[j] * details_.share[j];
    }
    const auto at = [&](double tau) {
        return std::log(sum(tau, y) + details_.left_out * of_power(tau, 0.0) +
                        mass * missing(tau)) +
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

double SampledGaussianLine::sum(double tau, double y) const {
    const double b = tau / sigma_, sine = std::sin(b), cosine = std::cos(b);
    const double total =
        sampled_kernels().tail(details_.share.size(), weight().data(), details_.share.data(),
                               0.5 * order_, sine, cosine, y);
    return total * (1.0 + weight_error() + 1e-12);
}

// A bound of |w(z + i tau + i delta) w(z + i tau - i delta)|^(order / 2) / w^order.
double SampledGaussianLine::of_power(double tau, double delta) const {
    if (order_ >= 0.0) return 1.0;
    const double most = 0.5 * (tau + delta) / sigma_, least = 0.5 * (tau - delta) / sigma_;
    return std::exp(0.5 * order_ * (log_cos(most) + log_cos(least)));
}

// The rule's error for that sum, its integrand continued to |Im z| <= delta.
double SampledGaussianLine::missing(double tau) const {
    const double widest = std::min({kStrip * kPi * sigma_ - tau, 0.5 * kPi * sigma_, kWidest});
    double best = kInfinity;
    for (double delta = widest; delta > 0.2 * widest; delta *= 0.8) {
        const double turns = 2.0 * kPi * delta / details_.width;
        if (turns < 1.0) break;
        best = std::min(
            best, of_power(tau, delta) * std::exp(0.5 * details_.spread * delta * delta - turns));
    }
    return 4.0 * best;
}

}  // namespace tightnoise::contour
