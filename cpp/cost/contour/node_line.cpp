#include "cost/contour/node_line.hpp"

#include <cmath>
#include <utility>

namespace tightnoise::contour {
namespace {

constexpr std::size_t kLanes = 8;

// In eight running sums, as at() adds.
double rounding_of_sum(std::size_t n) {
    return static_cast<double>(n / kLanes + kLanes);
}

}  // namespace

NodeLine::NodeLine(TiltedNodes nodes, Moment moment)
    : distance_(std::move(nodes.loss)),
      weight_(std::move(nodes.weight)),
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
    moment_.slope = centre_;
    moment_.curvature = variance;
}

Characteristic NodeLine::at(double y) const {
    const std::size_t n = weight_.size();
    double real[kLanes] = {}, imaginary[kLanes] = {};
    for (std::size_t j = 0; j < n; ++j) {
        const double half = 0.5 * y * distance_[j];
        const double s = std::sin(half), c = std::cos(half);
        real[j % kLanes] -= 2.0 * weight_[j] * (s * s);
        imaginary[j % kLanes] += 2.0 * weight_[j] * (s * c);
    }
    Characteristic phi{0.0, 0.0, missing_ + y * error_slope_};
    for (std::size_t k = 0; k < kLanes; ++k) {
        phi.real += real[k];
        phi.imaginary += imaginary[k];
    }
    return phi;
}

double DensityLine::log_tail(double y) const {
    return std::log((atoms_ + variation_ / y) * (1.0 + 1e-14));
}

}  // namespace tightnoise::contour
