// One cell of a standard normal Z: an interval or a half line, its probability, and the moments of
// Z given that it falls there. Every divergence of a bounded Gaussian is made of these. Kernel-side
// header: internal linkage, one copy a level.
//
// A cell is reflected so that its middle is >= 0; near and far are then its lower and upper edge.
// It is "outside" when near >= 0 (zero is not in it) and "inside" when near < 0 <= far.
// Outside, everything is measured from the near edge, where the mass is:
//     P(cell) = phi(near) R(near, width),   R(a, w) = integral_0^w exp(-a y - y^2/2) dy,
// so that neither a tail probability of e^-5e7 nor a width of 1e-6 costs any digits: the square
// near^2/2 is kept apart, in double-double, and the rest is a number of ordinary size.
#pragma once

#include <cmath>

#include "numeric/double_double.hpp"
#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {

constexpr double kSqrtHalfPi = 1.25331413731550025121;
// log sqrt(2 pi)
constexpr DoubleDouble kLogSqrtTwoPiWide = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};

// An interval of the real line in units of sigma, seen from theta. For a half line the width and
// one edge are infinite; the infinite edge never enters arithmetic.
struct Interval {
    DoubleDouble lower, upper;
    double width;
};

inline Interval left_half_line(DoubleDouble upper) {
    return {{-kInfinity, 0.0}, upper, kInfinity};
}

inline Interval right_half_line(DoubleDouble lower) {
    return {lower, {kInfinity, 0.0}, kInfinity};
}

// The same interval seen from theta + k sigma.
inline Interval seen_from(const Interval& interval, DoubleDouble k) {
    Interval moved = interval;
    if (std::isfinite(interval.lower.hi)) moved.lower = interval.lower - k;
    if (std::isfinite(interval.upper.hi)) moved.upper = interval.upper - k;
    return moved;
}

struct Reflected {
    double sign;  // -1: the interval was turned over
    DoubleDouble near;
    double far;
    double width;
    double twice_middle;
};

inline Reflected reflect(const Interval& interval) {
    const double lower = interval.lower.hi, upper = interval.upper.hi;
    if (std::isinf(lower)) return {-1.0, -interval.upper, kInfinity, kInfinity, kInfinity};
    if (std::isinf(upper)) return {1.0, interval.lower, kInfinity, kInfinity, kInfinity};
    const double twice_middle = rounded(interval.lower + interval.upper);
    if (twice_middle < 0.0) return {-1.0, -interval.upper, -lower, interval.width, -twice_middle};
    return {1.0, interval.lower, upper, interval.width, twice_middle};
}

// The loops over nodes are functions of their own that GCC must inline everything into (flatten),
// or it would call exp for one node at a time.
#if defined(__GNUC__)
#define TIGHTNOISE_VECTOR_LOOP [[gnu::flatten, gnu::noinline]]
#else
#define TIGHTNOISE_VECTOR_LOOP
#endif

// R(a, w) for w (a + w/2) < 2: 16 points have an error far below an ulp.
TIGHTNOISE_VECTOR_LOOP inline double narrow_scaled_mass(double a, double w) {
    using Rule = GaussLegendre<16>;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 16; ++i) {
        const double y = w * Rule::nodes[i];
        sum += Rule::weights[i] * exp(-y * (a + 0.5 * y));
    }
    return w * sum;
}

// Weights w_i exp(offset - y_i (slope + y_i/2)) at the distances y_i = length * node i.
struct DensitySums {
    double total, first;  // sum of the weights, and of weight times distance
};
template <int Points>
TIGHTNOISE_VECTOR_LOOP DensitySums sample_density(double length, double slope, double offset,
                                                  double* distance, double* weight) {
    using Rule = GaussLegendre<Points>;
    double total = 0.0, first = 0.0;
#pragma omp simd reduction(+ : total, first)
    for (int i = 0; i < Points; ++i) {
        const double y = length * Rule::nodes[i];
        const double density = Rule::weights[i] * exp(offset - y * (slope + 0.5 * y));
        distance[i] = y;
        weight[i] = density;
        total += density;
        first += density * y;
    }
    return {total, first};
}

// sum of weight_i h(s deviation_i), and the same where all |s deviation_i| <= 1.
template <int Points>
TIGHTNOISE_VECTOR_LOOP double sum_expm1mx(double s, const double* deviation, const double* weight) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < Points; ++i) sum += weight[i] * expm1mx(s * deviation[i]);
    return sum;
}
template <int Points>
TIGHTNOISE_VECTOR_LOOP double sum_expm1mx_small(double s, const double* deviation,
                                                const double* weight) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < Points; ++i) {
        const double t = s * deviation[i];
        sum += weight[i] * (t * t * polynomial_in_halves(kExpm1mx, t));
    }
    return sum;
}

// R(a, w) for a >= 0. Where the exponent stays below 2, Gauss-Legendre; else the difference of two
// Mills ratios, of which the second is at most e^-2 of the first. Relative error below 3e-15.
inline double scaled_mass(double a, double w) {
    const double exponent = w * (a + 0.5 * w);
    if (exponent < 2.0) return narrow_scaled_mass(a, w);
    const double head = erfcx(a * kSqrtHalf);
    if (exponent > 745.0) return kSqrtHalfPi * head;
    return kSqrtHalfPi * (head - exp(-exponent) * erfcx((a + w) * kSqrtHalf));
}

// integral_0^w exp(-(a + y)^2/2) dy for w <= 3.
TIGHTNOISE_VECTOR_LOOP inline double narrow_mass(double a, double w) {
    using Rule = GaussLegendre<16>;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 16; ++i) {
        const double z = a + w * Rule::nodes[i];
        sum += Rule::weights[i] * exp(-0.5 * z * z);
    }
    return w * sum;
}

// Phi(far) - Phi(near) for near <= 0 <= far: a sum of positive numbers, or 1 less two tails of
// which at most one is near 1/2.
inline double mass_around_zero(double near, double far) {
    const double width = far - near;
    if (width <= 3.0) return kInverseSqrtTwoPi * narrow_mass(near, width);
    return 1.0 - (ndtr(near) + ndtr(-far));
}

// Its logarithm; close to 1 from the two tails.
inline double log_mass_around_zero(double near, double far) {
    const double mass = mass_around_zero(near, far);
    return mass < 0.9 ? log(mass) : log1p(-(ndtr(near) + ndtr(-far)));
}

inline double exp(DoubleDouble x) {
    return exp_of_sum(x.hi, x.lo);
}

// log(1 + x), e^t - 1 - t and e^x - 1 for one number at a time: near 0 the series suffices.
inline double log1p_of_one(double x) {
    return std::fabs(x) < 0.25 ? log_series(0.0, x, x / (2.0 + x), 0.0) : log1p(x);
}

inline double expm1mx_of_one(double t) {
    return std::fabs(t) <= 1.0 ? t * t * polynomial_in_halves(kExpm1mx, t) : expm1mx(t);
}
inline double expm1_of_one(double x) {
    return std::fabs(x) <= 1.0 ? x + expm1mx_of_one(x) : expm1(x);
}

// A positive number e^exponent factor, the factor of ordinary size (1e-12 to 1): a probability, or
// a term p^alpha q^(1 - alpha).
struct Mass {
    DoubleDouble exponent;
    double factor;

    double value() const { return exponent.hi == 0.0 ? factor : exp(exponent) * factor; }
    // Absolute error 2e-16 (1 + |log factor|).
    DoubleDouble logarithm() const { return exponent + log(factor); }
    // Above the logarithm by log 2 at most.
    double logarithm_at_most() const { return exponent.hi + kLog2 * (reduce_log(factor).k + 1.0); }
};

// log(a/b).
inline DoubleDouble log_of_ratio(const Mass& a, const Mass& b) {
    return (a.exponent - b.exponent) + log(a.factor / b.factor);
}

inline Mass mass_of(const Interval& interval) {
    const Reflected cell = reflect(interval);
    if (cell.near.hi < 0.0) return {{0.0, 0.0}, mass_around_zero(cell.near.hi, cell.far)};
    return {cell.near * cell.near * -0.5,
            kInverseSqrtTwoPi * scaled_mass(cell.near.hi, cell.width)};
}

// log P(interval), in double-double: -(near edge)^2/2 exactly, plus a rest of ordinary size.
// Absolute error 1e-15 (1 + |log width|), whatever the size of the square; relative error 1e-15
// where the probability is near 1.
inline DoubleDouble log_mass(const Interval& interval) {
    const Reflected cell = reflect(interval);
    if (cell.near.hi < 0.0) {
        return {log_mass_around_zero(cell.near.hi, cell.far), 0.0};
    }
    const double rest = log(scaled_mass(cell.near.hi, cell.width));
    return cell.near * cell.near * -0.5 + (DoubleDouble{rest, 0.0} - kLogSqrtTwoPiWide);
}

// The nodes that integrate the density over the part of a cell that matters: fewer where it varies
// little. Inside by its length, outside by the exponent length (near + length/2) that the density
// falls by. Beside 64 nodes, the error of the mass, of the variance and of K(s) with |s| sd = 1/4
// is below 1.5e-15.
inline int nodes_for(bool outside, double length, double exponent) {
    if (outside ? exponent <= 10.0 : length <= 4.5) return 16;
    return outside || length <= 11.0 ? 32 : 64;
}

// P(cell), and Z given the cell: mean, variance and cumulant generating function.
class Cell {
  public:
    explicit Cell(const Interval& interval);

    // P(cell).
    Mass mass() const {
        const double factor = kInverseSqrtTwoPi * scaled_mass_;
        return {outside ? near * near * -0.5 : DoubleDouble{0.0, 0.0}, factor};
    }

    double sign;        // -1: reflected
    DoubleDouble near;  // the reflected near edge
    double width;
    bool outside;
    double from_near;  // E|Z - near edge|
    double mean;       // E[Z], not reflected. Absolute error 1e-15 (relative error outside).
    double variance;   // Var[Z]
    double sd;

    // E[Z] - lower edge and upper edge - E[Z]: both are positive.
    double from_lower() const { return sign > 0.0 ? from_near : width - from_near; }
    double from_upper() const { return sign > 0.0 ? width - from_near : from_near; }

    // K(s) = log E exp(s (Z - mean)) >= 0. Relative error below 2e-13.
    double cumulant(double s) const;

    // Where cumulant() integrates; from there on it uses the closed form.
    bool is_small(double s) const { return std::fabs(s) * sd < 0.25; }

  private:
    static constexpr int kMostNodes = 64;

    template <int Points>
    void integrate(double length, double slope, double offset);

    // E h(s (Z - mean)).
    template <int Points>
    double expected_expm1mx(double s) const {
        return std::fabs(s) * length_ <= 1.0 ? sum_expm1mx_small<Points>(s, deviation_, weight_)
                                             : sum_expm1mx<Points>(s, deviation_, weight_);
    }

    // P(cell seen from s) up to a factor: R or sqrt(2 pi) P, see cumulant().
    double scaled_mass_seen_from(double near_edge, double far_edge) const {
        if (near_edge >= 0.0) return scaled_mass(near_edge, width);
        if (far_edge <= 0.0) return scaled_mass(-far_edge, width);
        return kSqrtTwoPi * mass_around_zero(near_edge, far_edge);
    }

    double far_;
    double scaled_mass_;
    double length_;  // that the nodes cover
    int nodes_;
    double deviation_[kMostNodes];  // of the nodes from their mean, reflected
    double weight_[kMostNodes];     // probability of each node
};

// Total mass, mean distance from the start, and the spread of the nodes about it.
template <int Points>
TIGHTNOISE_VECTOR_LOOP void Cell::integrate(double length, double slope, double offset) {
    double distance[Points], density[Points];
    const auto [total, first] = sample_density<Points>(length, slope, offset, distance, density);
    const double centre = first / total;
    const double scale = 1.0 / total;
    double second = 0.0;
#pragma omp simd reduction(+ : second)
    for (int i = 0; i < Points; ++i) {
        const double deviation = distance[i] - centre;
        const double weight = density[i] * scale;
        deviation_[i] = deviation;
        weight_[i] = weight;
        second += weight * deviation * deviation;
    }
    nodes_ = Points;
    length_ = length;
    scaled_mass_ = length * total;
    from_near = centre;
    variance = second;
}

// The moments are Gauss-Legendre sums over the part of the cell that matters: outside, exp(-a y -
// y^2/2) has fallen by e^-55 at y = 110/(a + sqrt(a^2 + 110)); inside, phi is below e^-45 beyond
// 9.5. All terms of the variance are positive, so it keeps its relative accuracy (1e-14) where
// 1 + (u phi(u) - v phi(v))/d - delta^2 cancels completely.
inline Cell::Cell(const Interval& interval) {
    const Reflected cell = reflect(interval);
    sign = cell.sign;
    near = cell.near;
    width = cell.width;
    far_ = cell.far;
    const double x = near.hi;
    outside = x >= 0.0;

    double start = x, length;
    if (outside) {
        length = 110.0 / (x + std::sqrt(x * x + 110.0));
        if (width < length) length = width;
    } else if (x > -9.5) {
        length = 9.5 - x;
        if (width < length) length = width;
    } else {
        start = -9.5;
        length = (far_ < 9.5 ? far_ : 9.5) + 9.5;
    }

    // exp(-a y - y^2/2) from the near edge outside, exp(-z^2/2) with z = start + y inside.
    const double slope = outside ? x : start;
    const double offset = outside ? 0.0 : -0.5 * start * start;
    switch (nodes_for(outside, length, length * (slope + 0.5 * length))) {
        case 16:
            integrate<16>(length, slope, offset);
            break;
        case 32:
            integrate<32>(length, slope, offset);
            break;
        default:
            integrate<64>(length, slope, offset);
    }
    from_near += start - x;
    mean = sign * (x + from_near);
    sd = std::sqrt(variance);
}

// P(interval) E[Z | interval]^2 = (phi(near) - phi(far))^2/P, far^2 - near^2 = width (near + far):
// relative accuracy also where the mean is e^-1000.
inline double squared_mean_mass(const Interval& interval) {
    const Reflected cell = reflect(interval);
    const double x = cell.near.hi;
    const double fall = -expm1(-0.5 * cell.width * cell.twice_middle);
    const double density = kInverseSqrtTwoPi * exp(cell.near * cell.near * -0.5);
    if (x >= 0.0) return density * fall * fall / scaled_mass(x, cell.width);
    const double difference = density * fall;
    return difference * difference / mass_around_zero(x, cell.far);
}

// Where |s| sd < 1/4: K = log(1 + E h(s (Z - mean))), h(t) = e^t - 1 - t >= 0, over the nodes.
// Else, completing the square, with x the near edge and x - s, v - s the edges seen from s,
//     K = s^2/2 - s E[Z] + log P(cell seen from s) - log P(cell),
// in which the squares of the three edges cancel by hand: with P = exp(-n^2/2) S, n the distance of
// the cell from zero (0 inside),
//     K = [(x-s)^2/2 or s^2/2] - n_s^2/2 + log(S_s/S) - s [E[Z] - x or E[Z]].
inline double Cell::cumulant(double s) const {
    s *= sign;
    if (std::fabs(s) * sd < 0.25) {
        return log1p_of_one(nodes_ == 16   ? expected_expm1mx<16>(s)
                            : nodes_ == 32 ? expected_expm1mx<32>(s)
                                           : expected_expm1mx<64>(s));
    }
    const double x = near.hi;
    const double near_edge = (near.hi - s) + near.lo;
    const double far_edge = near_edge + width;
    double square;
    if (outside) {
        square = near_edge >= 0.0  ? 0.0
                 : far_edge <= 0.0 ? width * (-near_edge - 0.5 * width)
                                   : 0.5 * near_edge * near_edge;
    } else {
        square = near_edge >= 0.0  ? x * (s - 0.5 * x)
                 : far_edge <= 0.0 ? far_ * (s - 0.5 * far_)
                                   : 0.5 * s * s;
    }
    const double ratio = scaled_mass_seen_from(near_edge, far_edge) / scaled_mass_;
    return square + log(ratio) - s * (outside ? from_near : sign * mean);
}

}  // namespace
}  // namespace tightnoise
