// Nodes of opposite directions beside the real axis: sections 5.5 and 8 of CONTOUR.md.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "cost/contour/sampled_direction_law.hpp"
#include "cost/contour/sampled_direction_nodes.hpp"
#include "cost/contour/shifted_line.hpp"
#include "numeric/compensated_sum.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr double kWidestShift = 0.6;  // in deviations: farther, weights lose digits to each other
constexpr double kPruned = 1e-28;
constexpr double kMissingLess = 15.0;  // log of how much less than is asked for

}  // namespace

// log sup of |density w^u| at Im v = d by that at 0.
double SampledDirectionLaw::log_growth(double t, double d) const {
    const double b = 2.0 * density_.along() * std::tan(d);
    const double of_power = !is_remove() && q_ < 1.0 ? -t * log_cos(0.5 * b) : 0.0;
    return density_.log_growth(d, t) + of_power;
}

std::unique_ptr<Line> SampledDirectionLaw::shifted_line(const LineRequest& request) const {
    const double t = request.tilt, u = order(t), h = density_.along(), m = density_.sphere();
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0) - kMissingLess;
    double tau = 0.0, width = 0.0;
    const double farthest = std::min(0.5 * widest(), kWidestShift * density_.scale());
    for (double tried = farthest; tried > 1e-3 * farthest; tried *= 0.8) {
        const double growth = std::max(log_growth(t, 2.0 * tried), 0.0);
        const double most = 2.0 * kPi * tried / (growth + std::log(4.2) - log_error);
        if (most > width) {
            width = most;
            tau = tried;
        }
    }
    const auto grid = nodes(t, width, nullptr, nullptr);
    auto plain = plain_line({t, 0.0, request.error, request.step});
    if (!grid || !plain) return nullptr;
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double outside = std::exp(grid->outside(u, law.log_sum) + log_growth(t, tau));
    const double square = std::sin(tau) * std::sin(tau), turn = std::sin(tau) * std::cos(tau);
    ShiftedNodes made;
    double left_out = 0.0, of_argument = 0.0;
    CompensatedSum of_real, of_imaginary;
    double moduli = 0.0, total_error = 0.0;
    for (std::size_t j = 0; j < grid->v.size(); ++j) {
        const double inside = grid->sech_square[j] * square, rest = 1.0 - inside;
        const double tanh = grid->tanh[j] / rest, tilt = grid->sech_square[j] * turn / rest;
        const double a = 2.0 * h * tanh, b = 2.0 * h * tilt;
        const Ratio w = ratio_at(a, Shift(b), q_);
        const double phase = std::atan(grid->tanh[j] * std::tan(tau));  // of cosh
        const Complex exponent(grid->log_weight[j] - law.log_sum - h * (tanh - grid->tanh[j]) -
                                   0.5 * m * std::log1p(-inside) + u * w.log_size,
                               -h * tilt - m * phase + u * w.angle);
        const double modulus = std::exp(exponent.real());
        if (!(modulus >= kPruned)) {
            left_out += modulus;
            continue;
        }
        // What an error of a, relative to itself, counts in log w: |p a|, p the complex share.
        const double log_share = q_ < 1.0 ? std::log(q_) + a - w.log_size : 0.0;
        const double moved = std::hypot(a, b) * std::exp(log_share);
        const double size = std::hypot(w.log_size, w.angle);
        of_argument = std::max(of_argument, 12.0 * moved / (size + 1e-300));
        const double error = grid->error[j] + 16.0 * h * (std::fabs(tanh) + tilt) +
                             10.0 * m * (inside + std::fabs(phase)) +
                             std::fabs(u) * (12.0 * size + 12.0 * moved) +
                             2.0 * std::abs(exponent) + 16.0;
        const Complex weight =
            modulus * Complex(std::cos(exponent.imag()), sign() * std::sin(exponent.imag()));
        add(of_real, weight.real());
        add(of_imaginary, weight.imag());
        moduli += modulus;
        total_error += modulus * error;
        made.loss.push_back(sign() * w.log_size);
        made.damping.push_back(w.angle);
        made.real.push_back(weight.real());
        made.imaginary.push_back(weight.imag());
        made.error.push_back(error);
    }
    const Complex total(value(of_real), value(of_imaginary));
    if (!(std::abs(total - 1.0) < 0.01)) return nullptr;
    for (std::size_t j = 0; j < made.real.size(); ++j) {
        const Complex weight = Complex(made.real[j], made.imaginary[j]) / total;
        made.real[j] = weight.real();
        made.imaginary[j] = weight.imag();
        made.error[j] += 1.02 * (total_error + 4.0 * moduli) + 8.0;
    }
    made.loss_error = 12.0 + of_argument;
    made.missing = 2.1 * (left_out + std::exp(log_error) + outside);
    return std::make_unique<ShiftedLine>(plain->moment(),
                                         ShiftedSum(made, plain->moment().slope, request.step),
                                         ShiftedSum({}, 0.0, request.step), std::move(plain));
}

}  // namespace tightnoise::contour
