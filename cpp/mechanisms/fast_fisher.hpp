// Fisher informations sigma^2 eta^2 for a block of coordinates at once, each with a bound on its
// relative error; "Privacy Amplification for the Gaussian Mechanism via Bounded Support", Eq. (4)
// and Appendix F. In all of them phi and both tails at the edges are one exponential and one Mills
// ratio an edge. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "mechanisms/fast_columns.hpp"

namespace tightnoise {
namespace {

// phi(z), P(Z > |z|), and the hazards phi/Phi(z) of a step down, phi/(1 - Phi(z)) of a step up.
// Relative errors: 3 ulps, 5 and 6.
struct Edge {
    double density, tail, down, up;
};

inline Edge edge_at(double z) {
    const double mills = mills_positive(std::fabs(z));
    const double density = kInverseSqrtTwoPi * exp_minus_half_square(z);
    const double tail = density * mills;
    const double in_tail = 1.0 / mills, beyond = density / (1.0 - tail);
    return {density, tail, z < 0.0 ? in_tail : beyond, z < 0.0 ? beyond : in_tail};
}

// Phi(v) - Phi(u) from the two tails.
inline double mass_between(double u, double u_tail, double v, double v_tail) {
    return u >= 0.0 ? u_tail - v_tail : v <= 0.0 ? v_tail - u_tail : 1.0 - (u_tail + v_tail);
}

// Its rounding error in units of kUlp, given the edges.
inline double mass_between_error(double u, double u_tail, double v, double v_tail) {
    return 6.0 * (u_tail + v_tail) + (u < 0.0 && v > 0.0 ? 1.0 : 0.0);
}

// The relative error of a value that is off by `error` units of kUlp, and some more by underflow.
// 40 sigma from all the mass the value is 0, as it is the slow way.
inline double relative_to(double value, double error, double nearer) {
    return value == 0.0 && nearer > 40.0 ? 0.0 : (error + 1e-280) / std::fabs(value) * kUlp;
}

// The sign: phi^2/(Phi (1 - Phi)) at u, the product of the hazards.
TIGHTNOISE_VECTOR_LOOP inline void fisher_sign(const StandardColumns& x, int, std::size_t n,
                                               double* value, double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i];
        const Edge edge = edge_at(u);
        const double product = edge.down * edge.up;
        value[i] = product;
        // u is off by 2 ulps of itself, and the slope of the logarithm is below 2 (1 + |u|).
        const double error = product * (16.0 + 4.0 * std::fabs(u) * (1.0 + std::fabs(u)));
        relative_error[i] = relative_to(product, error, std::fabs(u));
    }
}

// phi(u) [u + phi(u)/Phi(u)] + phi(v) [phi(v)/Phi(-v) - v] + Phi(v) - Phi(u), all of them positive;
// the derivatives are -phi(u) [...]^2 and phi(v) [...]^2.
TIGHTNOISE_VECTOR_LOOP inline void fisher_rectified(const StandardColumns& x, int, std::size_t n,
                                                    double* value, double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i];
        const double size_u = std::fabs(u), size_v = std::fabs(v);
        const Edge left = edge_at(u), right = edge_at(v);
        const double beyond_u = left.down + u, beyond_v = right.up - v;
        const double inside = mass_between(u, left.tail, v, right.tail);
        const double sum = left.density * beyond_u + right.density * beyond_v + inside;
        const double left_error = 4.0 * std::fabs(beyond_u) + 7.0 * left.down + size_u +
                                  2.0 * size_u * beyond_u * beyond_u;
        const double right_error = 4.0 * std::fabs(beyond_v) + 7.0 * right.up + size_v +
                                   2.0 * size_v * beyond_v * beyond_v;
        const double error = left.density * left_error + right.density * right_error +
                             mass_between_error(u, left.tail, v, right.tail) + 2.0 * sum;
        value[i] = sum;
        relative_error[i] = relative_to(sum, error, larger_of(u, -v));
    }
}

// Var[Z | u < Z < v] where the density varies little, |m| h <= 2 and h <= 1/2 with m the middle and
// h half the width: with g(t) = e^(a t - q t^2/2), a = m h (turned over, which is the same), q =
// h^2 and its Taylor coefficients (n + 1) c[n+1] = a c[n] - q c[n-1], the moments of t on [-1, 1]
// are sums of c[n]/(n + 1), c[n]/(n + 2) and c[n]/(n + 3).
inline bool is_narrow_support(double u, double v) {
    const double h = 0.5 * (v - u), m = 0.5 * (u + v);
    return larger_of(4.0 * h, std::fabs(m) * h) <= 2.0;
}

inline double narrow_variance(double u, double v) {
    const double h = 0.5 * (v - u), m = 0.5 * (u + v);
    const double a = m * h, q = h * h;
    double even = 1.0, odd = a;
    double total = 1.0, first = a * (1.0 / 3.0), second = 1.0 / 3.0;
#pragma GCC unroll 14
    for (int n = 2; n < 30; n += 2) {
        even = (a * odd - q * even) * (1.0 / n);
        odd = (a * even - q * odd) * (1.0 / (n + 1));
        total += even * (1.0 / (n + 1));
        second += even * (1.0 / (n + 3));
        first += odd * (1.0 / (n + 3));
    }
    const double mean = first / total;
    return q * (second / total - mean * mean);
}

// 1 + (u phi(u) - v phi(v))/d - ((phi(u) - phi(v))/d)^2 with d = Phi(v) - Phi(u). Its derivatives
// are +-phi/d [(edge - mean)^2 - V]; that in d is (1 - V + mean^2)/d.
TIGHTNOISE_VECTOR_LOOP inline void fisher_wide(const StandardColumns& x, std::size_t n,
                                               double* value, double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i];
        const double size_u = std::fabs(u), size_v = std::fabs(v);
        const Edge left = edge_at(u), right = edge_at(v);
        const double mass = mass_between(u, left.tail, v, right.tail);
        const double scale = 1.0 / mass;
        const double p = left.density * scale, q = right.density * scale;
        const double mean = p - q;
        const double slope = u * p - v * q;
        const double variance = (1.0 + slope) - mean * mean;

        const double from_u = mean - u, from_v = v - mean;
        const double size_p = 5.0 * p, size_q = 5.0 * q;
        const double mass_error = mass_between_error(u, left.tail, v, right.tail) * scale;
        const double error = 2.0 * (1.0 + std::fabs(slope) + mean * mean) + size_u * size_p +
                             size_v * size_q + 2.0 * std::fabs(mean) * (size_p + size_q) +
                             mass_error * (1.0 + std::fabs(2.0 * mean * mean - slope)) +
                             2.0 * size_u * p * (from_u * from_u + 1.0) +
                             2.0 * size_v * q * (from_v * from_v + 1.0);

        value[i] = variance;
        relative_error[i] = kUlp * error / variance;
    }
}

TIGHTNOISE_VECTOR_LOOP inline void fisher_narrow(const StandardColumns& x, std::size_t n,
                                                 double* value, double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i];
        const double variance = narrow_variance(u, v);
        // The width is off by 3 ulps of an edge, and the variance goes with its square.
        const double error = 40.0 + 6.0 * larger_of(std::fabs(u), std::fabs(v)) / (v - u);
        const double wide = value[i], wide_error = relative_error[i];
        const bool narrow = is_narrow_support(u, v);
        value[i] = narrow ? variance : wide;
        relative_error[i] = narrow ? kUlp * error : wide_error;
    }
}

inline void fisher_truncated(const StandardColumns& x, int, std::size_t n, double* value,
                             double* relative_error) {
    fisher_wide(x, n, value, relative_error);
    int narrow = 0;
    for (std::size_t i = 0; i < n; ++i) narrow += is_narrow_support(x.u.at[i], x.v.at[i]);
    if (narrow > 0) fisher_narrow(x, n, value, relative_error);
}

// The columns of an edge between two cells of a quantised output. An infinite edge is all zeros but
// for its place. slips: what an error of the place does to a mass, and to its first moment.
struct EdgeColumns {
    Column place, size, density, tail, slip, moment_slip;
};

inline void infinite_edge(double place, std::size_t n, EdgeColumns& edge) {
    for (std::size_t i = 0; i < n; ++i) {
        edge.place.at[i] = place;
        edge.size.at[i] = edge.density.at[i] = edge.tail.at[i] = 0.0;
        edge.slip.at[i] = edge.moment_slip.at[i] = 0.0;
    }
}

TIGHTNOISE_VECTOR_LOOP inline void fisher_edge(const StandardColumns& x, double fraction,
                                               std::size_t n, EdgeColumns& edge) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double z = threshold_at(x.u.at[i], x.v.at[i], fraction);
        const Edge at = edge_at(z);
        const double slip =
            kThresholdUlps * larger_of(std::fabs(x.u.at[i]), std::fabs(x.v.at[i])) * at.density;
        edge.place.at[i] = z;
        edge.size.at[i] = std::fabs(z);
        edge.density.at[i] = at.density;
        edge.tail.at[i] = at.tail;
        edge.slip.at[i] = slip;
        edge.moment_slip.at[i] = slip * std::fabs(z);
    }
}

// Adds p E[Z | cell]^2 = D^2/p, D = phi(a) - phi(b), and its error. With M the mean as computed and
// T >= |E[Z | cell]|, the farther edge, at most 1 beyond the finite one: D^2/p is off by at most
// (|M| + T) times the error of D and |M| T times that of p. Cells of no mass are left out.
TIGHTNOISE_VECTOR_LOOP inline void fisher_cell(const EdgeColumns& a, const EdgeColumns& b,
                                               std::size_t n, Column& sum, Column& error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double left = a.place.at[i], right = b.place.at[i];
        const double left_tail = a.tail.at[i], right_tail = b.tail.at[i];
        const double mass = mass_between(left, left_tail, right, right_tail);
        const double first = a.density.at[i] - b.density.at[i];
        const bool empty = !(mass > 1e-300);
        const double mean = empty ? 0.0 : first / mass;
        const double far = larger_of(a.size.at[i], b.size.at[i]) + 1.0;
        const double first_error =
            4.0 * (a.density.at[i] + b.density.at[i]) + (a.moment_slip.at[i] + b.moment_slip.at[i]);
        const double mass_error =
            mass_between_error(left, left_tail, right, right_tail) + (a.slip.at[i] + b.slip.at[i]);
        const double term = first * mean, size = std::fabs(mean);
        const double left_out = empty ? std::fabs(first) * far * (1.0 / kUlp) : 0.0;
        sum.at[i] += term;
        error.at[i] += first_error * (size + far) + mass_error * (size * far) +
                       (left_out + 3.0 * std::fabs(term));
    }
}

inline void fisher_quantized(const StandardColumns& x, int levels, std::size_t n, double* value,
                             double* relative_error) {
    EdgeColumns edges[2];
    Column sum, error;
    for (std::size_t i = 0; i < n; ++i) sum.at[i] = error.at[i] = 0.0;
    infinite_edge(-kInfinity, n, edges[0]);
    for (int cell = 0; cell < levels; ++cell) {
        EdgeColumns &left = edges[cell % 2], &right = edges[(cell + 1) % 2];
        if (cell + 1 < levels) {
            fisher_edge(x, threshold_fraction(cell, levels), n, right);
        } else {
            infinite_edge(kInfinity, n, right);
        }
        fisher_cell(left, right, n, sum, error);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double nearer = larger_of(x.u.at[i], -x.v.at[i]);
        value[i] = sum.at[i];
        relative_error[i] = relative_to(sum.at[i], error.at[i], nearer);
    }
}

}  // namespace
}  // namespace tightnoise
