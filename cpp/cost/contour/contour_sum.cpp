// The sums over a contour's frequencies: CONTOUR.md, sections 1 and 6.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "cost/contour/contour.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr std::size_t kLanes = 8, kRun = 16 * kLanes;  // of frequencies that are summed at once

// Re sum v_k e^(i y_k turn) over values v, and the same times y_k, less its imaginary unit. Sines
// and cosines of the first of kLanes frequencies come from the library, those of the others by one
// rotation each.
struct Turned {
    double value, rise;
};
Turned turned_sum(const std::vector<double>& real, const std::vector<double>& imaginary,
                  double step, double turn) {
    std::array<double, kLanes> cosines, sines, total{}, rise{};
    for (std::size_t j = 0; j < kLanes; ++j) {
        const double angle = static_cast<double>(j) * step * turn;
        cosines[j] = std::cos(angle);
        sines[j] = std::sin(angle);
    }
    const std::size_t n = real.size();
    for (std::size_t start = 0; start < n; start += kRun) {
        std::array<double, kLanes> run{}, rising{};
        for (std::size_t k = start; k < std::min(start + kRun, n); k += kLanes) {
            const double y = static_cast<double>(k) * step, angle = y * turn;
            const double c = std::cos(angle), s = std::sin(angle);
            for (std::size_t j = 0; j < kLanes; ++j) {
                const double cosine = c * cosines[j] - s * sines[j];
                const double sine = s * cosines[j] + c * sines[j];
                run[j] += real[k + j] * cosine - imaginary[k + j] * sine;
                rising[j] += (y + static_cast<double>(j) * step) *
                             (real[k + j] * sine + imaginary[k + j] * cosine);
            }
        }
        for (std::size_t j = 0; j < kLanes; ++j) {
            total[j] += run[j];
            rise[j] += rising[j];
        }
    }
    Turned sum{0.0, 0.0};
    for (std::size_t j = 0; j < kLanes; ++j) {
        sum.value += total[j];
        sum.rise += rise[j];
    }
    return sum;
}

}  // namespace

void Contour::Table::set(std::size_t k, double re, double im, double y, double off) {
    const double modulus = std::sqrt(re * re + im * im) + 1e-150;  // squares may underflow
    real[k] = re;
    imaginary[k] = im;
    size += modulus;
    slope += modulus * y;
    error += off;
}

// F/(s(s + 1)), F, and what does not depend on x.
void Contour::tabulate() {
    Frequency& first = frequencies_.front();  // counts half
    first.real *= 0.5;
    first.imaginary *= 0.5;
    first.error *= 0.5;
    const std::size_t blocks = (frequencies_.size() + kLanes - 1) / kLanes;
    table_ = Table(blocks * kLanes);
    if (smoothing_ > 0.0) density_ = Table(blocks * kLanes);
    const double c = tilt_;
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
        const auto [y, real, imaginary, error] = frequencies_[k];
        const double re = c * (c + 1.0) - y * y, im = y * (2.0 * c + 1.0);  // s(s + 1)
        const double square = re * re + im * im;
        table_.set(k, (real * re + imaginary * im) / square, (imaginary * re - real * im) / square,
                   y, error / std::sqrt(square));
        if (smoothing_ > 0.0) density_.set(k, real, imaginary, y, error);
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

// Rounding, in units u of the moduli and of those by the angle: section 6.
double Contour::rounding_of_sum(const Table& table, double turn, double x) const {
    const std::size_t n = table.real.size();
    const double additions = static_cast<double>(n / kRun + std::min(n, kRun) / kLanes + kLanes);
    return turn_error(turn, x) * table.slope +
           kUnit * ((30.0 + additions) * table.size + 4.0 * std::fabs(turn) * table.slope);
}

// With the kernel 1/(s + 1) the terms are s times those of D: its slope's.
Contour::Sum Contour::sum(double x) const {
    const double turn = this->turn(x);
    const Turned found = turned_sum(table_.real, table_.imaginary, step_, turn);
    const double error = table_.error + rounding_of_sum(table_, turn, x);
    const double unit = step_ / kPi;
    return {found.value * unit, error * unit * 1.0001, table_.size * unit,
            (tilt_ * found.value - found.rise) * unit};
}

Contour::Sum Contour::density_sum(double x) const {
    const double turn = this->turn(x);
    const Turned found = turned_sum(density_.real, density_.imaginary, step_, turn);
    const double error = density_.error + rounding_of_sum(density_, turn, x);
    const double unit = step_ / kPi;
    return {found.value * unit, error * unit * 1.0001, density_.size * unit};
}

Contour::Guess Contour::guess(double x) const {
    const Sum known = sum(x);
    double value = known.value;
    if (known_) {  // whose slope is next to nothing beside the value's
        value -= known_->sum(x, tilt_, window_, smoothing_, log_scale(x)).lower;
    }
    constexpr double kFlat = 1e-6;  // between losses that are next to atoms slopes are lost sooner
    if (!(value > 1e-13 * known.size)) return {kNaN, kNaN};
    return {std::log(value) + log_scale(x), std::max(known.slope / value, kFlat * tilt_)};
}

}  // namespace tightnoise::contour
