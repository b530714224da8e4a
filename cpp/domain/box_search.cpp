#include <algorithm>
#include <cmath>
#include <limits>

#include "domain/box_loss.hpp"

namespace tightnoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Accepted is a bound between 2 kClose and kRoom below epsilon, relatively: a search from another
// start, with another gap, must not end above it. The steps aim at kClose.
constexpr double kClose = 1.2e-13, kRoom = 4e-14;

}  // namespace

double epsilon_of_scale(BoxLoss& loss, double scale) {
    constexpr double kLost = 1e-290;  // losses below it may have been counted as nothing
    loss.forget();
    const LossBound result = loss.at(scale, kInfinity);
    return result.bound < kInfinity ? result.bound + kLost : kInfinity;
}

// The secant rule for log loss by log scale, which is nearly a line: the loss falls at least like
// scale^(-1/2), and like scale^-2 at most. What it returns is a scale at which a bound of the loss
// was below epsilon, whatever happened on the way.
double scale_of_epsilon(BoxLoss& loss, double epsilon) {
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

}  // namespace tightnoise
