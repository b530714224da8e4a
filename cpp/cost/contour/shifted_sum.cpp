#include "cost/contour/shifted_sum.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/shifted_kernels.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr std::size_t kGroup = 8;  // of nodes, that a kernel takes at once

// Of what is missing anyway: what all nodes may add that do not move any more.
constexpr double kStillShare = 1e-3;

}  // namespace

ShiftedSum::ShiftedSum(const ShiftedNodes& nodes, double centre, double step)
    : used_(nodes.loss.size()),
      step_(step),
      loss_error_(nodes.loss_error),
      missing_(nodes.missing),
      damping_(nodes.damping),
      real_(nodes.real),
      imaginary_(nodes.imaginary),
      error_(nodes.error) {
    const std::size_t n = (used_ + kGroup - 1) / kGroup * kGroup;
    for (auto* column : {&damping_, &real_, &imaginary_, &error_}) column->resize(n);
    for (auto* column : {&loss_, &size_, &turn_real_, &turn_imaginary_, &modulus_, &length_}) {
        column->resize(n);
    }
    for (std::size_t j = 0; j < used_; ++j) {
        loss_[j] = nodes.loss[j] - centre;
        length_[j] = std::sqrt(loss_[j] * loss_[j] + damping_[j] * damping_[j]);
        size_[j] = length_[j] + std::fabs(nodes.loss[j]) + std::fabs(centre);
        modulus_[j] = std::sqrt(real_[j] * real_[j] + imaginary_[j] * imaginary_[j]);
        weight_ += real_[j];
        rounding_ += kUnit * modulus_[j] * (error_[j] + static_cast<double>(n / 2 + 8));
    }
    turn_by(step, turn_real_, turn_imaginary_);
    // |W_j E_j + W_j| = |W_j| e^(-y Im l_j) is at most `nothing` from there on.
    const double nothing = kStillShare * missing_ / static_cast<double>(n + 1);
    missing_ += kStillShare * missing_;
    still_from_.resize(n / kGroup);
    double last = 0.0;
    for (std::size_t j = n; j-- > 0;) {
        if (modulus_[j] > nothing) {
            last = std::max(last, 1.0001 * log(modulus_[j] / nothing) / std::fabs(damping_[j]));
        }
        still_from_[j / kGroup] = last;
    }
}

void ShiftedSum::turn_by(double y, std::vector<double>& real,
                         std::vector<double>& imaginary) const {
    std::vector<double> decay(loss_.size());
    for (std::size_t j = 0; j < used_; ++j) {
        const double half = 0.5 * y * loss_[j];
        decay[j] = y * damping_[j];
        real[j] = std::sin(half);
        imaginary[j] = std::cos(half);
    }
    shifted_kernels().turns(used_, decay.data(), real.data(), imaginary.data());
}

void ShiftedSum::leave_out_up_to(double y) {
    while (moving_ > 0 && still_from_[moving_ / kGroup - 1] <= y) {
        for (std::size_t i = 0; i < kGroup; ++i) {
            --moving_;
            still_real_ += real_[moving_];
            still_imaginary_ += imaginary_[moving_];
        }
    }
}

// From one start to the next by a product as from one frequency to the next.
void ShiftedSum::start_at(std::size_t first) {
    const std::size_t n = loss_.size();
    if (first == 0) {
        start_real_.assign(n, 0.0);
        start_imaginary_.assign(n, 0.0);
        moving_ = n;
        still_real_ = still_imaginary_ = 0.0;
        known_to_ = -1.0;
    } else {
        if (far_turn_real_.empty()) {
            far_turn_real_.resize(n);
            far_turn_imaginary_.resize(n);
            turn_by(static_cast<double>(kRestart) * step_, far_turn_real_, far_turn_imaginary_);
        }
        for (std::size_t j = 0; j < moving_; ++j) {
            const double r = start_real_[j], i = start_imaginary_[j];
            const double s = far_turn_real_[j], t = far_turn_imaginary_[j];
            start_real_[j] = r + (r * s + (s - i * t));
            start_imaginary_[j] = i + (r * t + (t + i * s));
        }
    }
    moving_real_ = start_real_;
    moving_imaginary_ = start_imaginary_;
}

// A relative error e of W_j counts |W_j E_j| e, and |E_j| <= min(2, y |l_j|). An error of y l_j of
// e y |l_j| counts that times the damping, y e^(-y b) <= 1/(e b). From one frequency to the next,
// E_j gains what section 5.5 says and what the turn's argument errs by; it is never enlarged, as
// |r_j| <= 1. All of it is at most a slope times y, too: of so few steps, where y is small.
ShiftedSum::Rounding ShiftedSum::rounding_up_to(double y) const {
    const std::size_t n = loss_.size();  // half of two at once, in runs
    const double of_sum = static_cast<double>(std::min(n, kShiftedRun) / 4 + n / kShiftedRun + 16);
    const double steps = static_cast<double>(kRestart), far = steps * step_;
    const double starts = std::ceil(y / far);
    Rounding error{0.0, 0.0};
    for (std::size_t j = 0; j < used_; ++j) {
        const double length = length_[j], size = size_[j];
        const double moved = std::min(y * length, 2.0);
        const double turn = std::min(step_ * length, 2.0);
        const double far_turn = std::min(far * length, 2.0);
        const double longest = 0.37 / (damping_[j] + 1e-300);
        const double relative = error_[j] + of_sum + steps * (1.1 + 3.0 * turn) +
                                starts * (1.1 + 3.0 * far_turn);  // of E_j
        const double of_turns = steps * (9.0 * turn + 4.0 * size * std::min(step_, longest)) +
                                starts * (9.0 * far_turn + 4.0 * size * std::min(far, longest));
        error.most += modulus_[j] * (relative * moved + of_turns +
                                     (loss_error_ + 8.0) * size * std::min(y, longest));
        error.slope += modulus_[j] * ((relative + 18.0) * length + (loss_error_ + 16.0) * size);
    }
    return {1.01 * kUnit * error.most, 1.01 * kUnit * error.slope};
}

double ShiftedSum::error(double y) const {
    return std::min(known_.most, y * known_.slope);
}

void ShiftedSum::at(std::size_t first, double* real, double* imaginary) {
    if (first == 0 || first != next_) {  // at most as many starts as frequencies by kRestart
        for (std::size_t start = 0; start <= first; start += kRestart) start_at(start);
    } else if (first % kRestart == 0) {
        start_at(first);
    }
    next_ = first + kBlock;
    const double last = static_cast<double>(next_) * step_;
    if (last > known_to_) {  // the bound rises with y
        known_to_ = 2.0 * last;
        known_ = rounding_up_to(known_to_);
    }
    leave_out_up_to(static_cast<double>(first) * step_);
    const ShiftedColumns columns{
        moving_,           moving_real_.data(),    moving_imaginary_.data(),
        turn_real_.data(), turn_imaginary_.data(), real_.data(),
        imaginary_.data()};
    shifted_kernels().sums(columns, kBlock, real, imaginary);
    for (std::size_t k = 0; k < kBlock; ++k) {
        real[k] -= still_real_;
        imaginary[k] -= still_imaginary_;
    }
}

double ShiftedSum::log_tail(double y) const {
    std::size_t moving = 0;  // the others are in what is missing
    while (moving < loss_.size() && still_from_[moving / kGroup] > y) moving += kGroup;
    const double sum = shifted_kernels().tail(moving, modulus_.data(), damping_.data(), y);
    return std::log(sum * (1.0 + 1e-9) + missing_);
}

}  // namespace tightnoise::contour
