#include "cost/contour/images.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise::contour {
namespace {

double log_add(double a, double b) {
    const double most = std::max(a, b);
    return most == -kInfinity ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

double log_geometric(double t) {
    return -t - std::log(-std::expm1(-t));
}

double log_kappa(double a) {
    return a > 0.0 ? -std::log1p(a) - a * std::log1p(1.0 / a) : 0.0;
}

const Moment& Moments::at(double t) {
    if (const auto found = known_.find(t); found != known_.end()) return found->second;
    poll();
    Moment total{0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        const Releases& term = terms_[i];
        const Moment one = term.law->recalled_moment(t, memories_[i].get());
        total.value += term.count * one.value;
        total.error += term.count * (one.error + 4.0 * kUnit * std::fabs(one.value));
        total.slope += term.count * one.slope;
        total.curvature += term.count * one.curvature;
    }
    return known_.emplace(t, total).first->second;
}

std::vector<double> Moments::tilts() const {
    std::vector<double> known;
    for (const auto& moment : known_) known.push_back(moment.first);
    std::sort(known.begin(), known.end());  // so that answers do not depend on the map's order
    return known;
}

double SwappedMoments::at(int exponent) {
    if (const auto found = known_.find(exponent); found != known_.end()) return found->second;
    poll();
    double sum = 0.0;
    for (const Releases& term : terms_) {
        sum += term.count * term.law->log_swapped_moment(std::ldexp(1.0, exponent));
    }
    sum += 64.0 * kUnit * std::fabs(sum);
    known_.emplace(exponent, sum);
    return sum;
}

Images::Images(Moments& moments, double tilt, double log_tolerance) : Images(moments, tilt) {
    constexpr double kSteep = 300.0;  // beyond, a steeper tilt bounds no images better
    const double reach = std::sqrt(-2.0 * log_tolerance / std::max(moment_.curvature, 1e-300));
    double steepest = kInfinity;
    const auto add_above = [&](double at) {
        if (at >= steepest) return;
        above_.push_back(tilt_at(moments, at, tilt));
        const double line = moment_.value + moment_.slope * (at - tilt);
        if (moments.at(at).value - line > kSteep) steepest = at;
    };
    for (const double part : {0.05, 0.2, 0.6, 2.0}) {
        add_above(tilt + (1.0 + tilt) * part);
    }
    below_.push_back(tilt_at(moments, 0.0, tilt));
    for (const double part : {0.35, 0.75}) below_.push_back(tilt_at(moments, tilt * part, tilt));
    for (const double part : {0.5, 0.8, 1.1}) {
        if (part * reach < 1e6 * (1.0 + tilt)) add_above(tilt + part * reach);
        if (part * reach < 0.99 * tilt) {
            below_.push_back(tilt_at(moments, tilt - part * reach, tilt));
        }
    }
}

Images Images::among_known(Moments& moments, double tilt) {
    Images made(moments, tilt);
    for (const double at : moments.tilts()) {
        if (at == tilt) continue;
        (at > tilt ? made.above_ : made.below_).push_back(tilt_at(moments, at, tilt));
    }
    return made;
}

void Images::extend_above(const Terms& terms) {
    Moments moments(terms);
    for (const double part : {4.0, 8.0, 16.0, 32.0}) {
        above_.push_back(tilt_at(moments, tilt_ + (1.0 + tilt_) * part, tilt_));
    }
}

Images::Tilt Images::tilt_at(Moments& moments, double at, double tilt) {
    const Moment& moment = moments.at(at);
    const double upper = moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
    return {at, std::fabs(at - tilt), log_kappa(at) + upper};
}

double Images::log_markov(const Tilt& tilt, double x, double smoothing) {
    const double shift = 0.5 * smoothing * smoothing * tilt.at * (tilt.at + 1.0);
    const double size = std::fabs(tilt.log_weight) + std::fabs(tilt.at * x) + shift;
    return tilt.log_weight + shift - tilt.at * x + 8.0 * kUnit * size;
}

// The least window for which one of the tilts alone gives e^log_want.
double Images::least_window(const std::vector<Tilt>& tilts, double x, double log_want,
                            double smoothing) {
    double best = kInfinity;
    for (const Tilt& tilt : tilts) {
        best = std::min(best, (log_markov(tilt, x, smoothing) - log_want) / tilt.distance);
    }
    return best;
}

double Images::least_bound(const std::vector<Tilt>& tilts, double x, double window,
                           double smoothing) {
    double best = kInfinity;
    for (const Tilt& tilt : tilts) {
        best =
            std::min(best, log_markov(tilt, x, smoothing) + log_geometric(tilt.distance * window));
    }
    return best + 1e-12;
}

double Images::window(double x, double log_want, double smoothing) const {
    double window = std::max({least_window(above_, x, log_want, smoothing),
                              least_window(below_, x, log_want, smoothing), 1e-12});
    for (int i = 0; i < 100 && log_bound(x, window, smoothing) > log_want; ++i) window *= 1.05;
    return window;
}

double Images::window_above(double x, double log_want, double smoothing) const {
    double window = std::max(least_window(above_, x, log_want, smoothing), 1e-12);
    for (int i = 0; i < 100 && log_above(x, window, smoothing) > log_want; ++i) window *= 1.05;
    return window;
}

double Images::log_above(double x, double window, double smoothing) const {
    return least_bound(above_, x, window, smoothing);
}

double Images::log_bound(double x, double window, double smoothing) const {
    return log_add(log_above(x, window, smoothing), least_bound(below_, x, window, smoothing));
}

}  // namespace tightnoise::contour
