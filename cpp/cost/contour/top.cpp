#include "cost/contour/top.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/masses.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kLogRest = -20.7;                       // log 1e-9, of the value
constexpr double kLargestGap = 600.0, kLeastGap = 0.02;  // from x to the cut; relative to x
constexpr double kCloseEnough = 1.1;
constexpr double kRounding = 64.0 * kUnit;

struct Cut {
    Split at;
    Terms terms;
    Terms lacking;  // of which outcomes were trimmed
};

Cut cut_at(const Terms& terms, double loss, double steepness) {
    Cut cut{{loss, steepness / loss}, {}, {}};
    for (const Releases& term : terms) {
        const auto kept = term.law->trimmed(cut.at);
        cut.terms.push_back({kept ? kept : term.law, term.count});
        if (kept) cut.lacking.push_back(cut.terms.back());
    }
    return cut;
}

// log of kap(t) E[e^(-(1 + t) S); top], at most.
double log_rest(const Cut& cut, SwappedMoments& moments, int exponent) {
    const double t = std::ldexp(1.0, exponent);
    double sum = 0.0;
    for (const Releases& term : cut.lacking) {
        sum += term.count * std::exp(std::max(term.law->log_lacking_moment(t), -700.0));
    }
    const double value = log_kappa(t) + moments.at(exponent) + std::log(sum);
    return value + 1e-9 + kRounding * std::fabs(value);
}

struct Markov {
    double tilt, log_rest, log_value;  // at x
};

Markov least_rest(const Cut& cut, SwappedMoments& moments, double x, int& exponent) {
    const auto at = [&](int k) {
        const double t = std::ldexp(1.0, k), rest = log_rest(cut, moments, k);
        return Markov{t, rest, rest + (1.0 + t) * x};
    };
    Markov best = at(exponent);
    for (const int step : {1, -1}) {
        bool has_moved = false;
        for (;;) {
            const int next = exponent + step;
            if (next < -60 || next > 100) break;
            const Markov tried = at(next);
            if (!(tried.log_value < best.log_value)) break;
            best = tried;
            exponent = next;
            has_moved = true;
        }
        if (has_moved) break;
    }
    return best;
}

}  // namespace

std::optional<Topless> topless(const Terms& terms, double x, double log_value, double steepness,
                               SwappedMoments& moments) {
    const double unit = std::max(std::fabs(x), 1e-12), least = std::max(x, 0.0);
    double low = kLeastGap * unit, high = kLargestGap;
    int exponent = std::clamp(static_cast<int>(std::log2(8.0 / unit)), -50, 90);
    const auto is_good = [&](const Cut& cut, Markov& found) {
        found = least_rest(cut, moments, x, exponent);
        return found.log_value <= log_value + kLogRest;
    };
    Cut best = cut_at(terms, least + high, steepness);
    Markov rest{};
    if (best.lacking.empty() || !is_good(best, rest)) return std::nullopt;
    while (high > kCloseEnough * low) {
        const double gap = std::sqrt(low * high);
        Cut tried = cut_at(terms, least + gap, steepness);
        Markov found{};
        if (is_good(tried, found)) {
            best = std::move(tried);
            rest = found;
            high = gap;
        } else {
            low = gap;
        }
    }
    const auto none = [](const Law&) { return Masses{}; };
    const auto trimmed = [&](const Law& law) {
        return law.trimmed(best.at) ? law.larger(best.at) : Masses{};
    };
    const Masses found = masses_between(terms, none, trimmed);
    Topless made{best.terms, {}};
    Top& top = made.top;
    top.masses_ = found;
    top.tilt_ = rest.tilt;
    top.log_rest_ = rest.log_rest;
    return made;
}

Interval Top::delta(double x, double log_unit) const {
    const double unit = std::exp(-log_unit), grown = std::exp(x - log_unit);
    const double log_more = log_rest_ + (1.0 + tilt_) * x - log_unit;
    const double more = std::exp(std::min(log_more + kRounding * std::fabs(log_more), 700.0));
    const double lower =
        (masses_.mass.lower * unit - masses_.swapped.upper * grown * (1.0 + kRounding));
    const double upper =
        masses_.mass.upper * unit - masses_.swapped.lower * grown * (1.0 - kRounding) + more;
    const double error = kRounding * (1.0 + std::fabs(log_unit)) * masses_.mass.upper * unit;
    return {std::max(lower - error, 0.0), std::max(upper + error, 0.0)};
}

double Top::slope(double x, double log_unit) const {
    return masses_.swapped.lower * std::exp(x - log_unit);
}

}  // namespace tightnoise::contour
