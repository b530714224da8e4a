#include "cost/contour/known_images.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/masses.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kRounding = 64.0 * kUnit;

}  // namespace

std::optional<KnownImages> KnownImages::make(const Terms& terms, const Split& split, double size,
                                             SwappedMoments& swapped) {
    KnownImages made;
    const auto kept = [](const Law& law) { return law.lacking(); };
    made.masses_ = masses_between(terms, kept, [&](const Law& law) {
        return split.is_none() ? Masses{{1.0, 1.0}, {kInfinite, kInfinite}} : law.larger(split);
    });
    const int middle =
        std::clamp(static_cast<int>(std::log2(8.0 / std::max(size, 1e-12))), -50, 90);
    for (const int step : {-6, -4, -2, -1, 0, 1, 2, 4}) {
        const double t = std::ldexp(1.0, middle + step);
        const double sum = log_kappa(t) + swapped.at(middle + step);
        if (sum < kInfinite) made.tilts_.push_back({t, sum + kRounding * std::fabs(sum)});
    }
    if (made.tilts_.empty()) return std::nullopt;
    return made;
}

double KnownImages::Markov::log_value(double y, double smoothing) const {
    const double shift = 0.5 * smoothing * smoothing * at * (at + 1.0);
    const double value = log_weight + shift + (1.0 + at) * y;
    return value + kRounding * (std::fabs(log_weight) + shift + std::fabs((1.0 + at) * y));
}

double KnownImages::window(double x, double tilt, double log_want, double log_most) const {
    double least = kInfinity;
    for (const Markov& t : tilts_) {
        least = std::min(least, (t.log_value(x, 0.0) + 1.0 - log_want) / (1.0 + t.at + tilt));
    }
    return std::max(least, (std::log(masses_.mass.upper + 1e-300) - log_most) / tilt);
}

Interval KnownImages::sum(double x, double tilt, double window, double smoothing,
                          double log_unit) const {
    const double unit = std::exp(-log_unit);
    const double plain = std::exp(log_geometric(tilt * window));
    const double grown = std::exp(std::min(x + log_geometric((1.0 + tilt) * window), 700.0));
    double log_more = kInfinity;
    for (const Markov& t : tilts_) {
        const double log_ratio = log_geometric((1.0 + t.at + tilt) * window);
        log_more = std::min(log_more, t.log_value(x, smoothing) + log_ratio);
    }
    const double more = std::exp(std::min(log_more - log_unit, 700.0)) * (1.0 + 1e-12);
    const double sizes = 1.0 + std::fabs(log_unit) + std::fabs(x) + (1.0 + tilt) * window;
    const double error =
        kRounding * sizes * (masses_.mass.upper * plain + masses_.swapped.upper * grown) * unit;
    const double lower = masses_.mass.lower * plain - masses_.swapped.upper * grown;
    const double upper = masses_.mass.upper * plain - masses_.swapped.lower * grown;
    return {std::max(lower * unit - error, 0.0), std::max(upper * unit, 0.0) + error + more};
}

}  // namespace tightnoise::contour
