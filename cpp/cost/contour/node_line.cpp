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
    Characteristic total(double less, double error) const {
        Characteristic sum{-less, 0.0, error};
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
      small_(std::move(nodes.small)),
      large_(std::move(nodes.large)),
      moment_(moment),
      missing_(nodes.missing) {
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
        const double d = std::fabs(distance_[j]);
        variance += weight_[j] * d * d;
        error_slope_ += weight_[j] * ((nodes.error[j] + sum + 16.0) * d + nodes.loss_error * size);
        error_slope_ += weight_error_ / kUnit * weight_[j] * d;
    }
    error_slope_ *= kUnit * 1.01;
    for (std::size_t j = 0; j < large_.size(); ++j) {
        large_sum_ += large_[j];
        split_error_ += large_[j] * nodes.error[j] + 2.0 * weight_[j] * nodes.split_error[j];
    }
    split_error_ = kUnit * split_error_ + large_sum_ * (weight_error_ + kUnit * (4.0 * sum + 8.0));
    moment_.slope = centre_;
    moment_.curvature = variance;
}

Characteristics NodeLine::at(double y) const {
    Sum whole, small;
    const bool is_split = !small_.empty();
    for (std::size_t j = 0; j < weight_.size(); ++j) {
        const double half = 0.5 * y * distance_[j];
        const double s = std::sin(half), c = std::cos(half);
        whole.add(j, weight_[j], s, c);
        if (is_split) small.add(j, small_[j], s, c);
    }
    const double error = missing_ + y * error_slope_;
    const Characteristic all = whole.total(0.0, error);
    return {all, is_split ? small.total(large_sum_, error + split_error_) : all};
}

double DensityLine::log_tail(double y) const {
    return std::log((atoms_ + variation_ / y) * (1.0 + 1e-14));
}

}  // namespace tightnoise::contour
