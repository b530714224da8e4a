#include "cost/contour/images.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise::contour {
namespace {

// log(1/(e^t - 1)) for t > 0.
double log_geometric(double t) {
    return -t - std::log(-std::expm1(-t));
}

double log_add(double a, double b) {
    const double most = std::max(a, b);
    return most == -kInfinity ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

double log_kappa(double a) {
    return a > 0.0 ? -std::log1p(a) - a * std::log1p(1.0 / a) : 0.0;
}

Moment total_moment(const Terms& terms, double t) {
    poll();
    Moment total{0.0, 0.0, 0.0, 0.0};
    for (const Releases& term : terms) {
        const Moment one = term.law->moment(t);
        total.value += term.count * one.value;
        total.error += term.count * (one.error + 4.0 * kUnit * std::fabs(one.value));
        total.slope += term.count * one.slope;
        total.curvature += term.count * one.curvature;
    }
    return total;
}

Images::Images(const Terms& terms, double tilt, double log_tolerance)
    : tilt_(tilt), moment_(total_moment(terms, tilt)) {
    const double reach = std::sqrt(-2.0 * log_tolerance / std::max(moment_.curvature, 1e-300));
    const auto add = [&](std::vector<Tilt>& to, double at) {
        const Moment moment = total_moment(terms, at);
        const double upper = moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
        to.push_back({at, std::fabs(at - tilt), log_kappa(at) + upper});
    };
    for (const double part : {0.03, 0.08, 0.2, 0.45, 0.9, 2.0}) {
        add(above_, tilt + (1.0 + tilt) * part);
    }
    add(below_, 0.0);
    for (const double part : {0.3, 0.6, 0.8}) add(below_, tilt * part);
    for (const double part : {0.4, 0.7, 0.9, 1.1, 1.4}) {
        if (part * reach < 1e6 * (1.0 + tilt)) add(above_, tilt + part * reach);
        if (part * reach < 0.99 * tilt) add(below_, tilt - part * reach);
    }
}

double Images::log_markov(const Tilt& tilt, double x, double smoothing) {
    const double shift = 0.5 * smoothing * smoothing * tilt.at * (tilt.at + 1.0);
    const double size = std::fabs(tilt.log_weight) + std::fabs(tilt.at * x) + shift;
    return tilt.log_weight + shift - tilt.at * x + 8.0 * kUnit * size;
}

double Images::window(double x, double log_want, double smoothing) const {
    const auto least = [&](const std::vector<Tilt>& tilts) {
        double best = kInfinity;
        for (const Tilt& tilt : tilts) {
            best = std::min(best, (log_markov(tilt, x, smoothing) - log_want) / tilt.distance);
        }
        return best;
    };
    double window = std::max({least(above_), least(below_), 1e-12});
    for (int i = 0; i < 100 && log_bound(x, window, smoothing) > log_want; ++i) window *= 1.05;
    return window;
}

double Images::log_bound(double x, double window, double smoothing) const {
    const auto least = [&](const std::vector<Tilt>& tilts) {
        double best = kInfinity;
        for (const Tilt& tilt : tilts) {
            best = std::min(best,
                            log_markov(tilt, x, smoothing) + log_geometric(tilt.distance * window));
        }
        return best;
    };
    return log_add(least(above_), least(below_)) + 1e-12;
}

}  // namespace tightnoise::contour
