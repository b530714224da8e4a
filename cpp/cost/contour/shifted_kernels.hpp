// The inner loop of sums over shifted nodes: shifted_sum.hpp.
#pragma once

#include <cstddef>

#include "runtime/simd_level.hpp"

namespace tightnoise::contour {

constexpr std::size_t kShiftedRun = 512;  // nodes that are added up, at least two at once

// Of nodes j: E_j = e^(i y l_j) - 1, what it is multiplied by from one frequency to the next,
// r_j = e^(i step l_j), less 1 (the turn), and the weights W_j. n is a multiple of eight.
struct ShiftedColumns {
    std::size_t n;
    double *real, *imaginary;  // E_j: moved on by `count` frequencies
    const double *turn_real, *turn_imaginary;
    const double *weight_real, *weight_imaginary;
};

struct ShiftedKernels {
    // e^(-decay[j] + 2 i t) - 1 of the sine and cosine of t, which its real and imaginary parts
    // replace: within 6 u of its size.
    void (*turns)(std::size_t n, const double* decay, double* real, double* imaginary);
    // sums[k] = sum_j W_j E_j at each of the next `count` frequencies, 64 at most, real parts and
    // imaginary.
    void (*sums)(const ShiftedColumns& columns, std::size_t count, double* real, double* imaginary);
    // sum_j modulus[j] e^(-y damping[j])
    double (*tail)(std::size_t n, const double* modulus, const double* damping, double y);
};
TIGHTNOISE_KERNEL_TABLE(ShiftedKernels, shifted_kernels)

}  // namespace tightnoise::contour
