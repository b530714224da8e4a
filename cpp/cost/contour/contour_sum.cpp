// The sums over a contour's frequencies: CONTOUR.md, sections 1 and 6.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>

#include "cost/contour/contour.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t kLanes = 8, kRun = 16 * kLanes;  // of frequencies that are summed at once

}  // namespace

// F/(s(s + 1)), and what does not depend on x.
void Contour::tabulate() {
    Frequency& first = frequencies_.front();  // counts half
    first.real *= 0.5;
    first.imaginary *= 0.5;
    first.error *= 0.5;
    const std::size_t blocks = (frequencies_.size() + kLanes - 1) / kLanes;
    table_ = {};
    table_.real.assign(blocks * kLanes, 0.0);
    table_.imaginary = table_.real;
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
        const Frequency& at = frequencies_[k];
        const Complex s(tilt_, at.y), weight = 1.0 / (s * (s + 1.0));
        const Complex value = Complex(at.real, at.imaginary) * weight;
        table_.real[k] = value.real();
        table_.imaginary[k] = value.imag();
        const double of_weight = std::abs(weight);
        const double modulus = std::hypot(at.real, at.imaginary) * of_weight;
        table_.size += modulus;
        table_.slope += modulus * at.y;
        table_.error += of_weight * at.error;
    }
}

double Contour::turn(double x) const {
    return centre_ + smoothing_ * smoothing_ * (tilt_ + 0.5) - x;
}

double Contour::turn_error(double turn, double x) const {
    const double moved = smoothing_ * smoothing_ * (tilt_ + 0.5);
    return kUnit * (centre_size_ + 4.0 * (std::fabs(centre_) + moved) + 4.0 * std::fabs(x) +
                    std::fabs(turn));
}

// Sines and cosines of the first of kLanes frequencies come from the library, those of the others
// by one rotation each. With the kernel 1/(s + 1) the terms are s times those of D: its slope's.
Contour::Sum Contour::sum(double x) const {
    const double turn = this->turn(x);
    std::array<double, kLanes> cosines, sines, total{}, rise{};
    for (std::size_t j = 0; j < kLanes; ++j) {
        const double angle = static_cast<double>(j) * step_ * turn;
        cosines[j] = std::cos(angle);
        sines[j] = std::sin(angle);
    }
    const std::size_t n = table_.real.size();
    for (std::size_t start = 0; start < n; start += kRun) {
        std::array<double, kLanes> run{}, rising{};
        for (std::size_t k = start; k < std::min(start + kRun, n); k += kLanes) {
            const double y = static_cast<double>(k) * step_, angle = y * turn;
            const double c = std::cos(angle), s = std::sin(angle);
            for (std::size_t j = 0; j < kLanes; ++j) {
                const double cosine = c * cosines[j] - s * sines[j];
                const double sine = s * cosines[j] + c * sines[j];
                run[j] += table_.real[k + j] * cosine - table_.imaginary[k + j] * sine;
                rising[j] += (y + static_cast<double>(j) * step_) *
                             (table_.real[k + j] * sine + table_.imaginary[k + j] * cosine);
            }
        }
        for (std::size_t j = 0; j < kLanes; ++j) {
            total[j] += run[j];
            rise[j] += rising[j];
        }
    }
    double value = 0.0, slope = 0.0;
    for (std::size_t j = 0; j < kLanes; ++j) {
        value += total[j];
        slope -= rise[j];
    }
    slope += tilt_ * value;
    const double additions = static_cast<double>(n / kRun + std::min(n, kRun) / kLanes + kLanes);
    const double error =
        table_.error + turn_error(turn, x) * table_.slope +
        kUnit * ((30.0 + additions) * table_.size + 4.0 * std::fabs(turn) * table_.slope);
    const double unit = step_ / kPi;
    return {value * unit, error * unit * 1.0001, table_.size * unit, slope * unit};
}

Contour::Sum Contour::density_sum(double x) const {
    const double turn = this->turn(x), turning = turn_error(turn, x);
    double total = 0.0, error = 0.0, size = 0.0;
    for (const Frequency& at : frequencies_) {
        const double angle = at.y * turn, modulus = std::fabs(at.real) + std::fabs(at.imaginary);
        total += at.real * std::cos(angle) - at.imaginary * std::sin(angle);
        size += modulus;
        error += at.error + modulus * (at.y * turning + kUnit * (20.0 + 2.0 * std::fabs(angle)));
    }
    error += kUnit * size * static_cast<double>(frequencies_.size());
    const double unit = step_ / kPi;
    return {total * unit, error * unit * 1.0001, size * unit};
}

Contour::Guess Contour::guess(double x) const {
    const Sum known = sum(x);
    double value = known.value;
    if (known_) {  // whose slope is next to nothing beside the value's
        value -= known_->sum(x, tilt_, window_, smoothing_, log_scale(x)).lower;
    }
    const bool is_lost = !(value > 1e-13 * known.size && known.slope > 0.0);
    if (is_lost) return {kNaN, kNaN};
    return {std::log(value) + log_scale(x), known.slope / value};
}

}  // namespace tightnoise::contour
