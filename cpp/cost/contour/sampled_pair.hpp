// Q0 and (1 - q) Q0 + q Q1 at an outcome of which a = log dQ1/dQ0: w = 1 - q + q e^a, its share
// p = q e^a / w, and w off the real line. What laws of sampled releases share; section 5 of
// CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cost/contour/law.hpp"
#include "numeric/elementary.hpp"
#include "numeric/log1p_remainder.hpp"

namespace tightnoise::contour {

enum class Direction { remove, add };  // P is the mixture, or Q is

constexpr double kLogOverflow = 700.0;

inline double share_of(double q, double a) {
    return 1.0 / (1.0 + (1.0 - q) / q * std::exp(-a));
}

// log w, for bounds.
inline double loss_of(double q, double a) {
    return a > 30.0 ? a + std::log(q) + std::log1p((1.0 - q) / q * std::exp(-a))
                    : std::log1p(q * std::expm1(a));
}

// w - 1 and log w, to a few units u beside an error of a.
struct Weight {
    double excess, loss;
};
inline Weight weight_of(double q, double a) {
    const double v = q * expm1(std::min(a, kLogOverflow));
    const double loss = a > kLogOverflow ? log(q) + a
                        : v < -0.5       ? log((1.0 - q) + q * exp(a))
                                         : log1p(v);
    return {v, loss};
}

// |w|^2 and arg w where a is moved by i b, relative to w there, its share being p.
inline double log_shrink(double p, double cosine) {
    return std::log1p(-2.0 * p * (1.0 - p) * (1.0 - cosine));
}
inline double turned(double p, double sine, double cosine) {
    return std::atan2(p * sine, 1.0 - p + p * cosine);
}

inline double log_cos(double b) {
    return std::log(std::cos(b));
}

// e_j = log weight + order * loss, e^(e_j - largest), and their sum.
struct Tilted {
    std::vector<double> weight;
    double log_sum;
};
inline Tilted tilted(const std::vector<double>& log_weight, const std::vector<double>& loss,
                     double order) {
    const std::size_t n = loss.size();
    Tilted result{std::vector<double>(n), 0.0};
    double largest = -kInfinity;
    for (std::size_t j = 0; j < n; ++j) {
        result.weight[j] = log_weight[j] + order * loss[j];
        largest = std::max(largest, result.weight[j]);
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        result.weight[j] = exp(result.weight[j] - largest);
        sum += result.weight[j];
    }
    for (double& g : result.weight) g /= sum;
    result.log_sum = largest + log(sum);
    return result;
}

// What a node adds to M(t) - 1, without cancellation: section 5.2.
inline double careful_term(Direction direction, double t, const Weight& w, double log_weight) {
    constexpr double kLargeTilt = 300.0;
    const bool is_remove = direction == Direction::remove;
    const double v = w.excess, power = (is_remove ? 1.0 + t : -t) * w.loss;
    const double tilt = is_remove ? t * w.loss : power;
    // The rest is less than e^-kLargeTilt of it.
    if (tilt > kLargeTilt) return exp(log_weight + power);
    const double remainder = log1p_remainder(v, 1.0 + v);
    if (!is_remove) return (expm1mx(tilt) + t * remainder) * exp(log_weight);
    const double entropy = v < 1.0 ? v * v - remainder * (1.0 + v) : (1.0 + v) * w.loss - v;
    return ((1.0 + v) * expm1mx(tilt) + t * entropy) * exp(log_weight);
}

// Relative error of the share Phi(t), t = +-(z - middle)/width, in units u, by phi(t)/Phi(t).
inline double share_error(double t, double z, double middle, double width) {
    if (width == kInfinity || !std::isfinite(middle)) return 0.0;
    const double hazard = t > 0.0 ? std::exp(-0.5 * t * t) : 1.0 - t;
    return 20.0 + 5.0 * hazard * (std::fabs(z) + std::fabs(middle)) / width;
}

}  // namespace tightnoise::contour
