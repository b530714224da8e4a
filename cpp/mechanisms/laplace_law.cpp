#include "mechanisms/laplace_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// 1 - e^-x, without cancellation; 0 for x < 0.
double one_minus_exp(double x) {
    return x > 0.0 ? -std::expm1(-x) : 0.0;
}

// k!/u^k (e^u - 1 - ... - u^(k-1)/(k-1)!) for 0 <= u <= 2, from 1 upwards. Relative error: 1e-15.
double exp_remainder(int k, double u) {
    double sum = 1.0;
    for (int j = 26; j > 0; --j) sum = 1.0 + sum * u / (k + j);
    return sum;
}

}  // namespace

// Noise truncated to much less than its scale is uniform: a smaller scale has no underflow.
LaplaceLaw::LaplaceLaw(double scale, double bound)
    : scale_(std::min(scale, 1e200 * bound)),
      bound_(bound),
      span_(bound / scale_),
      half_mass_(one_minus_exp(span_)) {}

double LaplaceLaw::log_density(double x) const {
    const double distance = std::fabs(x);
    if (distance > bound_) return -kInfinity;
    return -distance / scale_ - std::log(2.0 * half_mass_) - std::log(scale_);
}

double LaplaceLaw::distribution(double x) const {
    const double distance = std::fabs(x);
    if (distance >= bound_) return x < 0.0 ? 0.0 : 1.0;
    const double tail = 0.5 * std::exp(-distance / scale_) *
                        one_minus_exp((bound_ - distance) / scale_) / half_mass_;
    return x < 0.0 ? tail : 1.0 - tail;
}

double LaplaceLaw::mass(double from, double to) const {
    const double low = std::max(from, -bound_), high = std::min(to, bound_);
    if (!(low < high)) return 0.0;
    if (low < 0.0 && high > 0.0) return mass(low, 0.0) + mass(0.0, high);
    const double near = low >= 0.0 ? low : -high;
    return 0.5 * std::exp(-near / scale_) * one_minus_exp((high - low) / scale_) / half_mass_;
}

double LaplaceLaw::log_tail(double x) const {
    if (!(x < bound_)) return -kInfinity;
    return -x / scale_ + std::log(0.5 * one_minus_exp((bound_ - x) / scale_) / half_mass_);
}

double LaplaceLaw::quantile(double q) const {
    const double tail = 2.0 * std::min(q, 1.0 - q);  // the share of |x| beyond that
    if (tail == 0.0) return q < 0.5 ? -bound_ : bound_;
    // tail half_mass = e^-u - e^-span, from the end that is nearer.
    const double from_end = std::exp(-span_) > 0.0 ? tail * std::expm1(span_) : kInfinity;
    double distance;
    if (from_end < 1.0) {
        distance = bound_ - scale_ * std::log1p(from_end);
    } else if (tail < 0.5) {
        distance = -scale_ * std::log(tail * half_mass_ + std::exp(-span_));
    } else {
        distance = -scale_ * std::log1p(-(1.0 - tail) * half_mass_);
    }
    return q < 0.5 ? -distance : distance;
}

// scale (1 - u/(e^u - 1)), u = bound/scale.
double LaplaceLaw::mean_abs() const {
    const double u = span_;
    if (u <= 2.0) return 0.5 * bound_ * exp_remainder(2, u) / exp_remainder(1, u);
    const double lost = u < 1e3 ? u * std::exp(-u) / half_mass_ : 0.0;
    return scale_ * (1.0 - lost);
}

// 2 scale^2 (1 - (u + u^2/2)/(e^u - 1)).
double LaplaceLaw::variance() const {
    const double u = span_;
    if (u <= 2.0) return bound_ * bound_ / 3.0 * exp_remainder(3, u) / exp_remainder(1, u);
    const double lost = u < 1e3 ? u * (1.0 + 0.5 * u) * std::exp(-u) / half_mass_ : 0.0;
    return 2.0 * scale_ * scale_ * (1.0 - lost);
}

// With x the lower of the two points, y = x + shift, u = |.|/scale: the noise reaches y from one
// value and x from the other, and all terms are positive where L(x) = log f(x + s) - log f(x) >
// epsilon, so that none of them cancels.
double hockey_stick(const LaplaceLaw& law, double shift, double epsilon) {
    if (const double larger = law.enlarging(); larger > 1.0) {
        const double moved = std::min(shift * larger, std::numeric_limits<double>::max());
        return hockey_stick(LaplaceLaw(law.scale() * larger, law.bound() * larger), moved, epsilon);
    }
    const double scale = law.scale();
    const double bound = law.bound();
    if (shift >= 2.0 * bound) return 1.0;
    const double mass = 2.0 * one_minus_exp(bound / scale);
    const double room = bound - shift;  // y > shift - bound has a density on both sides
    // loss - epsilon and loss + epsilon for the greatest finite loss, shift/scale: one rounding.
    const double excess = std::fma(-epsilon, scale, shift) / scale;
    const double deficit = std::fma(epsilon, scale, shift) / scale;

    double delta = 0.0;
    if (room > 0.0) {
        // 1: x < -bound, where only one of the two values can have led.
        delta += std::exp(-room / scale) * one_minus_exp(shift / scale) / mass;
        // 2: -bound < x < -shift, where L is shift/scale; 3: 0 < x < room, where it is
        // -shift/scale.
        delta += one_minus_exp(excess) * one_minus_exp(room / scale) / mass;
        delta +=
            one_minus_exp(-deficit) * std::exp(-shift / scale) * one_minus_exp(room / scale) / mass;
    } else {
        delta += law.distribution(-room);  // 1
    }
    // 4: between, y from `first` to `last`, L = epsilon + 2 v with v = (middle - y)/scale. The
    // integral of e^(-y/scale) - e^(epsilon - (shift - y)/scale) from y to the middle is
    // e^(-excess/2) 2 (cosh v - 1) scale; the difference of two is a product.
    const double first = std::max(0.0, -room);
    const double last = std::min(shift, bound);
    const double v_first = 0.5 * excess - first / scale;
    const double v_last = last < shift ? 0.5 * excess - last / scale : -0.5 * deficit;
    const double above = v_last > 0.0 ? (last - first) / scale : v_first;
    delta += std::exp(-first / scale) * one_minus_exp(v_first + std::max(0.0, v_last)) *
             one_minus_exp(above) / mass;
    return std::min(1.0, delta);
}

}  // namespace tightnoise
