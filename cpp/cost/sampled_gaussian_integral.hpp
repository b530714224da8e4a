// X of sampled_gaussian_model.hpp as a sum over nodes z = k h: the trapezoid rule on the whole
// line.
//
// Error. |1 + u| on the line Im z = d is at most what it is on the real line, so |(1 + u)^a| is,
// too, while the density of Q is e^(d^2 / 2) times as large. If (1 + u)^a is an entire function,
// which it is for integer a, the path of integration can move up to d = 2 pi / h, and what the sum
// is off by is a fraction 2 e^(-2 pi^2 / h^2) of E_Q[(1 + u)^a], and d^2 or so times that of b X:
// kWidestStep makes this 1e-14. For other orders the zeros of 1 + u are in the way, which lie
// above and below the crossing z_t: Re z = z_t, Im z = (2 k + 1) pi s. From the first
// on, the path goes around a cut along Re z = z_t. There |1 + u| <= 2 (1 - q), and (1 + u)^a on one
// side of the cut is off that on the other by 2 |sin(pi a)| |1 + u|^a, so this adds at most
//     (2 pi / h) 2 |sin(pi a)| (2 (1 - q))^a e^(-z_t^2 / 2) e^(pi^2 s^2 / 2 - 2 pi^2 s / h) /
//     sqrt(2 pi)
// in each direction, and nothing if pi s > 2 pi / h. So the step has to be of the size of s only if
// the crossing is not a tail, and the last factor has to be small only in comparison with b X.
//
// Nodes. (1 + u)^a e^(-z^2 / 2) has its modes at z = (a / s) weight(z), which is below a / s. It
// has one, or two with the crossing between them. What is left without 1 + a u has one
// to the left of `middle`, where it is zero, and one or two to the right: l d/dl log of it
// falls from infinity to 2 and less, or rises from there to a. Sums start from the modes and
// go on to both sides until terms are nothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "cost/sampled_gaussian_kernels.hpp"
#include "cost/sampled_gaussian_model.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

constexpr double kWidestStep = 0.72;
constexpr double kDigits = 36.0;     // e^-36 times the factors above: 1e-14
constexpr double kHalfWidth = 8.25;  // of a Gaussian: e^(-8.25^2 / 2) = 2e-15
constexpr double kNothing = 1e-15;   // of a sum: what follows a term so small is as small
constexpr double kFarthest = 1e6;    // exponents of the size of z^2 keep 3 digits after the point
constexpr double kLeastNormal = std::numeric_limits<double>::min();
constexpr double kNone = -1.0;  // no such mode

// e^(a L - z^2 / 2) by rounding, relatively: its exponent is a difference of numbers of the size of
// z^2 if z is next to a mode, of which each of a few operations loses 1e-16.
inline double exponent_rounding(double z) {
    return 0x1p-49 * z * z;
}

// The sum for one order and step. Windows around modes do not overlap.
class NodeSum {
  public:
    NodeSum(const SampledGaussianModel& m, double alpha, double reference, double step)
        : f_{m.inverse_sigma, m.middle, m.q, m.log_q, sampled_order(alpha, reference)},
          step_(step) {}

    void add_around(double mode) {
        const double blocks = 1.0 / (step_ * kBlock);
        Window w{std::floor((mode - kHalfWidth) * blocks), std::ceil((mode + kHalfWidth) * blocks)};
        for (const Window& other : windows_) {
            if (other.has(w.begin)) w.begin = other.end;
            if (other.has(w.end - 1.0)) w.end = other.begin;
        }
        if (w.begin >= w.end) return;
        const double before = sum_;
        const Edges edges = add(w);
        for (Edges e = edges; goes_on(e.last, e.next_to_last) && is_new(w.end); w.end += 1.0) {
            e = add({w.end, w.end + 1.0});
        }
        for (Edges e = edges; goes_on(e.first, e.second) && is_new(w.begin - 1.0); w.begin -= 1.0) {
            e = add({w.begin - 1.0, w.begin});
        }
        windows_[count_++] = w;
        const double farthest = w.end > -w.begin ? w.end : w.begin;
        sum_ += (sum_ - before) * exponent_rounding(farthest * step_ * kBlock);
    }

    double total() const { return sum_ * step_ * kInverseSqrtTwoPi; }

  private:
    static constexpr double kBlock = 8.0;  // nodes
    static constexpr double kChunk = 8.0;  // blocks

    // Blocks begin, ..., end - 1.
    struct Window {
        double begin = 0.0, end = 0.0;
        bool has(double block) const { return begin <= block && block < end; }
    };
    struct Edges {
        double first = 0.0, second = 0.0, next_to_last = 0.0, last = 0.0;
    };

    // Terms that still rise are followed, even if it takes long: a mode was not hit well.
    bool goes_on(double outer, double inner) const {
        return outer > kNothing * sum_ || (outer > inner && outer > 1e-60 * sum_);
    }
    bool is_new(double block) const {
        for (const Window& w : windows_) {
            if (w.has(block)) return false;
        }
        return true;
    }
    Edges add(Window w) {
        double terms[static_cast<std::size_t>(kBlock * kChunk)];
        Edges edges;
        for (double block = w.begin; block < w.end; block += kChunk) {
            const double count = w.end - block < kChunk ? w.end - block : kChunk;
            const auto n = static_cast<std::size_t>(count * kBlock);
            sum_ += sampled_gaussian_kernels().terms(f_, block * kBlock, step_, n, terms);
            if (block == w.begin) {
                edges.first = terms[0];
                edges.second = terms[1];
            }
            edges.next_to_last = terms[n - 2];
            edges.last = terms[n - 1];
        }
        return edges;
    }

    SampledGaussianIntegrand f_;
    double step_;
    double sum_ = 0.0;
    Window windows_[4];
    std::size_t count_ = 0;
};

// Both modes of (1 + u)^a e^(-z^2 / 2), by Newton's method: where z - (a / s) weight(z) is convex,
// beyond the crossing, from the right, and where it is concave from the left, it never oversteps
// the zero. What comes out is good to 0.1.

// The one beyond the crossing, if there is one.
inline double mode_beyond(const SampledGaussianModel& m, double alpha) {
    const double most = alpha * m.inverse_sigma;
    for (double z = most; z > m.crossing;) {
        const double w = m.weight(z);
        const double slope = 1.0 - most * m.inverse_sigma * w * (1.0 - w);
        const double step = (z - most * w) / slope;
        if (!(slope > 0.0)) return kNone;
        if (step < 0.1) return z;
        z -= step;
    }
    return kNone;
}

// The one before the crossing, if there is one, and it is not next to 0.
inline double mode_before(const SampledGaussianModel& m, double alpha) {
    const double most = alpha * m.inverse_sigma;
    for (double z = kHalfWidth; z < m.crossing;) {
        const double w = m.weight(z);
        const double slope = 1.0 - most * m.inverse_sigma * w * (1.0 - w);
        const double step = (most * w - z) / slope;
        if (!(slope > 0.0) || step < 0.0) return kNone;
        if (step < 0.1) return z;
        z += step;
    }
    return kNone;
}

// Where the integrand may have its modes, besides those next to 0.
struct Modes {
    double beyond = kNone;  // of (1 + u)^a: beyond the crossing,
    double before = kNone;  // and before it
    double square = kNone;  // where u is small and the integrand like u^2

    Modes(const SampledGaussianModel& m, double alpha) {
        const double one = m.inverse_sigma;
        if (alpha > 2.0 && alpha * one > kHalfWidth) {
            beyond = mode_beyond(m, alpha);
            before = mode_before(m, alpha);
        }
        // u^2 e^(-z^2 / 2) has its mode at 2 / s, which is next to 0 unless s is small. Then, for
        // a <= 2, the growth of the integrand falls from that of e^(2 l) to that of e^(a l) at the
        // crossing. Else it rises, about where a u = 1.
        if (2.0 * one <= 0.7 * kHalfWidth) return;
        if (alpha <= 2.0) {
            const double bend = m.crossing < 2.0 * one ? m.crossing : 2.0 * one;
            square = bend > alpha * one ? bend : alpha * one;
        } else if (beyond == kNone || log(alpha) + m.log_q + 3.0 * m.half_precision <= 0.0) {
            square = 2.0 * one;
        }
    }
};

// X for b >= 0. Relative error 1e-13, upwards by what exponents can lose in addition; X is up to
// 2 + a / s times too large if the mode beyond the crossing is beyond kFarthest, where D hardly
// notices (log X is of the size of z^2).
inline ScaledExcess integrated_excess(const SampledGaussianModel& m, double alpha) {
    const double b = alpha - 1.0;
    const Modes modes(m, alpha);
    const bool is_far_out = modes.beyond > kFarthest;
    // There 1 + u is q e^l if (1 - q) / (q e^l) is nothing, a times as well.
    const SampledPart sampled(m, alpha);
    const bool is_sampled =
        is_far_out && (modes.beyond - 10.0 - m.crossing) * m.inverse_sigma > 37.0 + log(alpha);

    double highest = 0.0;
    const auto exponent_at = [&](double mode) {
        if (mode == kNone) return -kInfinity;
        const double exponent = m.exponent(alpha, mode);
        highest = exponent > highest ? exponent : highest;
        return exponent;
    };
    exponent_at(modes.before);
    exponent_at(modes.square);
    double beyond = -kInfinity;
    if (is_sampled) {
        beyond = sampled.exponent();
        highest = beyond > highest ? beyond : highest;
    } else {
        beyond = exponent_at(modes.beyond);
    }
    const double reference = reference_for(highest);
    double far_out = 0.0;
    if (is_far_out) {
        far_out = (is_sampled ? 1.0 : 2.0 + alpha * m.inverse_sigma) *
                  (1.0 + exponent_rounding(modes.beyond)) * exp(beyond - reference) / b;
    }
    // Next to 0 the integrand is b times a Gaussian at most.
    const bool is_zero_nothing = reference > 50.0 && reference > 50.0 + log(b);

    const auto sum = [&](double step) {
        NodeSum nodes(m, alpha, reference, step);
        if (modes.beyond != kNone && !is_far_out) nodes.add_around(modes.beyond);
        if (modes.square != kNone) nodes.add_around(modes.square);
        if (modes.before != kNone) nodes.add_around(modes.before);
        if (!is_zero_nothing) nodes.add_around(0.0);
        return far_out + nodes.total();
    };
    // The h with e^(pi^2 s^2 / 2 - 2 pi^2 s / h) = e^-digits, where pi s < 2 pi / h.
    const auto step_for = [&](double digits) {
        const double strip = kPi * kPi * m.sigma;
        if (digits <= 0.5 * strip * m.sigma) return kWidestStep;
        const double step = 2.0 * strip / (digits + 0.5 * strip * m.sigma);
        return step < kWidestStep ? step : kWidestStep;
    };

    const double sine = std::fabs(std::sin(kPi * (alpha - std::nearbyint(alpha))));
    if (sine == 0.0 && b > 0.0) return {sum(kWidestStep), reference};
    if (m.sigma > 0.5) return {sum(step_for(kDigits)), reference};
    // A first look, good to a factor of e^4, for how much the crossing weighs.
    const double rough = sum(kWidestStep);
    if (!(rough > kLeastNormal)) return {rough, reference};
    const double log_weight = alpha * (kLog2 + m.log_rest) - 0.5 * m.crossing * m.crossing +
                              log(b > 0.0 ? sine / b : kPi) - reference - log(rough);
    const double step = step_for(kDigits + 4.0 + log_weight);
    return {step < kWidestStep ? sum(step) : rough, reference};
}

}  // namespace
}  // namespace tightnoise
