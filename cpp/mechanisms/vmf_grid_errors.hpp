// How far a von Mises-Fisher sample that is made in floats of inexact normals may be from the ideal
// one, made of ideal normals (random/ideal_normal.hpp) and uniforms: for samples on a grid.
// Kernel-side header: internal linkage, one copy a level; branch-free. NaN says that nothing is
// known. Derivations: VMF_GRID.md.
#pragma once

#include <cmath>
#include <cstddef>

#include "mechanisms/vmf_cosine.hpp"

namespace tightnoise {
namespace {

// Of the arithmetic that a row is made with.
struct Accuracy {
    double normal;    // each normal is this near to the ideal one
    double relative;  // roundings of a row's sums, relative to |n|
    double unit;      // of a single operation
    double limit;     // of an acceptance's exponential
    double price;     // what log_acceptance adds, absolute
};

// Of doubles. A normal is off by 63 units of 2^-53 of its evaluation, by 2^-65 / (u r) of the bits
// of u that were not read and by pi/2 2^-53 r of those of the angle: 1.06 2^-46 together where u is
// at least 2^-20 and r^2 at least 2^-36. A pair elsewhere (one in 2^20) is made anew with all bits.
// Sums of up to 17 terms for long rows, which are compensated from there on; of 128 for short ones.
constexpr double kLeastUniform = 0x1p-20;
constexpr double kLeastSquare = 0x1p-36;
constexpr double kNormalError = 0x1.2p-46;
constexpr Accuracy kLongRow = {kNormalError, 0x1p-47, 0x1p-53, 0x1p-39, 0.0};
constexpr Accuracy kShortRow = {kNormalError, 0x1p-44, 0x1p-53, 0x1p-39, 0.0};

// Relative to |n|: what a = n . mu and |n| are off by at most.
inline double relative_error(const Accuracy& of, std::size_t dim, double norm) {
    return of.normal * std::sqrt(static_cast<double>(dim)) / norm + of.relative;
}

// Of v = a / |n|.
inline double cosine_error(double relative) {
    return 2.5 * relative;
}

// 0 if `condition`, else NaN.
inline double known_if(bool condition) {
    return condition ? 0.0 : kNaN;
}

inline double known_pair(const box_muller::Pair<double>& pair) {
    return known_if(pair.u >= kLeastUniform) + known_if(pair.square >= kLeastSquare);
}

// Of price(p, g, G) where v is off by at most v_error.
inline double price_error(const Proposal& p, const Proposed& of, double v_error,
                          const Accuracy& by) {
    const double y = std::fabs(p.x0 * of.v);
    const double square = of.one_plus_y * of.one_plus_y;
    const double known = known_if(16.0 * v_error <= of.one_plus_y);
    return 4.0 * p.m * (y + v_error) * v_error / square + 32.0 * p.m * by.price + known;
}

// 0 where limit <= price is as sure as the two are, else NaN. A limit of more than kSureLimit has
// too few bits.
constexpr double kSureLimit = 33.0;  // -2 log 2^-23.8
inline double known_acceptance(double limit, double price, double error) {
    const double apart = limit < kSureLimit ? std::fabs(limit - price) : kSureLimit - price;
    return known_if(apart > error);
}

// Of an attempt: of its v, and of its price.
struct AttemptError {
    double v;
    double price;
};
inline AttemptError error_of(const Proposal& p, const Attempt& made, const Accuracy& by) {
    const double e = by.normal;
    const double d = 0.5 * p.m - 1.0 / 3;
    const double x = std::fabs(made.normals.second);
    const double root = 1.0 + made.y;
    const double cube = root * root * root;
    const double square = made.g * made.g + made.G;
    const double of_g = 3.0 * e / std::sqrt(square) + 64.0 * by.unit;
    const double of_G = (1.5 * e * std::sqrt(d) * root * root + 32.0 * by.unit * d) / square;
    const double t = std::fabs(made.t);
    const double of_gamma = 3.0 * e * (x + std::sqrt(d) * t / root) +
                            128.0 * by.unit * d * t * (1.0 + 1.0 / cube) + 8.0 * by.unit * x * x;
    const bool one = p.m == 1.0;
    const double v = one ? of_g : of_g + of_G;
    const double of_cosine = price_error(p, proposed(p, made.g, made.G), v, by);
    const double of_both = one ? of_cosine : of_cosine + of_gamma;
    // Next to x = -sqrt(9 d), whether there is a proposal is open; beyond there is none.
    const double sure = known_if((one ? 1.0 : cube) > 0x1p-30);
    return {v, (one ? 0.0 : made.y) < -1.0 - 0x1p-30 ? 0.0 : of_both + sure};
}

// y = w mu + of_tangent (n - along mu), and its error: at most
// of_mu |mu_i| + of_n |n_i| + constant. The first proposal's a, |t|^2 and v_error / 2.5 are those
// of the normals n; g, G and v_error those that were accepted. Without a direction y = n / |n|.
struct LineOnGrid {
    double w;
    double of_tangent;
    double error_of_mu;
    double error_of_n;
    double error;
};
inline LineOnGrid line_on_grid(const Proposal& p, double a, double tangent, double relative,
                               double g, double G, double v_error, bool is_directed,
                               const Accuracy& by) {
    const Proposed of = proposed(p, g, G);
    const Cosine c = cosine_of(p, g, G);
    const double accepted = G / (g * g + G);  // 1 - v^2
    const double turn =
        1.3 * v_error * std::sqrt(p.one_minus_x0 * (1.0 + p.x0) / accepted) / of.one_plus_y;
    const double norm_square = a * a + tangent;
    const double across = tangent / norm_square;
    const double known = known_if(16.0 * v_error <= accepted) +
                         known_if(16.0 * v_error <= of.one_plus_y) +
                         known_if(32.0 * relative <= across);
    const double length = std::sqrt(is_directed ? tangent : norm_square);
    const double sine = is_directed ? c.sine : 1.0;
    const double of_length = 2.5 * sine * relative / (is_directed ? across : 1.0);
    const double both =
        is_directed ? turn + of_length + by.relative + known : of_length + by.relative;
    return {c.w, sine / length, both * (1.0 + std::fabs(a) / length), both / length,
            1.2 * sine * by.normal / length};
}

}  // namespace
}  // namespace tightnoise
