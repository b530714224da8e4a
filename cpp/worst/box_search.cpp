#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/roots.hpp"
#include "worst/box_loss.hpp"

namespace tightnoise {
namespace {

// Accepted is a bound between 2 kClose and kRoom below epsilon, relatively. The steps aim at
// kClose.
constexpr double kClose = 1.2e-13, kRoom = 4e-14;

// Bounds at one scale that were started from different shares differ by less, relatively.
constexpr double kSame = 3e-14;

// Whether the bound at `scale`, as a search from the start gives it, is at most epsilon. One from
// where the last scale left off says so as well, if the answer is not close.
bool is_private(BoxLoss& loss, double scale, double epsilon) {
    const double bound = loss.at(scale, kInfinity).bound;
    if (std::fabs(bound - epsilon) > kSame * epsilon) return bound < epsilon;
    loss.forget();
    return loss.at(scale, kInfinity).bound <= epsilon;
}

// The secant rule for log loss by log scale, which is nearly a line: the loss falls at least like
// scale^(-1/2), and like scale^-2 at most. What it returns is a scale at which a bound of the loss
// was below epsilon, whatever happened on the way.
double search(BoxLoss& loss, double epsilon) {
    constexpr int kMostTrials = 200;
    loss.forget();
    const double target = epsilon * (1.0 - kClose);
    auto [scale, power] = loss.guess(epsilon);
    double low = 0.0, high = kInfinity;
    double last_scale = 0.0, last_error = 0.0;
    for (int trial = 0; trial < kMostTrials; ++trial) {
        const LossBound result = loss.at(scale, target);
        const bool safe = result.bound <= epsilon * (1.0 - kRoom);
        if (safe && result.bound >= target * (1.0 - kClose)) return scale;
        if (!(result.bound < kInfinity)) {  // overflow: far too narrow
            scale *= 0x1p64;
            continue;
        }
        const double about = std::max(result.bound - result.gap, result.least);
        const double error = std::log(about / target);
        if (safe) high = std::min(high, scale);
        if (result.least > epsilon) low = std::max(low, scale);

        const double measured = (error - last_error) / std::log(scale / last_scale);
        if (last_scale > 0.0 && measured > -3.0 && measured < -0.3) power = measured;
        last_scale = scale;
        last_error = error;
        double next = scale * std::exp(std::clamp(-error / power, -30.0, 30.0));
        if (next <= low) next = std::sqrt(scale) * std::sqrt(low);
        if (next >= high) next = std::sqrt(scale) * std::sqrt(high);
        scale = next;
    }
    return high;
}

}  // namespace

double epsilon_of_scale(BoxLoss& loss, double scale) {
    constexpr double kLost = 1e-290;  // losses below it may have been counted as nothing
    loss.forget();
    const LossBound result = loss.at(scale, kInfinity);
    return result.bound < kInfinity ? result.bound + kLost : kInfinity;
}

// Of 43 significant bits: the losses at neighbouring scales of this grid, 1.1e-13 apart at least,
// differ by more than their bounds do from the truth. So whether a scale is private changes once
// along it, and the answer rises or stays as epsilon falls. Where bounds are looser, the search's
// own answer is private, too.
double scale_of_epsilon(BoxLoss& loss, double epsilon) {
    constexpr std::uint64_t kSpacing = 1024;
    constexpr int kMostSteps = 12;
    constexpr double kLeast = 0x1p-1000;  // no grid for what is no normal number, or nearly none
    const double found = search(loss, epsilon);
    if (!(found > kLeast && found < kInfinity)) return found;
    const double scale = least_good([&](double at) { return is_private(loss, at, epsilon); }, found,
                                    kSpacing, kMostSteps);
    return scale < kInfinity ? scale : found;
}

}  // namespace tightnoise
