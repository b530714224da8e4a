#include "cost/contour/one_loss.hpp"

#include <algorithm>
#include <cmath>

namespace tightnoise::contour {

std::optional<OneLoss> OneLoss::of(const Terms& terms) {
    OneLoss found(terms);
    for (const Releases& term : terms) {
        const double zero = term.law->mass_at_zero();
        if (!(zero > 0.0) || !term.law->profile(0.0)) return std::nullopt;
        found.log_none_ += term.count * std::log(zero);
        found.relative_ += term.count * kUnit * (16.0 + 4.0 * std::fabs(std::log(zero)));
    }
    return found;
}

bool OneLoss::is_likely_none(const Terms& terms) {
    constexpr double kLogRare = -34.0;  // 1e-15
    double log_none = 0.0;
    for (const Releases& term : terms) log_none += term.count * std::log(term.law->mass_at_zero());
    return log_none > kLogRare;
}

Bounds OneLoss::profile(double x, double log_unit) const {
    double lower = 0.0, upper = 0.0;
    for (const Releases& term : terms_) {
        const Interval one = *term.law->profile(x);
        const double weight =
            term.count * std::exp(log_none_ - std::log(term.law->mass_at_zero()) - log_unit);
        lower += weight * one.lower;
        upper += weight * one.upper;
    }
    const double relative =
        relative_ + kUnit * (32.0 + 4.0 * (std::fabs(log_none_) + std::fabs(log_unit)));
    return {lower * (1.0 - relative), upper * (1.0 + relative)};
}

Contour::Guess OneLoss::guess(double x) const {
    constexpr double kStep = 1e-4;
    const auto log_at = [&](double at) {
        const Bounds found = profile(at, 0.0);
        return std::log(0.5 * (found.lower + found.upper));
    };
    const double here = log_at(x), step = kStep * std::max(x, kStep);
    return {here, (here - log_at(x + step)) / step};
}

}  // namespace tightnoise::contour
