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

constexpr double kWidestShift = 1.0;  // further the weights would lose digits to each other
constexpr double kPruned = 1e-28;
constexpr double kMissingLess = 15.0;   // log of how much less than is asked for
constexpr double kLogNothing = -150.0;  // of a node's weight
constexpr double kMostNodes = 0x1p15;

}  // namespace

std::unique_ptr<Line> SampledGaussianLaw::shifted_line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    const auto moment = moment_at(request.tilt, log_error - std::log1p(request.tilt));
    if (!moment) return nullptr;
    // What the rule misses does not fall with y, and so stands in the way of a small tail.
    const double log_missing = log_error - kMissingLess;
    const auto whole = shifted(u, moment->value, log_missing, nullptr);
    if (!whole) return nullptr;
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment->slope, request.step);
    };
    if (request.split.is_none()) {
        auto plain = plain_line({request.tilt, 0.0, request.error, request.step});
        if (!plain) return nullptr;
        return std::make_unique<ShiftedLine>(*moment, sum(*whole), sum({}), std::move(plain));
    }
    const Cut cut = cut_at(request.split);
    const auto large = shifted(u, moment->value, log_missing, &cut);
    if (!large) return nullptr;
    return std::make_unique<ShiftedLine>(*moment, sum(*whole), sum(*large), nullptr);
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
    const double count = std::ceil((high - low) / step);
    if (!(count < kMostNodes)) return std::nullopt;
    const double sign = is_remove() ? 1.0 : -1.0, b = tau / sigma_;
    const Shift shift(b);
    const ComplexShare below_top{top_.z, top_.width, sign};
    const ComplexShare above_cut = cut ? ComplexShare{cut->z, cut->width, -sign} : below_top;
    const bool is_topped = top_.width < kInfinity;
    ShiftedNodes made;
    made.loss_error = 12.0;
    double left_out = 0.0, part = 0.0;
    for (double j = 0.0; j < count; ++j) {
        const double z = low + j * step;
        const double a = z / sigma_ - 0.5 / (sigma_ * sigma_);
        const Ratio w = ratio_at(a, shift, q_);
        std::complex<double> exponent(std::log(step / std::sqrt(2.0 * kPi)) -
                                          0.5 * (z - tau) * (z + tau) - log_moment +
                                          order * w.log_size,
                                      -z * tau + order * w.angle);
        double error = 6.0 * (z * z + std::fabs(z) / sigma_) +
                       12.0 * std::fabs(order * w.log_size) + 8.0 * std::fabs(order * w.angle) +
                       4.0 * std::fabs(log_moment) + 6.0 * std::fabs(z * tau) + 40.0;
        if (is_topped) {
            exponent += below_top.log(z, tau);
            error += below_top.error(z);
        }
        if (cut) {
            const double most = exponent.real() + above_cut.log_most(z, tau);
            if (most < kLogNothing) {
                left_out += std::exp(most);
                continue;
            }
            exponent += above_cut.log(z, tau);
            error += above_cut.error(z);
        }
        const double modulus = std::exp(exponent.real());
        if (!(modulus >= kPruned * part)) {
            left_out += modulus;
            continue;
        }
        part = std::max(part, modulus);
        made.loss.push_back(sign * w.log_size);
        made.damping.push_back(w.angle);
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
