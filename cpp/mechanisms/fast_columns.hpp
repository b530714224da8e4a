// What the fast tier works on: a block of coordinates as columns, one quantity each. Its functions
// are closed forms, branch-free, each with a bound on its own rounding error. Where the bound is
// too large (nearby values, far tails, narrow supports) the caller takes the slower, accurate way.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cstddef>

#include "mechanisms/cell.hpp"

namespace tightnoise {
namespace {

// What a result of the closed form may be off by, relatively, to be kept.
constexpr double kFastTolerance = 3e-13;

constexpr std::size_t kFastBlock = 256;

// One quantity of each coordinate of a block.
struct alignas(64) Column {
    double at[kFastBlock];
};

// The parameters of a block.
struct LaneColumns {
    const double *theta, *sigma, *lower, *upper, *shift, *alpha;
};

// u = (lower - theta)/sigma, v = (upper - theta)/sigma, k = shift/sigma, beta = alpha - 1. u and v
// are off by a few ulps of themselves plus margin |k|.
struct StandardColumns {
    Column u, v, k, beta;
    double margin;
};

constexpr double kUlp = 0x1p-52;

TIGHTNOISE_VECTOR_LOOP inline void standardise(const LaneColumns& lanes, std::size_t n,
                                               StandardColumns& out) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double scale = 1.0 / lanes.sigma[i];
        out.u.at[i] = (lanes.lower[i] - lanes.theta[i]) * scale;
        out.v.at[i] = (lanes.upper[i] - lanes.theta[i]) * scale;
        out.k.at[i] = lanes.shift[i] * scale;
        out.beta.at[i] = lanes.alpha[i] - 1.0;
    }
    out.margin = 0.0;
}

// Where a quantised output changes from letter i to the next, as a fraction of the support, and its
// place: off by kThresholdUlps of the farther bound, besides what shifting the bounds has cost.
constexpr double kThresholdUlps = 5.0;

inline double threshold_fraction(int i, int levels) {
    return (i + 0.5) / (levels - 1.0);
}

inline double threshold_at(double u, double v, double fraction) {
    return u * (1.0 - fraction) + v * fraction;
}

}  // namespace
}  // namespace tightnoise
