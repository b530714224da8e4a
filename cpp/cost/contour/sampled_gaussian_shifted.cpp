// Nodes of the sampled Gaussian beside the real axis: section 5.5 of CONTOUR.md.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/sampled_gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "cost/contour/shifted_line.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kWidestShift = 1.0;    // further the weights would lose digits to each other
constexpr double kLogNothing = -150.0;  // of a node's weight: squares do not underflow
constexpr double kLogLeast = -700.0;    // of what is left out with a node
constexpr double kLogPruned = -64.5;    // of it, relative to the largest
constexpr double kNothingToIt = 12.0;   // log of how much less does not count
constexpr double kPrunedLess = 7.0;     // log of how much less than may be missed: for some nodes
constexpr double kLossError = 30.0;     // of log w, as its kernel says

}  // namespace

std::unique_ptr<Line> SampledGaussianLaw::shifted_line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const bool is_whole = request.split.is_none();
    auto plain = is_whole ? plain_line({request.tilt, 0.0, request.error, 0.0}) : nullptr;
    if (is_whole && !plain) return nullptr;
    const auto moment = is_whole ? std::optional(plain->moment()) : moment_at(request);
    if (!moment) return nullptr;
    const double log_missing = std::max(request.log_missing, -300.0);
    const auto whole = shifted(u, moment->value, log_missing, nullptr);
    if (!whole) return nullptr;
    const Cut cut = cut_at(request.split);
    const auto large = is_whole ? ShiftedNodes{} : shifted(u, moment->value, log_missing, &cut);
    if (!large) return nullptr;
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment->slope, request.step);
    };
    return std::make_unique<ShiftedLine>(*moment, request.step, sum(*whole), sum(*large),
                                         std::move(plain));
}

// Relative to M = e^log_moment; with a cut, the part of larger losses only.
std::optional<ShiftedNodes> SampledGaussianLaw::shifted(double order, double log_moment,
                                                        double log_error, const Cut* cut) const {
    const double spread = 1.0 + top_.spread() + (cut ? cut->spread() : 0.0);
    if (cut && !std::isfinite(cut->z)) return ShiftedNodes{};  // no loss is so large
    double width = top_.width;
    if (cut) width = std::min(width, cut->width);
    double tau = 0.0, step = 0.0;
    const double widest =
        std::min({0.5 * kStrip * kPi * sigma_, kWidestShift, kMostOfWidth * width});
    Cells known;
    if (order < 0.0) known = cells(order, 0.0, 2.0 * widest, cut);
    for (double tried = widest; tried > 1e-3 * widest; tried *= 0.8) {
        const double growth = order < 0.0
                                  ? std::max(log_growth(known, order, 0.0, 2.0 * tried, cut), 0.0)
                                  : 2.0 * tried * tried * spread;
        const double rate = 2.0 * kPi * tried / (growth + std::log(2.1) - log_error);
        if (rate > step) {
            step = rate;
            tau = tried;
        }
    }
    auto [low, high] = range(order, cut);
    if (order < 0.0) high += std::sqrt(2.0 * order * std::log1p(-q_));
    const auto places = exact_grid({low, high}, step);
    if (!places) return std::nullopt;
    const std::size_t n = places->count;
    const double sign = is_remove() ? 1.0 : -1.0, b = tau / sigma_;
    const double log_step = std::log(sigma_ * places->spacing / std::sqrt(2.0 * kPi));
    std::vector<double> column(5 * n);
    const ShiftedGridColumns at{&column[0], &column[n], &column[2 * n], &column[3 * n],
                                &column[4 * n]};
    sampled_kernels().shifted(
        {q_, sigma_, 0.5 / sigma_, places->first, places->spacing, log_step - log_moment, order,
         tau, b, std::sin(b), std::cos(b), std::sin(0.5 * b)},
        n, at);
    const ComplexShare below_top{top_.z, top_.width, sign};
    const ComplexShare above_cut = cut ? ComplexShare{cut->z, cut->width, -sign} : below_top;
    const bool is_topped = top_.width < kInfinity;
    const auto log_most = [&](std::size_t k) {
        return at.log_modulus[k] + (is_topped ? below_top.log_most(at.z[k], tau) : 0.0) +
               (cut ? above_cut.log_most(at.z[k], tau) : 0.0);
    };
    std::vector<double> mosts(n);
    double largest = -kInfinity;
    for (std::size_t k = 0; k < n; ++k) {
        mosts[k] = log_most(k);
        largest = std::max(largest, mosts[k]);
    }
    const double least =
        std::max(largest + std::max(log_error - kPrunedLess, kLogPruned), kLogNothing);
    // Of most nodes that are left out it does not matter how little they are.
    const double far_less = std::max(least - kNothingToIt, kLogLeast);
    const double nothing = std::exp(far_less);
    ShiftedNodes made;
    made.loss_error = kLossError;
    double left_out = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        if (!(mosts[k] >= least)) {
            left_out += mosts[k] < far_less ? nothing : std::exp(mosts[k]);
            continue;
        }
        const double z = at.z[k], log_size = at.log_size[k], angle = at.angle[k];
        std::complex<double> exponent(at.log_modulus[k], at.phase[k]);
        double error = 6.0 * (z * z + std::fabs(z) / sigma_) +
                       kLossError * std::fabs(order) * (std::fabs(log_size) + angle) +
                       4.0 * std::fabs(log_moment) + 6.0 * std::fabs(z * tau) + 40.0;
        if (is_topped) {
            exponent += below_top.log(z, tau);
            error += below_top.error(z);
        }
        if (cut) {
            exponent += above_cut.log(z, tau);
            error += above_cut.error(z);
        }
        const double modulus = std::exp(exponent.real());
        made.loss.push_back(sign * log_size);
        made.damping.push_back(angle);
        made.real.push_back(modulus * std::cos(exponent.imag()));
        made.imaginary.push_back(sign * modulus * std::sin(exponent.imag()));
        made.error.push_back(error);
    }
    double whole = 1.0;
    if (cut) {
        whole = 0.0;
        for (const double real : made.real) whole += real;
        whole = std::fabs(whole) * 1.01;
    }
    // To the left, relative to the part; to the right |w(z + i tau)|^order is at most that of 1 -
    // q.
    const double lowest = kOutside * std::exp(log_power(order, low, b)) * whole;
    const double highest =
        kOutside * (cut && order < 0.0 ? std::exp(log_larger(high, *cut)) : whole);
    made.missing = left_out + 1.01 * std::exp(log_error) * whole +
                   (lowest + highest) * std::exp(0.5 * tau * tau * spread);
    return made;
}

}  // namespace tightnoise::contour
