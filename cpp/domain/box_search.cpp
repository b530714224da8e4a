#include <algorithm>
#include <cmath>
#include <limits>

#include "domain/box_loss.hpp"

namespace tightnoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The last step of a search aims at the middle of what is accepted.
constexpr double kClose = 1.2e-13;

}  // namespace

double epsilon_of_scale(BoxLoss& loss, double scale) {
    constexpr double kLost = 1e-290;  // losses below it may have been counted as nothing
    loss.forget();
    const LossBound result = loss.at(scale, kInfinity);
    return result.bound < kInfinity ? result.bound + kLost : kInfinity;
}

// The secant rule for log loss by log scale, nearly a line: loss is between scale^-2 and
// scale^-1/2. What it returns is a scale at which a bound of the loss was at most epsilon.
double scale_of_epsilon(BoxLoss& loss, double epsilon) {
    constexpr int kMostTrials = 200;
    loss.forget();
    const double target = epsilon * (1.0 - kClose);
    auto [scale, power] = loss.guess(epsilon);
    double low = 0.0, high = kInfinity;
    double last_scale = 0.0, last_error = 0.0;
    for (int trial = 0; trial < kMostTrials; ++trial) {
        const LossBound result = loss.at(scale, target);
        const bool safe = result.bound <= epsilon;
        if (safe && result.bound >= target * (1.0 - kClose)) return scale;
        const double error = std::log((result.bound - result.gap) / target);
        if (safe) high = std::min(high, scale);
        if (!safe && error > 0.0) low = std::max(low, scale);

        const double measured = (error - last_error) / std::log(scale / last_scale);
        if (last_scale > 0.0 && measured > -3.0 && measured < -0.3) power = measured;
        last_scale = scale;
        last_error = error;
        const double next = scale * std::exp(std::clamp(-error / power, -30.0, 30.0));
        const double middle = high < kInfinity ? std::sqrt(low) * std::sqrt(high) : 2.0 * low;
        scale = next > low && next < high ? next : middle;
    }
    return high;
}

}  // namespace tightnoise
