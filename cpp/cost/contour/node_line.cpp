#include "cost/contour/node_line.hpp"

#include <cmath>
#include <utility>

namespace tightnoise::contour {
namespace {

constexpr std::size_t kLanes = 8;

// g (e^(2 i t) - 1), in eight running sums.
struct Sum {
    double real[kLanes] = {}, imaginary[kLanes] = {};

    void add(std::size_t j, double weight, double sine, double cosine) {
        real[j % kLanes] -= 2.0 * weight * (sine * sine);
        imaginary[j % kLanes] += 2.0 * weight * (sine * cosine);
    }
    Characteristic total(double more, double error) const {
        Characteristic sum{more, 0.0, error};
        for (std::size_t k = 0; k < kLanes; ++k) {
            sum.real += real[k];
            sum.imaginary += imaginary[k];
        }
        return sum;
    }
};
double rounding_of_sum(std::size_t n) {
    return static_cast<double>(n / kLanes + kLanes);
}

}  // namespace

NodeLine::NodeLine(TiltedNodes nodes, Moment moment)
    : distance_(std::move(nodes.loss)),
      weight_(std::move(nodes.weight)),
      large_(std::move(nodes.large)),
      moment_(moment),
      missing_(nodes.missing),
      step_(nodes.step),
      large_error_(nodes.large_missing) {
    const std::size_t n = weight_.size();
    double error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        centre_ += weight_[j] * distance_[j];
        error += weight_[j] * nodes.error[j];
    }
    const double sum = rounding_of_sum(n);
    weight_error_ = kUnit * (2.0 * error + 2.0 * sum + static_cast<double>(n));
    // Section 6: |e^(i y d) - 1| <= y |d|, so a relative error of g_j, d_j or of the sine counts
    // y g_j |d_j| times itself, an error of the loss y g_j times itself.
    double variance = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double size = std::fabs(distance_[j]);
        distance_[j] -= centre_;
        turn_sine_.push_back(std::sin(0.5 * step_ * distance_[j]));
        turn_cosine_.push_back(std::cos(0.5 * step_ * distance_[j]));
        const double d = std::fabs(distance_[j]);
        const double turn = (sum + 110.0) * d + nodes.loss_error * size;  // of y L_j, in units u
        variance += weight_[j] * d * d;
        error_slope_ += weight_[j] * (turn + (nodes.error[j] + weight_error_ / kUnit) * d);
        if (large_.empty()) continue;
        const double relative = nodes.error[j] + nodes.large_error[j] + weight_error_ / kUnit;
        large_sum_ += large_[j];
        large_error_ += 1.01 * kUnit * large_[j] * (relative + 4.0 * sum + 8.0);
        large_error_slope_ += 1.01 * kUnit * large_[j] * turn;
    }
    error_slope_ *= 1.01 * kUnit;
    moment_.slope = centre_;
    moment_.curvature = variance;
}

// A sine and a cosine a node, and kBlock - 1 rotations, which cost 100 units u of y |d|: section 6.
void NodeLine::take(std::size_t first, Characteristics* out) const {
    Sum whole[kBlock], large[kBlock];
    const bool is_split = !large_.empty();
    const double y = static_cast<double>(first) * step_;
    for (std::size_t j = 0; j < weight_.size(); ++j) {
        double s = std::sin(0.5 * y * distance_[j]), c = std::cos(0.5 * y * distance_[j]);
        for (std::size_t k = 0; k < kBlock; ++k) {
            whole[k].add(j, weight_[j], s, c);
            if (is_split) large[k].add(j, large_[j], s, c);
            const double next = s * turn_cosine_[j] + c * turn_sine_[j];
            c = c * turn_cosine_[j] - s * turn_sine_[j];
            s = next;
        }
    }
    for (std::size_t k = 0; k < kBlock; ++k) {
        const double at = static_cast<double>(first + k) * step_;
        out[k] = {whole[k].total(0.0, missing_ + at * error_slope_),
                  large[k].total(large_sum_, large_error_ + at * large_error_slope_)};
    }
}

void NodeLine::at(std::size_t first, std::size_t count, Characteristics* out) const {
    for (std::size_t k = 0; k < count; k += kBlock) take(first + k, out + k);
}

double DensityLine::log_tail(double y) const {
    return std::log((atoms_ + variation_ / y) * (1.0 + 1e-14));
}

}  // namespace tightnoise::contour
