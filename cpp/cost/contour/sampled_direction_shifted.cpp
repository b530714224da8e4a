// Nodes of sampled directions beside the real axis: sections 5.5 and 8 of CONTOUR.md.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/complex_sphere_mean.hpp"
#include "cost/contour/sampled_direction_law.hpp"
#include "cost/contour/sampled_direction_nodes.hpp"
#include "cost/contour/shifted_line.hpp"
#include "numeric/compensated_sum.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr double kWidestShift = 0.6;  // in deviations: farther, weights lose digits to each other
constexpr double kPruned = 1e-28;
constexpr double kLogNothing = -150.0;  // of a node's weight

}  // namespace

std::unique_ptr<Line> SampledDirectionLaw::shifted_line(const LineRequest& request) const {
    const double t = request.tilt;
    const double log_error = std::clamp(request.log_missing, -300.0, -30.0);
    const auto whole = shifted(t, log_error, nullptr);
    auto plain = plain_line({t, 0.0, request.error, request.step});
    if (!whole || !plain) return nullptr;
    const Moment moment = plain->moment();
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment.slope, request.step);
    };
    if (request.split.is_none()) {
        return std::make_unique<ShiftedLine>(moment, request.step, sum(*whole), sum({}),
                                             std::move(plain));
    }
    const Cut cut = cut_at(request.split);
    const auto large = std::isfinite(cut.v) ? shifted(t, log_error, &cut) : ShiftedNodes{};
    if (!large) return nullptr;
    return std::make_unique<ShiftedLine>(moment, request.step, sum(*whole), sum(*large), nullptr);
}

// Relative to M; with a cut, the part of larger losses only.
std::optional<ShiftedNodes> SampledDirectionLaw::shifted(double t, double log_error,
                                                         const Cut* cut) const {
    const double u = order(t), h = density_.along(), m = density_.sphere();
    const double spread = (cut ? cut->spread() : 0.0) + (top() ? top_.spread() : 0.0);
    double tau = 0.0, width = 0.0;
    double farthest = std::min(0.5 * widest(), kWidestShift * density_.scale());
    for (const Cut* share : {cut, top()}) {
        if (share) farthest = std::min(farthest, kMostOfWidth * share->width);
    }
    const double g = density_.across();
    if (g > 0.0) farthest = std::min(farthest, 0.98 * kFarthestShift);
    for (double tried = farthest; tried > 1e-3 * farthest; tried *= 0.8) {
        const double growth =
            std::max(mean_growth_at(t, 2.0 * tried, 0.0), 0.0) + 2.0 * tried * tried * spread;
        const double most = 2.0 * kPi * tried / (growth + std::log(4.2) - log_error);
        if (most > width) {
            width = most;
            tau = tried;
        }
    }
    const auto grid = nodes(t, width, top(), cut);
    if (!grid) return std::nullopt;
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    const double of_shift = std::max(mean_growth_at(t, tau, 0.0), 0.0) + 0.5 * tau * tau * spread;
    const double outside =
        (std::exp(grid->outside(u, law.log_sum)) + grid->base_outside) * std::exp(of_shift);
    const double square = std::sin(tau) * std::sin(tau), turn = std::sin(tau) * std::cos(tau);
    const ComplexSphereMean sphere_mean(0.5 * m - 1.0);
    const bool is_near = std::tan(tau) < kNearShift * std::cos(tau);
    // It takes most terms where v = 0.
    if (g > 0.0 && !sphere_mean.change(g * g, g * g * std::pow(std::tan(tau), 2.0), is_near)) {
        return std::nullopt;
    }
    const ComplexShare below_top{top_.v, top_.width, sign()};
    const ComplexShare above_cut{cut ? cut->v : 0.0, cut ? cut->width : 1.0, -sign()};
    ShiftedNodes made;
    double left_out = 0.0, of_argument = 0.0;
    CompensatedSum of_real, of_imaginary;
    double moduli = 0.0, total_error = 0.0, of_sum = 0.0;
    for (std::size_t j = 0; j < grid->v.size(); ++j) {
        const double inside = grid->sech_square[j] * square, rest = 1.0 - inside;
        const double tanh = grid->tanh[j] / rest, tilt = grid->sech_square[j] * turn / rest;
        const double a = 2.0 * h * tanh, b = 2.0 * h * tilt;
        const Ratio w = ratio_at(a, Shift(b), q_);
        const double phase = std::atan(grid->tanh[j] * std::tan(tau));  // of cosh
        Complex exponent(grid->log_weight[j] - law.log_sum - h * (tanh - grid->tanh[j]) -
                             0.5 * m * std::log1p(-inside) + u * w.log_size,
                         -h * tilt - m * phase + u * w.angle);
        of_sum +=
            law.weight[j] * weight_error(grid->error[j], u * grid->loss[j], grid->loss_error[j]);
        double error = 0.0;
        if (g > 0.0) {
            const double z_square = g * g * grid->sech_square[j];
            const double tanh_there = grid->tanh[j];
            const Complex cosh(std::cos(tau), tanh_there * std::sin(tau));  // by cosh v
            const Complex less(square * (1.0 + tanh_there * tanh_there), -2.0 * tanh_there * turn);
            const auto change =
                sphere_mean.change(z_square, z_square * less / (cosh * cosh), is_near);
            if (!change) return std::nullopt;
            exponent += change->value;
            error = change->error;
        }
        if (top()) {
            exponent += below_top.log(grid->v[j], tau) - grid->log_share[j];
            error += below_top.error(grid->v[j]) + 4.0 * std::fabs(grid->log_share[j]);
        }
        if (cut) {
            const double most = exponent.real() + above_cut.log_most(grid->v[j], tau);
            if (most < kLogNothing) {
                left_out += std::exp(most);
                continue;
            }
            exponent += above_cut.log(grid->v[j], tau);
            error += above_cut.error(grid->v[j]);
        }
        const double modulus = std::exp(exponent.real());
        if (!(modulus >= kPruned * (cut ? moduli : 1.0))) {
            left_out += modulus;
            continue;
        }
        // What an error of a, relative to itself, counts in log w: |p a|, p the complex share.
        const double log_share = q_ < 1.0 ? std::log(q_) + a - w.log_size : 0.0;
        const double moved = std::hypot(a, b) * std::exp(log_share);
        const double size = std::hypot(w.log_size, w.angle);
        of_argument = std::max(of_argument, 12.0 * moved / (size + 1e-300));
        error += grid->error[j] + 16.0 * h * (std::fabs(tanh) + tilt) +
                 10.0 * m * (inside + std::fabs(phase)) +
                 std::fabs(u) * (12.0 * size + 12.0 * moved) + 2.0 * std::abs(exponent) + 16.0;
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
    made.loss_error = 12.0 + of_argument;
    const Complex total(value(of_real), value(of_imaginary));
    if (cut) {  // the sum over the nodes on the line serves as M
        const double n = static_cast<double>(grid->v.size());
        for (double& error : made.error) error += 1.02 * (of_sum + 2.0 * n) + 8.0;
        made.missing =
            1.01 * left_out + 1.05 * std::abs(total) * std::exp(log_error) + 2.0 * outside;
        return made;
    }
    if (!(std::abs(total - 1.0) < 0.01)) return std::nullopt;
    for (std::size_t j = 0; j < made.real.size(); ++j) {
        const Complex weight = Complex(made.real[j], made.imaginary[j]) / total;
        made.real[j] = weight.real();
        made.imaginary[j] = weight.imag();
        made.error[j] += 1.02 * (total_error + 4.0 * moduli) + 8.0;
    }
    made.missing = 2.1 * (left_out + std::exp(log_error) + outside);
    return made;
}

}  // namespace tightnoise::contour
