// Q0 and (1 - q) Q0 + q Q1 at an outcome of which a = log dQ1/dQ0: w = 1 - q + q e^a, its share
// p = q e^a / w, and w off the real line. What laws of sampled releases share; section 5 of
// CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cost/contour/law.hpp"
#include "cost/contour/sampled_kernels.hpp"
#include "numeric/elementary.hpp"
#include "numeric/log1p_remainder.hpp"

namespace tightnoise::contour {

enum class Direction { remove, add };  // P is the mixture, or Q is

constexpr double kLogOverflow = 700.0;
constexpr double kStrip = 0.95;  // of the distance to the zeros of w

inline double share_of(double q, double a) {
    if (q == 1.0) return 1.0;
    return 1.0 / (1.0 + (1.0 - q) / q * std::exp(-a));
}

// Of P against Q, at least: that of Q0 against 1 - q of it.
inline double largest_loss_of(Direction direction, double q) {
    if (direction == Direction::remove || q == 1.0) return kInfinite;
    return -std::log1p(-q) * (1.0 + 8.0 * kUnit);
}

// log w, for bounds. Where w is small it is a sum, as 1 - q may be next to nothing.
inline double loss_of(double q, double a) {
    if (a > 30.0) return a + std::log(q) + std::log1p((1.0 - q) / q * std::exp(-a));
    const double v = q * std::expm1(a);
    return v < -0.5 ? std::log((1.0 - q) + q * std::exp(a)) : std::log1p(v);
}

// w - 1 and log w, to a few units u beside an error of a.
struct Weight {
    double excess, loss;
};
inline Weight weight_of(double q, double a) {
    const double v = q * expm1(std::min(a, kLogOverflow));
    if (q == 1.0) return {v, a};
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

// w at a + i b: log|w|, and arg w in [0, b].
struct Ratio {
    double log_size, angle;
};
// b, and what is the same for all a.
struct Shift {
    explicit Shift(double angle)
        : b(angle), sine(std::sin(b)), cosine(std::cos(b)), half_sine(std::sin(0.5 * b)) {}
    double b, sine, cosine, half_sine;
};
inline Ratio ratio_at(double a, const Shift& shift, double q) {
    if (a > kLogOverflow || q == 1.0) return {a + std::log(q), shift.b};
    const double grown = std::exp(a);
    const double real =
        q * (std::expm1(a) * shift.cosine - 2.0 * shift.half_sine * shift.half_sine);
    const double imaginary = q * grown * shift.sine;
    const double whole = (1.0 - q) + q * grown * shift.cosine;  // 1 + real has no digits of 1 - q
    return {real > -0.5 && real < 1e8
                ? 0.5 * std::log1p(2.0 * real + real * real + imaginary * imaginary)
                : std::log(std::hypot(whole, imaginary)),
            std::atan2(imaginary, whole)};
}

// arg w of b >= 0 beyond pi, too, where no zero of w is between: of q e^a < 1 - q next to 0 again.
inline double unwound(double a, double b, double q) {
    const double less = std::log((1.0 - q) / q) - a;
    if (q == 1.0 || less < -kLogOverflow) return b;
    if (less > 0.0 || b < 0.9 * kPi) {
        const Ratio plain = ratio_at(a, Shift(b), q);
        return plain.angle;
    }
    const double rest = std::exp(less);
    return b + std::atan2(-rest * std::sin(b), 1.0 + rest * std::cos(b));
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
    const TiltedSum sum =
        sampled_kernels().tilt(n, log_weight.data(), loss.data(), order, result.weight.data());
    for (double& g : result.weight) g /= sum.total;
    result.log_sum = sum.largest + log(sum.total);
    return result;
}

// What a node adds to M(t) - 1, without cancellation: section 5.2.
inline double careful_term(Direction direction, double t, const Weight& w, double log_weight) {
    constexpr double kLargeLoss = 500.0, kLargeTilt = 300.0;
    const bool is_remove = direction == Direction::remove;
    const double v = w.excess, power = (is_remove ? 1.0 + t : -t) * w.loss;
    const double tilt = is_remove ? t * w.loss : power;
    // The rest is less than e^-kLargeTilt of it.
    if (tilt > kLargeTilt) return exp(log_weight + power);
    if (w.loss > kLargeLoss) {  // 1 is nothing beside w
        const double factor = is_remove ? expm1mx(tilt) + t * (w.loss - 1.0) : t;
        return factor * exp(log_weight + w.loss);
    }
    const double remainder = v < -0.5 ? v - w.loss : log1p_remainder(v, 1.0 + v);
    if (!is_remove) return (expm1mx(tilt) + t * remainder) * exp(log_weight);
    const double entropy = v < 1.0 ? v * v - remainder * (1.0 + v) : (1.0 + v) * w.loss - v;
    return ((1.0 + v) * expm1mx(tilt) + t * entropy) * exp(log_weight);
}

// delta(x) of a single release for x >= 0, base(x) being bounds of that of Q1 and Q0.
template <class Base>
Interval sampled_profile(Direction direction, double q, double x, Base base) {
    constexpr double kSlack = 16.0 * kUnit;
    // What underflows is not 0.
    const auto raised = [](double y) { return std::nextafter(y * (1.0 + kSlack), kInfinity); };
    if (direction == Direction::remove) {  // q delta(log(1 + (e^x - 1)/q))
        const double at =
            x < 1.0 ? log1p(expm1(x) / q) : x - log(q) + log1p((q - 1.0) * std::exp(-x));
        return {q * base(at * (1.0 + kSlack)).lower * (1.0 - kSlack),
                raised(q * base(at * (1.0 - kSlack)).upper)};
    }
    // A delta(log(1 + (e^x - 1)/A)), A = 1 - (1 - q) e^x: rises with A.
    const double growth = expm1(std::min(x, kLogOverflow));
    const double part = (1.0 - q) * growth;
    const double most = (q - part) + kSlack * (q + part);
    const double least = (q - part) - kSlack * (q + part);
    if (!(most > 0.0)) return {0.0, 0.0};
    const double upper_at = log1p(growth / most) * (1.0 - kSlack);
    const double upper = raised(most * base(upper_at).upper);
    if (!(least > 0.0)) return {0.0, upper};
    const double lower_at = log1p(growth / least) * (1.0 + kSlack);
    return {least * base(lower_at).lower * (1.0 - kSlack), upper};
}

// Relative error of the share Phi(t), t = +-(z - middle)/width, in units u, by phi(t)/Phi(t).
inline double share_error(double t, double z, double middle, double width) {
    if (width == kInfinity || !std::isfinite(middle)) return 0.0;
    const double hazard = t > 0.0 ? std::exp(-0.5 * t * t) : 1.0 - t;
    return 20.0 + 5.0 * hazard * (std::fabs(z) + std::fabs(middle)) / width;
}

}  // namespace tightnoise::contour
