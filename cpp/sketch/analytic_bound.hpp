// How large a Renyi divergence can be on a Bernstein ellipse, which bounds the error of a
// Chebyshev expansion of it. Statement and proof: ANALYTIC_BOUND.md beside this file.
#pragma once

#include <cstddef>

namespace tightnoise {

enum class BoundedGaussian { rectified, truncated, sign, quantized };

// f(t) = D_alpha(M(t) || M(t + shift)), sigma = 1, support [-half_width, half_width] (sign: the
// threshold is 0 and half_width, greater than 0, means nothing; `levels` is of the quantised output
// alone). f is analytic in the Bernstein ellipse of [t0, t1]
// whose semi-axes sum to rho (t1 - t0) / 2, and |f| <= bound inside it.
// bound = infinity: nothing is claimed.
struct AnalyticBound {
    double rho;
    double bound;
};

// The error of interpolating f in `terms` Chebyshev points of [t0, t1], or of truncating its
// Chebyshev series to `terms` coefficients: 4 M rho^(1 - terms) / (rho - 1).
// Trefethen, "Approximation Theory and Approximation Practice", Theorem 8.2 (degree terms - 1).
double interpolation_error(const AnalyticBound& f, double terms);

// What is asked about f on some intervals [t0, t1]. alpha may be infinity; the other numbers are
// finite, t0 < t1, half_width > 0, terms >= 2.
struct RenyiQuestion {
    BoundedGaussian kind;
    double half_width;
    int levels;
    double shift;
    const double* alphas;
    std::size_t orders;
    const double* t0;
    const double* t1;
    std::size_t intervals;
    double terms;
    // For each order, an interpolation error that is small enough. Where that is 0, the smallest is
    // looked for, which takes longer.
    const double* enough;
};

// Bounds (orders, intervals) whose interpolation_error(bound, terms) is small. Nothing is claimed
// for alpha < 1.
void renyi_analytic_bounds(const RenyiQuestion& question, AnalyticBound* out);

// One bound for t -> the Fisher information of M(t) about t (the limit of 2 D_alpha / (alpha
// shift^2)).
AnalyticBound fisher_analytic_bound(BoundedGaussian kind, double half_width, int levels, double t0,
                                    double t1, double terms);

}  // namespace tightnoise
