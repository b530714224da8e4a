#include "cost/contour/fixed_size_gaussian_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/elementary.hpp"

namespace tightnoise::contour {

FixedSizeGaussianLine::FixedSizeGaussianLine(const FixedSizeGaussianLaw& law,
                                             const LineRequest& request, const Moment& moment,
                                             Parts parts)
    : law_(law),
      tilt_(request.tilt),
      step_(request.step),
      moment_(moment),
      parts_(std::move(parts)) {}

void FixedSizeGaussianLine::at(std::size_t first, std::size_t count, Characteristics* out) const {
    double real[ShiftedSum::kBlock], imaginary[ShiftedSum::kBlock];
    double other_real[ShiftedSum::kBlock], other_imaginary[ShiftedSum::kBlock];
    for (std::size_t start = 0; start < count; start += ShiftedSum::kBlock) {
        parts_.above.at(first + start, real, imaginary);
        parts_.below.at(first + start, other_real, other_imaginary);
        const double missing = 2.0 * (parts_.above.missing() + parts_.below.missing());
        for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {
            const double y = static_cast<double>(first + start + k) * step_;
            const double turn = y * moment_.slope, half = std::sin(0.5 * turn);
            const double large_re = real[k] + other_real[k];
            const double large_im = imaginary[k] - other_imaginary[k];
            const double re = large_re - 2.0 * parts_.at_zero * half * half;
            const double im = large_im - parts_.at_zero * std::sin(turn);
            const double of_large = parts_.above.error(y) + parts_.below.error(y) + missing;
            const double error = of_large + 16.0 * kUnit * parts_.at_zero * std::fabs(turn) +
                                 moment_.error * (std::fabs(re) + std::fabs(im));
            const bool is_known = y <= parts_.most_y;
            out[start + k] = {{re, im, is_known ? error : kInfinite}, {}};
            if (parts_.is_large_all) {  // sum_j W_j = 1 - at_zero
                const double known = of_large + 2.0 * moment_.error + 8.0 * kUnit;
                out[start + k].large = {1.0 - parts_.at_zero + large_re, large_im,
                                        is_known ? known : kInfinite};
            }
        }
        if (parts_.is_large_all) continue;
        if (parts_.large.nodes() == 0) {  // all may have been left out
            for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {
                out[start + k].large.error = 2.0 * parts_.large.missing();
            }
            continue;
        }
        parts_.large.at(first + start, real, imaginary);
        const double rounding = parts_.large.rounding() + 2.0 * parts_.large.missing();
        for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {
            const double y = static_cast<double>(first + start + k) * step_;
            const double re = parts_.large.weight() + real[k], im = imaginary[k];
            const double error =
                parts_.large.error(y) + rounding + moment_.error * (std::fabs(re) + std::fabs(im));
            out[start + k].large = {re, im, y <= parts_.most_y ? error : kInfinite};
        }
    }
}

double FixedSizeGaussianLine::log_damped(double y, double at_zero) const {
    const double rounding = parts_.above.rounding() + parts_.below.rounding() + 1e-300;
    return std::log(parts_.tail.at(y) + at_zero * (1.0 + 1e-9) + rounding) + moment_.error;
}

double FixedSizeGaussianLine::log_large_tail(double y) const {
    if (parts_.is_large_all) return log_damped(y, 0.0);
    const double rounding = parts_.large.rounding() + 1e-300;
    return std::log(parts_.tail_of_large.at(y) + rounding) + moment_.error;
}

void FixedSizeGaussianLine::find_windows() const {
    constexpr double kFirst = 0.05, kFactor = 1.5, kEnough = -4.0;
    constexpr int kMost = 100;
    double y = kFirst / std::sqrt(moment_.curvature + 1e-300);
    for (int i = 0; i < kMost; ++i, y *= kFactor) {
        const double beyond = log_damped(y, parts_.at_zero);
        if (!(beyond < 0.0)) continue;
        const double spread = law_.spread_within(kPi / y, tilt_, moment_.value + moment_.error);
        windows_.push_back({y, beyond, spread});
        if (beyond < kEnough) break;
    }
    if (windows_.empty()) windows_.push_back({0.0, 0.0, 0.0});
}

// 1 - cos u >= 2 u^2/pi^2 for |u| <= pi.
double FixedSizeGaussianLine::log_tail(double y) const {
    if (windows_.empty()) find_windows();
    double best = std::min(log_damped(y, parts_.at_zero), 0.0);
    for (const Window& window : windows_) {
        if (!(y < window.end)) continue;
        const double less = 2.0 / (kPi * kPi) * y * y * window.spread;
        const double within = less < 1.0 ? 0.5 * std::log1p(-less) : -kInfinite;
        best = std::min(best, std::max(within, window.log_beyond));
    }
    return best;
}

}  // namespace tightnoise::contour
