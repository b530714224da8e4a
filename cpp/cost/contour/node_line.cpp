#include "cost/contour/node_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tightnoise::contour {
namespace {

constexpr std::size_t kLanes = 8;

// Sums of g (e^(2 i t) - 1) at one frequency.
struct Sum {
    double real[kLanes] = {}, imaginary[kLanes] = {};

    void take(Sum& run) {
        for (std::size_t k = 0; k < kLanes; ++k) {
            real[k] += run.real[k];
            imaginary[k] += run.imaginary[k];
        }
        run = {};
    }
    Characteristic total(double more, double error) const {
        Characteristic sum{more, 0.0, error};
        for (std::size_t k = 0; k < kLanes; ++k) {
            sum.real -= 2.0 * real[k];
            sum.imaginary += 2.0 * imaginary[k];
        }
        return sum;
    }
};

// A node a lane.
struct Lanes {
    double weight[kLanes] = {}, sine[kLanes], cosine[kLanes];

    void add_to(Sum& sum) const {
        for (std::size_t i = 0; i < kLanes; ++i) {
            const double share = weight[i] * sine[i];
            sum.real[i] += share * sine[i];
            sum.imaginary[i] += share * cosine[i];
        }
    }
};

constexpr std::size_t kRun = 32 * kLanes;  // nodes that are added up

double rounding_of_sum(std::size_t n) {
    return static_cast<double>(std::min(n, kRun) / kLanes + n / kRun + kLanes);
}

}  // namespace

NodeLine::NodeLine(TiltedNodes nodes, Moment moment)
    : distance_(std::move(nodes.loss)),
      weight_(std::move(nodes.weight)),
      large_(std::move(nodes.large)),
      moment_(moment),
      missing_(nodes.missing),
      step_(nodes.step),
      block_(nodes.block),
      large_error_(nodes.large_missing) {
    const std::size_t n = weight_.size();
    const std::vector<double> losses = distance_;
    double error = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        centre_ += weight_[j] * distance_[j];
        error += weight_[j] * nodes.error[j];
    }
    const double sum = rounding_of_sum(n);
    weight_error_ =
        kUnit * (2.0 * error + 2.0 * sum + nodes.sum_error.value_or(static_cast<double>(n)));
    // Section 6: |e^(i y d) - 1| <= y |d|, so a relative error of g_j, d_j or of the sine counts
    // y g_j |d_j| times itself, an error of the loss y g_j times itself.
    const double turning = 30.0 + 20.0 * static_cast<double>(block_);
    double variance = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double size = std::fabs(distance_[j]);
        distance_[j] -= centre_;
        turn_sine_.push_back(std::sin(0.5 * step_ * distance_[j]));
        turn_cosine_.push_back(std::cos(0.5 * step_ * distance_[j]));
        const double d = std::fabs(distance_[j]);
        const double turn = (sum + turning) * d + nodes.loss_error * size;  // of y L_j, in units u
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
    if (block_ == kManyNodes) take_sums(losses, nodes);
}

// Where no square of a weight underflows.
void NodeLine::take_sums(const std::vector<double>& losses, const TiltedNodes& nodes) {
    constexpr double kLeast = 1e-150;
    const auto underflows = [](double weight) { return weight != 0.0 && weight < kLeast; };
    for (const auto* weights : {&weight_, &large_}) {
        if (std::any_of(weights->begin(), weights->end(), underflows)) return;
    }
    const std::vector<double> none(losses.size(), 0.0);
    std::vector<double> errors = nodes.error;
    for (double& each : errors) each += weight_error_ / kUnit;
    std::vector<double> large_errors = errors;
    for (std::size_t j = 0; j < large_.size(); ++j) large_errors[j] += nodes.large_error[j];
    const auto of = [&](const std::vector<double>& weight, const std::vector<double>& error,
                        double missing) {
        return ShiftedSum({losses, none, weight, none, error, nodes.loss_error, missing}, centre_,
                          step_);
    };
    sums_.emplace(Sums{of(weight_, errors, missing_),
                       large_.empty() ? ShiftedSum({}, centre_, step_)
                                      : of(large_, large_errors, nodes.large_missing)});
}

// A sine and a cosine a node, and block - 1 rotations, which cost 20 units u of y |d| each:
// section 6.
void NodeLine::take(std::size_t first, Characteristics* out) const {
    std::vector<Sum> whole(block_), large(block_), run(block_), large_run(block_);
    const bool is_split = !large_.empty();
    const std::size_t n = weight_.size();
    const double y = static_cast<double>(first) * step_;
    for (std::size_t j = 0; j < n; j += kLanes) {
        Lanes at, part;
        double turn_sine[kLanes] = {}, turn_cosine[kLanes] = {};
        for (std::size_t i = 0; i < std::min(kLanes, n - j); ++i) {
            at.weight[i] = weight_[j + i];
            part.weight[i] = is_split ? large_[j + i] : 0.0;
            turn_sine[i] = turn_sine_[j + i];
            turn_cosine[i] = turn_cosine_[j + i];
        }
        for (std::size_t i = 0; i < kLanes; ++i) {
            const double turn = j + i < n ? 0.5 * y * distance_[j + i] : 0.0;
            at.sine[i] = std::sin(turn);
            at.cosine[i] = std::cos(turn);
        }
        for (std::size_t k = 0; k < block_; ++k) {
            at.add_to(run[k]);
            if (is_split) {
                std::copy_n(at.sine, kLanes, part.sine);
                std::copy_n(at.cosine, kLanes, part.cosine);
                part.add_to(large_run[k]);
            }
            for (std::size_t i = 0; i < kLanes; ++i) {
                const double s = at.sine[i], c = at.cosine[i];
                at.sine[i] = s * turn_cosine[i] + c * turn_sine[i];
                at.cosine[i] = c * turn_cosine[i] - s * turn_sine[i];
            }
        }
        if ((j + kLanes) % kRun != 0 && j + kLanes < n) continue;
        for (std::size_t k = 0; k < block_; ++k) {
            whole[k].take(run[k]);
            large[k].take(large_run[k]);
        }
    }
    for (std::size_t k = 0; k < block_; ++k) {
        const double reached = static_cast<double>(first + k) * step_;
        out[k] = {whole[k].total(0.0, missing_ + reached * error_slope_),
                  large[k].total(large_sum_, large_error_ + reached * large_error_slope_)};
    }
}

// The same with no sine or cosine at all.
void NodeLine::take_many(std::size_t first, Characteristics* out) const {
    double real[kManyNodes], imaginary[kManyNodes];
    const auto y = [&](std::size_t k) { return static_cast<double>(first + k) * step_; };
    sums_->whole.at(first, real, imaginary);
    for (std::size_t k = 0; k < kManyNodes; ++k) {
        const double error = sums_->whole.missing() + sums_->whole.error(y(k));
        out[k] = {{real[k], imaginary[k], error}, {}};
    }
    if (large_.empty()) return;
    sums_->large.at(first, real, imaginary);
    for (std::size_t k = 0; k < kManyNodes; ++k) {
        const double error =
            sums_->large.missing() + sums_->large.rounding() + sums_->large.error(y(k));
        out[k].large = {sums_->large.weight() + real[k], imaginary[k], error};
    }
}

void NodeLine::at(std::size_t first, std::size_t count, Characteristics* out) const {
    for (std::size_t k = 0; k < count; k += block_) {
        if (sums_) {
            take_many(first + k, out + k);
        } else {
            take(first + k, out + k);
        }
    }
}

}  // namespace tightnoise::contour
