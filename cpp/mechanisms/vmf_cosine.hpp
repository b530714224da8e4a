// The cosine w = y . mu of a von Mises-Fisher sample: density proportional to
// e^(kappa w) (1 - w^2)^((m - 2) / 2) on [-1, 1], with m = dim - 1. Kernel-side header: internal
// linkage, one copy a level; branch-free, so that loops over rows vectorise.
//
// Rejection by Ulrich (1984, Applied Statistics 33, 158 to 163), as corrected by Wood (1994,
// Communications in Statistics 23(1), 157 to 164), in a form where nothing cancels. Let
//     x0 = 2 kappa / (m + sqrt(m^2 + 4 kappa^2)),   w = (x0 + v) / (1 + x0 v),   y = x0 v
// where v is the cosine of a uniform direction, v = g / sqrt(g^2 + G), g ~ N(0, 1), G ~ chi^2_m.
// Wood's b = (1 - x0) / (1 + x0), and his (1 - (1 + b) Z) / (1 - (1 - b) Z), Z ~ Beta(m/2, m/2), is
// this w with v = 1 - 2 Z up to the sign. v has density proportional to (1 - v^2)^((m - 2)/2), so w
// has (dv / dw = (1 - x0^2) / (1 - x0 w)^2)
//     q(w) proportional to (1 - w^2)^((m - 2)/2) / (1 - x0 w)^m
// and the density divided by it is e^(kappa w) (1 - x0 w)^m, greatest at w = x0 because
// kappa (1 - x0^2) = m x0. There 1 - x0 w = 1 - x0^2, so with
//     w - x0 = (1 - x0^2) v / (1 + y),   1 - x0 w = (1 - x0^2) / (1 + y)
// the log of the quotient to its greatest value is
//     kappa (w - x0) - m log(1 + y) = m h(y),   h(y) = y / (1 + y) - log(1 + y) <= 0:
// accept if -2 log U > -2 m h(y). The acceptance probability is
// A(kappa) e^(-kappa x0) (1 - x0^2)^(-m/2), A the moment generating function of w at kappa = 0:
// 1 for kappa << dim, 1/sqrt(1 + x0^2) for large dim, never less than 0.657 (dim = 2,
// kappa -> inf).
#pragma once

#include <cmath>

#include "mechanisms/vmf_stationary.hpp"
#include "numeric/double_double.hpp"
#include "numeric/elementary.hpp"
#include "random/normal.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {

// y / (1 + y) - log(1 + y), given 1 + y too.
// Range: -1 < y. Relative error: 1e-14 above -0.9. NaN gives NaN.
// Small y: sum over k >= 2 of (-1)^(k-1) (k - 1)/k y^k; up to 1/16 what is left out is below 1e-17
// of the sum. Elsewhere at most a factor 32 cancels.
inline double log_acceptance(double y, double one_plus_y) {
    constexpr double kSeries[] = {-1.0 / 2,   2.0 / 3,   -3.0 / 4,   4.0 / 5,   -5.0 / 6,
                                  6.0 / 7,    -7.0 / 8,  8.0 / 9,    -9.0 / 10, 10.0 / 11,
                                  -11.0 / 12, 12.0 / 13, -13.0 / 14, 14.0 / 15};
    const double near_0 = y * y * polynomial_in_halves(kSeries, y);
    const double elsewhere = y / one_plus_y - log1p(y);
    return std::fabs(y) <= 1.0 / 16 ? near_0 : elsewhere;
}

// What kappa and m say of the proposal. kappa = inf gives x0 = 1 and so w = 1.
struct Proposal {
    double m;
    double x0;
    double one_minus_x0;
};

inline Proposal proposal(double kappa, double m) {
    const Stationary at = stationary(kappa, m);
    return {m, at.x, at.one_minus_x};
}

// v of the proposal made from g and G, and what keeps its digits beside it.
struct Proposed {
    double v;
    double one_minus_v;
    double one_plus_v;
    double one_plus_y;
};

inline Proposed proposed(const Proposal& p, double g, double G) {
    const double square = g * g + G;
    const double v = g / std::sqrt(square);
    const double to_nearer_end = G / square / (1.0 + std::fabs(v));  // (1 - v^2) / (1 + |v|)
    const double one_minus_v = v > 0.0 ? to_nearer_end : 1.0 - v;
    const double one_plus_v = v < 0.0 ? to_nearer_end : 1.0 + v;
    return {v, one_minus_v, one_plus_v, p.one_minus_x0 + p.x0 * one_plus_v};
}

// The proposal is accepted if -2 log U is greater. 0 for g = 0.
inline double price(const Proposal& p, double g, double G) {
    const Proposed of = proposed(p, g, G);
    return -2.0 * p.m * log_acceptance(p.x0 * of.v, of.one_plus_y);
}

// w and sqrt(1 - w^2), both to a few units of the last place.
struct Cosine {
    double w;
    double sine;
};

inline Cosine cosine_of(const Proposal& p, double g, double G) {
    const Proposed of = proposed(p, g, G);
    const double one_minus_w = p.one_minus_x0 * of.one_minus_v / of.one_plus_y;
    const double w = one_minus_w < 0.5 ? 1.0 - one_minus_w : (p.x0 + of.v) / of.one_plus_y;
    const double square = p.one_minus_x0 * (1.0 + p.x0) * of.one_minus_v * of.one_plus_v;
    return {w, std::sqrt(square) / of.one_plus_y};
}

// A proposal of its own, from two random words: g and x are independent normals. G is x^2 for
// m = 1, otherwise twice a gamma variable of shape a = m / 2 by Marsaglia and Tsang (2000, ACM
// Transactions on Mathematical Software 26(3), 363 to 372): d (1 + c x)^3 with d = a - 1/3,
// c = 1 / sqrt(9 d) is a gamma variable if 1 + c x > 0 and log U < x^2 / 2 + d (1 - t + log(1 +
// t)), 1 + t = (1 + c x)^3. A proposal that either test turns down is made anew, so the two are
// one: -2 log U is to be greater than both prices together. What is left of x^2 / 2 in the first
// has an absolute error of 5e-16 sqrt(m).
struct Attempt {
    double g;
    double G;
    double price;
    double y;  // c x
    double t;
    box_muller::Pair<double> normals;
};

inline Attempt attempt(const Proposal& p, std::uint64_t radius, std::uint64_t angle) {
    const box_muller::Pair<double> normals = box_muller::pair_of<double>(radius, angle);
    const double g = normals.first;
    const double square = normals.second * normals.second;
    const double d = 0.5 * p.m - 1.0 / 3;
    const double y = normals.second / std::sqrt(9.0 * d);
    const double t = y * (3.0 + y * (3.0 + y));  // (1 + y)^3 - 1
    const bool one = p.m == 1.0;
    const double G = one ? square : 2.0 * (d + d * t);
    const double of_gamma = one ? 0.0 : -(square + 2.0 * d * (log1p(t) - t));
    const double together = of_gamma + price(p, g, G);
    return {g, G, one || y > -1.0 ? together : kInfinity, y, t, normals};
}

// m = 2, the ordinary sphere, where 1 - w is exponential, cut off at 2: by inversion,
//     1 - w = -log(U + (1 - U) e^(-2 kappa)) / kappa = -log1p(-(1 - U)(1 - e^(-2 kappa))) / kappa
// and 1 + w is the same with U and 1 - U exchanged and -kappa, of use where it is below 1; as U is
// at least 2^-65, that needs kappa < 46. Relative error of 1 - w, 1 + w and the sine: 2e-15.
// kappa = inf gives w = 1. kappa below 1e-18 changes w by less than its rounding.
struct SphereLaw {
    double kappa;
    double fallen;      // e^(-2 kappa)
    double fall;        // e^(-2 kappa) - 1
    double back_kappa;  // kappa as far as it counts for 1 + w
    double rise;        // e^(2 kappa) - 1
};

inline SphereLaw sphere_law(double kappa) {
    const double k = kappa < 1e-18 ? 1e-18 : kappa;
    const double back = k > 50.0 ? 50.0 : k;
    return {k, exp(-2.0 * k), expm1(-2.0 * k), back, expm1(2.0 * back)};
}

inline Cosine cosine_on_sphere(const SphereLaw& law, std::uint64_t bits) {
    const auto unit = uniform::two_sided_unit(bits);
    const double u = uniform::select(unit.from_one, 1.0 - unit.near, unit.near);
    const double one_minus_u = uniform::select(unit.from_one, unit.near, 1.0 - unit.near);
    const double x = one_minus_u * law.fall;
    const bool near_1 = x > -0.5;
    const double sum = near_1 ? 1.0 + x : u + one_minus_u * law.fallen;
    const double low = near_1 ? x - (sum - 1.0) : 0.0;
    const double one_minus_w = -log_of_sum(reduce_log_normal(sum), low) / law.kappa;
    const double one_plus_w = log1p(u * law.rise) / law.back_kappa;
    const bool positive = one_minus_w < 1.0;
    const double w = positive ? 1.0 - one_minus_w : one_plus_w - 1.0;
    const double product = positive ? one_minus_w * (2.0 - one_minus_w)  //
                                    : one_plus_w * (2.0 - one_plus_w);
    return {w, std::sqrt(product)};
}

// cosine^2 + sine^2 = 1 to 1e-30.
struct CosineSine {
    DoubleDouble cosine;
    DoubleDouble sine;
};

// Scales (w, s) to w^2 + s^2 = 1; off by less than 1e-15 before.
inline CosineSine on_circle(const Cosine& c) {
    const DoubleDouble excess = (two_product(c.w, c.w) + (-1.0)) + two_product(c.sine, c.sine);
    const double less = -0.5 * rounded(excess);
    return {fast_two_sum(c.w, c.w * less), fast_two_sum(c.sine, c.sine * less)};
}

}  // namespace
}  // namespace tightnoise
