// What sums over the coordinates of a box share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "worst/box_kernels.hpp"
#include "worst/box_loss.hpp"

namespace tightnoise {

// Coordinates a thread takes at a time: partial sums are always of the same ones.
constexpr std::size_t kBoxBlock = 4096;

inline std::size_t box_blocks(std::size_t n) {
    return (n + kBoxBlock - 1) / kBoxBlock;
}

// What rounding may do to a bound, relatively: losses and the terms beside them have errors below
// 5e-15, k and w are rounded, which changes a loss by twice that at most.
constexpr double kBoundMargin = 1e-14;

inline const BoxKernels::Family& kernels_of(BoundedNoise noise) {
    switch (noise) {
        case BoundedNoise::truncated:
            return box_kernels().truncated;
        case BoundedNoise::rectified:
            return box_kernels().rectified;
        case BoundedNoise::bounded_laplace:
            return box_kernels().bounded_laplace;
        default:
            return box_kernels().truncated_theorem;
    }
}

// sqrt(x(0)^2 + ... + x(n - 1)^2) of x >= 0, which neither overflows nor underflows before.
template <class Element>
double norm_of(std::size_t n, Element x) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, x(i));
    if (!(largest > 0.0)) return 0.0;
    CompensatedSum squares;
    for (std::size_t i = 0; i < n; ++i) add(squares, (x(i) / largest) * (x(i) / largest));
    return largest * std::sqrt(value(squares));
}

// The term of Theorem 13 that is not log Delta C_m.
inline double theorem_exponent(double width_norm, double longest, double scale) {
    return (width_norm / scale + 0.5 * (longest / scale)) * (longest / scale);
}

// A guess of the scale, from the loss of differences c_i: between c.width/(2 scale^2) and twice
// that for Gaussian noise of a scale beyond or below the widths, between |c|_1/scale and twice that
// for Laplace noise; for rectified noise the larger of both.
inline ScaleGuess guess_of_scale(BoundedNoise noise, double root_of_product, double sum,
                                 double epsilon) {
    const double quadratic = root_of_product / std::sqrt(epsilon);
    const double linear = sum / epsilon;
    if (noise == BoundedNoise::bounded_laplace) return {1.4 * linear, -1.0};
    if (noise == BoundedNoise::rectified && linear > quadratic) return {linear, -1.0};
    return {quadratic, -2.0};
}

}  // namespace tightnoise
