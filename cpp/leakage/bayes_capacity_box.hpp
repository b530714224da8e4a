// One coordinate with Gaussian noise and its true value theta anywhere in [from, to]: C - 1.
// Kernel-side header: internal linkage.
//
// All these mechanisms have a distribution function F_theta(y) that falls as theta rises, and a
// most likely theta, theta(y), that rises with y. Going from one output to the next, C - 1 is the
// sum of how much of the law at theta(y) passes y as theta(y) rises; so, with y(theta) an output
// that theta is the most likely origin of,
//
//     C - 1 = integral_from^to (-dF_theta/dtheta)(y(theta)) dtheta.
//
// Nothing in it is negative, so nothing cancels however small C - 1 is. For an output that is a
// function of theta + noise, -dF/dtheta at a threshold t is the noise's density at t - theta:
//
//     Gaussian    y = theta:            the density is 1/(sigma sqrt(2 pi)), C - 1 its product with
//                                       the length of the domain
//     rectified   y = theta, inside:    as the Gaussian: clipping saves nothing there;
//                 theta outside:        t is the bound next to it
//     quantised   t is the threshold next to theta: letters are in the middle of their cells
//     sign        t = 0
//
// so that C - 1 is a sum of probabilities of Gaussian intervals. Truncated: an exponential family
// in theta, so y(theta) is the mean m, and -dF/dtheta = E[(m - Y)_+]/sigma^2: no closed form of the
// integral is known (that of the normalised maximum likelihood of the family), and this is a sum
// over panels of Gauss-Legendre.
#pragma once

#include "mechanisms/lane.hpp"

namespace tightnoise {
namespace {

// In units of sigma, seen from the mechanism's lower bound (for the sign, from 0).
struct StandardBox {
    DoubleDouble upper;     // bound
    DoubleDouble from, to;  // of theta; may be infinite
    int levels;
};

inline DoubleDouble distance_in_sigmas(double x, double origin, double sigma) {
    if (std::isinf(x)) return {x, 0.0};
    return two_sum(x, -origin) / sigma;
}

inline DoubleDouble smaller(DoubleDouble a, DoubleDouble b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo) ? a : b;
}

inline DoubleDouble larger(DoubleDouble a, DoubleDouble b) {
    return smaller(a, b).hi == a.hi && smaller(a, b).lo == a.lo ? b : a;
}

// P(from <= centre + Z <= to), 0 if to <= from. Relative error 3e-15.
inline double mass_between(DoubleDouble centre, DoubleDouble from, DoubleDouble to) {
    Interval interval{from, to, kInfinity};
    if (std::isfinite(from.hi)) interval.lower = from - centre;
    if (std::isfinite(to.hi)) interval.upper = to - centre;
    if (std::isfinite(from.hi) && std::isfinite(to.hi)) interval.width = rounded(to - from);
    constexpr double kFar = 40.0;  // e^(-kFar^2 / 2) = 0
    if (interval.lower.hi > kFar || interval.upper.hi < -kFar) return 0.0;
    return interval.width > 0.0 ? mass_of(interval).value() : 0.0;
}

inline double gaussian_excess(const StandardBox& box) {
    return kInverseSqrtTwoPi * rounded(box.to - box.from);
}

inline double rectified_excess(const StandardBox& box) {
    const DoubleDouble lower{0.0, 0.0};
    const DoubleDouble inside_from = larger(box.from, lower);
    const DoubleDouble inside_to = smaller(box.to, box.upper);
    const double inside = rounded(inside_to - inside_from);
    return mass_between(lower, box.from, smaller(box.to, lower)) +
           kInverseSqrtTwoPi * (inside > 0.0 ? inside : 0.0) +
           mass_between(box.upper, larger(box.from, box.upper), box.to);
}

inline double sign_excess(const StandardBox& box) {
    return mass_between({0.0, 0.0}, box.from, box.to);
}

// Thresholds are half-way between the letters, so that threshold i is the one next to theta from
// letter i to letter i + 1; the first one and the last one for all theta below and above.
inline double quantized_excess(const StandardBox& box) {
    const int last = box.levels - 2;
    const DoubleDouble step = box.upper / static_cast<double>(last + 1);
    const auto letter = [&](int i) { return step * static_cast<double>(i); };
    const auto threshold = [&](int i) { return step * (i + 0.5); };
    const auto next_threshold = [&](DoubleDouble theta) {
        const double i = std::floor(theta.hi / step.hi);
        return !(i > 0.0) ? 0 : i < last ? static_cast<int>(i) : last;
    };
    const int first = next_threshold(box.from), end = next_threshold(box.to);
    if (first == end) return mass_between(threshold(first), box.from, box.to);
    const int whole = end - first - 1;  // from letter to letter
    return mass_between(threshold(first), box.from, letter(first + 1)) +
           (whole > 0 ? whole * mass_between(threshold(0), letter(0), letter(1)) : 0.0) +
           mass_between(threshold(end), letter(end), box.to);
}

// integral_0^mean (mean - y) e^(-y (slope + y/2)) dy for mean (slope + mean/2) of ordinary size.
TIGHTNOISE_VECTOR_LOOP inline double scaled_shortfall(double mean, double slope) {
    using Rule = GaussLegendre<16>;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 16; ++i) {
        const double y = mean * Rule::nodes[i];
        sum += Rule::weights[i] * (mean - y) * exp(-y * (slope + 0.5 * y));
    }
    return mean * sum;
}

// Seen from so deep within the support, bounds do not matter: the shortfall is phi(0).
constexpr double kDeep = 9.0;

// E[(m - Z)_+ | support] with m the mean there: half the mean absolute deviation, which has the
// same value seen from either side. Relative error 5e-15.
inline double shortfall(const Interval& support) {
    const Cell cell(support);
    const double near = cell.near.hi, mass = cell.mass().factor;
    if (cell.outside) {
        return kInverseSqrtTwoPi * scaled_shortfall(cell.from_near, near) / mass;
    }
    constexpr double kLongest = 4.5;  // for 16 nodes
    if (cell.from_near <= kLongest) {
        const double density = kInverseSqrtTwoPi * exp_minus_half_square(near);
        return density * scaled_shortfall(cell.from_near, near) / mass;
    }
    // m (Phi(m) - Phi(near)) + phi(m) - phi(near), with near < -3.7 and 0 <= m < 0.8.
    const double mean = cell.sign * cell.mean;
    const double densities = exp_minus_half_square(mean) - exp_minus_half_square(near);
    return (mean * (ndtr(mean) - ndtr(near)) + kInverseSqrtTwoPi * densities) / mass;
}

// The integral of the shortfall over theta from x0 to x1 beyond one of the bounds (negative: within
// the support, nearer to this bound than to the other one if that is more than kDeep away).
// It has its singularities near the bounds, 2.8 off the real line: 8 nodes have an error of 1e-16
// on panels of length 1, and on longer ones outside.
inline double shortfall_beyond(DoubleDouble x0, DoubleDouble x1, DoubleDouble support) {
    using Rule = GaussLegendre<8>;
    double sum = 0.0;
    if (x0.hi < -kDeep) {
        const DoubleDouble end = smaller(x1, {-kDeep, 0.0});
        sum = kInverseSqrtTwoPi * rounded(end - x0);
        x0 = end;
    }
    const double length = rounded(x1 - x0);
    for (double at = 0.0; at < length;) {
        const DoubleDouble x = x0 + at;
        const double longest = x.hi > 0.0 ? 1.0 + 0.5 * x.hi : 1.0;
        const double panel = longest < length - at ? longest : length - at;
        double panel_sum = 0.0;
        for (int i = 0; i < 8; ++i) {
            const DoubleDouble node = x + panel * Rule::nodes[i];
            panel_sum += Rule::weights[i] * shortfall({node, node + support, support.hi});
        }
        sum += panel * panel_sum;
        at += panel;
    }
    return sum;
}

// From each bound outwards, for theta may be so far out that steps from there would not add up.
inline double truncated_excess(const StandardBox& box) {
    // So narrow a support has the uniform law wherever theta is: the shortfall is an eighth of its
    // width. A width that underflows must not count for nothing where the domain is vast.
    constexpr double kNarrow = 1e-120, kLeastNormal = 0x1p-1022;
    if (box.upper.hi < kNarrow) {
        const double width = box.upper.hi > kLeastNormal ? box.upper.hi : kLeastNormal;
        return 0.125 * (width * rounded(box.to - box.from));
    }
    const DoubleDouble split = box.upper.hi > kDeep ? box.upper * 0.5 : box.upper;
    double sum = 0.0;
    if (rounded(split - box.from) > 0.0) {
        sum += shortfall_beyond(-smaller(box.to, split), -box.from, box.upper);
    }
    if (rounded(box.to - split) > 0.0) {
        sum += shortfall_beyond(larger(box.from, split) - box.upper, box.to - box.upper, box.upper);
    }
    return sum;
}

}  // namespace
}  // namespace tightnoise
