#include "cost/dp_sgd_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "cost/best_order.hpp"
#include "cost/sampled_gaussian.hpp"
#include "numeric/elementary.hpp"
#include "numeric/roots.hpp"

namespace tightnoise {
namespace {

constexpr double kMostSteps = 0x1p53;
constexpr double kLeastRate = 1e-100, kLeastNoise = 1e-100;

// Close enough below epsilon, and how close two y may be that are told apart.
constexpr double kClose = 5e-10;
constexpr double kResolution = 2e-13;

// The search starts with orders that fit to 2^(2^(1 - kScales)), and then takes this many steps of
// Newton's method before it looks around.
constexpr int kScales = 6, kNewtonRounds = 5;

// So many steps of one mechanism.
SampledGaussianSum training(double noise_multiplier, double sampling_rate, double steps) {
    return SampledGaussianSum({{{noise_multiplier, sampling_rate}, steps}});
}

double cost(const RdpFunction& function, double alpha) {
    double rdp;
    function(&alpha, &rdp, 1);
    return rdp;
}

BestOrder best(const RdpFunction& function, const Target& t) {
    return best_epsilon(function, t.conversion, t.delta);
}

double budget(const Target& t, double alpha) {
    return rdp_lower(t.conversion, alpha, t.epsilon, t.delta);
}

// The order that proves most for a plain Gaussian by the classic conversion: with h = a - 1 and
// L = log(1/delta), (epsilon - L/h)/a is greatest at h = (L + sqrt(L^2 + L epsilon))/epsilon.
// Elsewhere it is a start. If that allows nothing, the last order allows most.
double first_order(const Target& t) {
    const double l = -std::log(t.delta);
    const double h = (l + std::sqrt(l) * std::sqrt(l + t.epsilon)) / t.epsilon;
    const double alpha = 1.0 + std::clamp(h, kLeastSearched, kGreatestSearched);
    return budget(t, alpha) > 0.0 ? alpha : 1.0 + kGreatestSearched;
}

// log(cost / budget) of an order, not positive where it proves the target.
template <class At>
double excess(At at, const Target& t, double alpha, double y) {
    const double allowed = budget(t, alpha);
    if (!(allowed > 0.0)) return kInfinity;
    return std::clamp(std::log(cost(at(y), alpha)) - std::log(allowed), -1e6, 1e6);
}

// The greatest y in [low, cap] at which this order proves the target, if it does so at `low`.
template <class At>
double highest_of_order(At at, const Target& t, double alpha, double low, double cap) {
    const auto f = [&](double y) { return excess(at, t, alpha, y); };
    // The cost is at least proportional to 1 / sigma^2; to q it is less steep where it is large.
    double step = 1e-9 - 0.5 * std::min(f(low), 0.0);
    double high = std::min(low + step, cap);
    while (high < cap && f(high) < 0.0) {
        low = high;
        step *= 2.0;
        high = std::min(low + step, cap);
    }
    return root_from_below(f, low, high, 0.5 * kResolution);
}

// The same for the best of the orders around alpha: by factors 2^(+-1) of alpha - 1 as long as that
// helps, then by their square roots, and so on. Takes no slope for granted: where sampling hides a
// record, and then suddenly does not, y(a) has a corner.
template <class At>
double highest_of_orders(At at, const Target& t, double alpha, double low, double cap, int scales) {
    double y = highest_of_order(at, t, alpha, low, cap);
    double doublings = 1.0;
    for (int scale = 0; scale < scales; ++scale, doublings *= 0.5) {
        for (const double factor : {std::exp2(-doublings), std::exp2(doublings)}) {
            for (;;) {
                const double h = factor * (alpha - 1.0), other = 1.0 + h;
                if (h < kLeastSearched || h > kGreatestSearched || y >= cap) break;
                if (!(excess(at, t, other, y) < -kResolution)) break;
                y = highest_of_order(at, t, other, y, cap);
                alpha = other;
            }
        }
    }
    return y;
}

// The greatest y up to `cap` that best_epsilon finds private, from `start` on, which an order
// proves; -infinity if it finds none.
template <class At>
double highest(At at, const Target& t, double start, double cap) {
    const Target aim{t.epsilon * (1.0 - 0.2 * kClose), t.delta, t.conversion};
    const auto is_close = [&](double value) { return value >= t.epsilon * (1.0 - kClose); };
    double low = start;
    BestOrder here = best(at(low), t);
    // An order proves `start` but for rounding, and best_epsilon may find one less good by a
    // little.
    for (double step = kResolution; here.value > t.epsilon; step *= 2.0) {
        if (step > 1e3) return -kInfinity;
        low = start - step;
        here = best(at(low), t);
    }
    double high = kInfinity;
    for (int round = 0; round < kNewtonRounds; ++round) {
        if (is_close(here.value) || low >= cap) return low;
        const double next = highest_of_order(at, aim, here.alpha, low, cap);
        if (!(next > low)) break;
        const BestOrder there = best(at(next), t);
        if (there.value > t.epsilon) {
            high = next;
            break;
        }
        low = next;
        here = there;
    }
    // Where y(a) has a corner, or hardly depends on epsilon: without derivatives.
    const auto f = [&](double y) {
        const double value = best(at(y), t).value;
        if (value <= t.epsilon && is_close(value)) return 0.0;
        return std::clamp(std::log(value / t.epsilon), -1e6, 1e6);
    };
    for (double step = 1e-8; high == kInfinity; step *= 4.0) {
        const double next = std::min(low + step, cap);
        const double there = f(next);
        if (there == 0.0) return next;
        (there < 0.0 ? low : high) = next;
        if (low >= cap) return low;
    }
    return root_from_below(f, low, high, kResolution);
}

}  // namespace

double smallest_noise_multiplier(const Target& target, double sampling_rate, double steps) {
    const auto at = [=](double y) { return training(std::exp(-y), sampling_rate, steps); };
    const double alpha = first_order(target);
    const double allowed = budget(target, alpha);
    if (!(allowed > 0.0)) return kInfinity;
    // Sampling only helps: a/(2 sigma^2) a step at most, and a little for the rounding of bounds.
    const double twice = std::log(0.5 * alpha * steps) - std::log(allowed);
    const double start = -0.5 * twice - 1e-9;
    const double cap = -std::log(kLeastNoise);
    const double y = highest_of_orders(at, target, alpha, std::min(start, cap), cap, kScales);
    return std::exp(-highest(at, target, y, cap));
}

double largest_sampling_rate(const Target& target, double noise_multiplier, double steps) {
    const auto at = [=](double y) { return training(noise_multiplier, std::exp(y), steps); };
    const double least = std::log(kLeastRate);
    double alpha = first_order(target);
    // Large orders see little of the sampling where noise is small.
    while (!(cost(at(least), alpha) <= budget(target, alpha))) {
        if (alpha - 1.0 < 4.0 * kLeastSearched) return 0.0;
        alpha = 1.0 + 0.25 * (alpha - 1.0);
    }
    const double y = highest_of_orders(at, target, alpha, least, 0.0, kScales);
    return std::exp(highest(at, target, y, 0.0));
}

double most_steps(const Target& target, double noise_multiplier, double sampling_rate) {
    const auto at = [=](double n) { return training(noise_multiplier, sampling_rate, n); };
    const auto is_private = [&](double n) { return best(at(n), target).value <= target.epsilon; };
    const auto of_order = [&](double alpha) {
        const double steps = budget(target, alpha) / cost(at(1.0), alpha);
        return std::min(std::floor(steps), kMostSteps);
    };
    // As in `highest`, in whole steps.
    double low = of_order(first_order(target));
    if (low < 1.0) low = 1.0;
    for (int round = 0; round < 20; ++round) {
        const BestOrder here = best(at(low), target);
        if (!(here.value <= target.epsilon)) break;
        const double next = of_order(here.alpha);
        if (!(next > low)) break;
        low = next;
    }
    // Rounding may have taken it a step too far, or not far enough: by larger steps until there are
    // neighbours of which one is private and the other is not.
    double high = kInfinity;
    for (double step = 1.0; low > 0.0 && !is_private(low); step *= 2.0) {
        high = low;
        low = std::max(low - step, 0.0);
    }
    for (double step = 1.0; high == kInfinity; step *= 2.0) {
        if (low == kMostSteps) return low;
        const double next = std::min(low + step, kMostSteps);
        (is_private(next) ? low : high) = next;
    }
    while (high - low > 1.0) {
        const double middle = std::floor(low + 0.5 * (high - low));
        (is_private(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace tightnoise
