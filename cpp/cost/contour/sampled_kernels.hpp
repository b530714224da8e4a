// The loops over nodes of sampled laws: sampled_pair.hpp and the sampled Gaussian's.
#pragma once

#include <cstddef>

#include "runtime/simd_level.hpp"

namespace tightnoise::contour {

// Nodes at a_j = (first + j) spacing exactly, z_j = sigma a_j + middle, and a share of smaller
// losses, Phi((z' - z_j)/width) where width is above 0 and Phi((z_j - z')/|width|) where it is
// below; none where it is infinite.
struct SampledGrid {
    double rate, sigma, middle, first, spacing, log_step;
    double top, width;
};
struct SampledColumns {
    double *z, *excess, *loss, *log_weight;  // excess = w - 1, loss = log w
};

// The same grid moved to Im z = tau, a to a + i angle, 0 <= angle < pi/2; powers w^order.
struct ShiftedGrid {
    double rate, sigma, middle, first, spacing, log_factor, order, tau, angle;
    double sine, cosine, half_sine;  // of the angle, and of half of it
};
struct ShiftedGridColumns {
    double *z, *log_size, *angle;  // log|w|, and arg w in [0, angle]
    double *log_modulus, *phase;   // of e^log_factor e^(-(z + i tau)^2/2) w^order
};

struct TiltedSum {
    double largest, total;
};
// Of weights g_j: sums of g_j L_j, g_j L_j^2, and g_j times its relative error in units u.
struct WeightedSums {
    double mean, square, error;
};

struct SampledKernels {
    void (*nodes)(const SampledGrid& grid, std::size_t n, const SampledColumns& columns);
    // log w errs by at most 30 u |log w|, for exact a and b; rate in [1e-100, 1).
    void (*shifted)(const ShiftedGrid& grid, std::size_t n, const ShiftedGridColumns& columns);
    // weight[j] = e^(e_j - largest), e_j = log_weight[j] + order loss[j], and their sum.
    TiltedSum (*tilt)(std::size_t n, const double* log_weight, const double* loss, double order,
                      double* weight);
    // By the grid's sigma and share, in powers w^order.
    WeightedSums (*sums)(const SampledGrid& grid, std::size_t n, const double* weight,
                         const double* z, const double* loss, double order);
    // log sum_j e^(base[j] + power log1p(-mixed[j] square)).
    double (*powers)(std::size_t n, const double* base, const double* mixed, double power,
                     double square);
    // sum_j weight[j] e^(power log1p(-2 p (1 - p)(1 - cosine)) - y b_j), b_j at most the angle of
    // 1 - p + p (cosine + i sine), cosine > 0 and sine >= 0.
    double (*tail)(std::size_t n, const double* weight, const double* share, double power,
                   double sine, double cosine, double y);
};
TIGHTNOISE_KERNEL_TABLE(SampledKernels, sampled_kernels)

}  // namespace tightnoise::contour
