#include "cost/contour/shifted_sum.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/shifted_kernels.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

struct Turned {
    double real, imaginary;
};

// e^(i y (d + i b)) - 1 with the digits of its own size.
Turned turned(double y, double d, double b) {
    const double shrink = exp(-y * b), half = std::sin(0.5 * y * d);
    return {expm1(-y * b) - 2.0 * shrink * half * half, shrink * std::sin(y * d)};
}

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
    const std::size_t n = (used_ + 7) / 8 * 8;
    for (auto* column : {&damping_, &real_, &imaginary_, &error_}) column->resize(n);
    for (auto* column : {&loss_, &size_, &turn_real_, &turn_imaginary_, &modulus_, &length_}) {
        column->resize(n);
    }
    for (std::size_t j = 0; j < used_; ++j) {
        loss_[j] = nodes.loss[j] - centre;
        length_[j] = std::sqrt(loss_[j] * loss_[j] + damping_[j] * damping_[j]);
        size_[j] = length_[j] + std::fabs(nodes.loss[j]) + std::fabs(centre);
        const Turned turn = turned(step, loss_[j], damping_[j]);
        turn_real_[j] = turn.real;
        turn_imaginary_[j] = turn.imaginary;
        modulus_[j] = std::sqrt(real_[j] * real_[j] + imaginary_[j] * imaginary_[j]);
        weight_ += real_[j];
        rounding_ += kUnit * modulus_[j] * (error_[j] + static_cast<double>(n / 2 + 8));
    }
}

// From one start to the next by a product as from one frequency to the next.
void ShiftedSum::start_at(std::size_t first) {
    const std::size_t n = loss_.size();
    if (first == 0) {
        start_real_.assign(n, 0.0);
        start_imaginary_.assign(n, 0.0);
    } else {
        if (far_turn_real_.empty()) {
            far_turn_real_.resize(n);
            far_turn_imaginary_.resize(n);
            for (std::size_t j = 0; j < used_; ++j) {
                const Turned turn =
                    turned(static_cast<double>(kRestart) * step_, loss_[j], damping_[j]);
                far_turn_real_[j] = turn.real;
                far_turn_imaginary_[j] = turn.imaginary;
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
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
// |r_j| <= 1.
double ShiftedSum::error_up_to(double y) const {
    const double of_sum = static_cast<double>(loss_.size() / 4 + 16);
    const double far = static_cast<double>(kRestart) * step_, starts = std::ceil(y / far);
    double error = 0.0;
    for (std::size_t j = 0; j < used_; ++j) {
        const double moved = std::min(y * length_[j], 2.0);
        const double turn = std::min(step_ * length_[j], 2.0);
        const double far_turn = std::min(far * length_[j], 2.0);
        const double longest = 0.37 / (damping_[j] + 1e-300);
        const double argument = (loss_error_ + 8.0) * size_[j] * std::min(y, longest);
        const double steps =
            static_cast<double>(kRestart) * ((1.1 + 3.0 * turn) * moved + 7.0 * turn +
                                             4.0 * size_[j] * std::min(step_, longest)) +
            starts * ((1.1 + 3.0 * far_turn) * moved + 7.0 * far_turn +
                      4.0 * size_[j] * std::min(far, longest));
        error += modulus_[j] * ((error_[j] + of_sum) * moved + argument + steps);
    }
    return 1.01 * kUnit * error;
}

double ShiftedSum::at(std::size_t first, double* real, double* imaginary) {
    if (first == 0 || first != next_) {  // at most as many starts as frequencies by kRestart
        for (std::size_t start = 0; start <= first; start += kRestart) start_at(start);
    } else if (first % kRestart == 0) {
        start_at(first);
    }
    next_ = first + kBlock;
    const double last = static_cast<double>(next_) * step_;
    if (last > known_to_) {  // the bound rises with y
        known_to_ = 2.0 * last;
        known_error_ = error_up_to(known_to_);
    }
    const ShiftedColumns columns{
        loss_.size(),           moving_real_.data(), moving_imaginary_.data(), turn_real_.data(),
        turn_imaginary_.data(), real_.data(),        imaginary_.data()};
    shifted_kernels().sums(columns, kBlock, real, imaginary);
    return known_error_;
}

double ShiftedSum::log_tail(double y) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < used_; ++j) sum += modulus_[j] * std::exp(-y * damping_[j]);
    return std::log(sum * (1.0 + 1e-9) + missing_);
}

}  // namespace tightnoise::contour
