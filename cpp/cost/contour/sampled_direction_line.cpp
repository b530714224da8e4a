#include "cost/contour/sampled_direction_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/sampled_pair.hpp"

namespace tightnoise::contour {

SampledDirectionLine::SampledDirectionLine(TiltedNodes nodes, Moment moment, Details details)
    : NodeLine(std::move(nodes), moment), of_(std::move(details)), rising_(of_.widest) {
    if (of_.rate == 1.0) return;
    const double h = of_.density.along();
    double low = 0.0, high = of_.widest;
    for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (low + high);
        (2.0 * h * std::tan(middle) + 2.0 * middle < 0.49 * kPi ? low : high) = middle;
    }
    rising_ = low;
}

double SampledDirectionLine::log_tail(double y) const {
    return least_bound(y, weight(), of_.top_spread, of_.left_out);
}
double SampledDirectionLine::log_large_tail(double y) const {
    return large().empty() ? -kInfinity : least_bound(y, large(), of_.spread, of_.large_left_out);
}

// log of the least bound of |sum of weight e^(i y d)| found downhill in tau.
double SampledDirectionLine::least_bound(double y, const std::vector<double>& weight, double spread,
                                         double left_out) const {
    const double widest = 0.5 * of_.widest, h = of_.density.along();
    double mass = 0.0, mean = 0.0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
        mass += weight[j];
        mean += weight[j] * share_of(of_.rate, 2.0 * h * of_.tanh[j]) * of_.sech_square[j];
    }
    const auto at = [&](double tau) {
        const double rest = left_out * std::exp(std::min(growth_at(tau), 700.0));
        return std::log(sum(tau, y, weight) + rest + mass * missing(tau, spread)) +
               0.5 * spread * tau * tau;
    };
    const double curvature = of_.density.sphere() + spread;
    double tau = std::min(2.0 * h * y * mean / (mass * curvature) + 1e-300, widest);
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

double SampledDirectionLine::growth_at(double d) const {
    return of_.density.log_growth(d, of_.tilt, of_.order, of_.rate);
}

double SampledDirectionLine::mean_growth_at(double d) const {
    return of_.density.log_mean_growth(d, of_.tilt, of_.order, of_.rate, 0.0);
}

double SampledDirectionLine::sum(double tau, double y, const std::vector<double>& weight) const {
    const double h = of_.density.along(), m = of_.density.sphere(), q = of_.rate;
    const double sine = std::sin(tau), turn = 2.0 * h * sine * std::cos(tau);
    const double square = sine * sine;
    double total = 0.0, largest = 0.0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
        const double inside = of_.sech_square[j] * square, rest = 1.0 - inside;
        const double tanh = of_.tanh[j] / rest, b = turn * of_.sech_square[j] / rest;
        double loss = 2.0 * h * tanh, of_power = 0.0, angle = b;
        if (q < 1.0) {
            const double p = share_of(q, loss), cosine = std::cos(b);
            loss = loss_of(q, loss);
            of_power = 0.5 * of_.order * log_shrink(p, cosine);
            angle = turned(p, std::sin(b), cosine);
        }
        const double along = -h * of_.tanh[j] * inside / rest - 0.5 * m * std::log1p(-inside);
        const double power = of_.order * (loss - of_.loss[j]);
        const double exponent = along + power + of_power - y * angle;
        const double size = std::fabs(along) + std::fabs(of_.order * loss) + y * angle;
        total += weight[j] * std::exp(exponent);
        largest = std::max(largest, exponent > -80.0 ? size : 0.0);
    }
    const double rounding = 1e-12 + 32.0 * kUnit * largest * (2.0 - std::log(q));
    return total * std::exp(of_.density.log_sphere_growth(tau)) *
               (1.0 + weight_error() + rounding) +
           1e-30;
}

// The rule's error for that sum, its integrand continued to |Im v| <= delta.
double SampledDirectionLine::missing(double tau, double spread) const {
    const double most = std::max(rising_ - tau, std::min(tau, of_.widest - tau));
    double best = kInfinity;
    for (double delta = most; delta > 0.2 * most; delta *= 0.8) {
        const double turns = 2.0 * kPi * delta / of_.width;
        if (turns < 1.0) break;
        const double growth =
            0.5 * (mean_growth_at(delta + tau) + mean_growth_at(std::fabs(delta - tau)));
        best = std::min(best, growth + of_.density.log_sphere_growth(tau) +
                                  0.5 * spread * delta * delta - turns);
    }
    return 4.0 * std::exp(std::min(best, 700.0));
}

}  // namespace tightnoise::contour
