// Loops over arrays: one for each scalar function of numeric/.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// A float32 or float64 array to write.
struct Output {
    void* data;
    bool is_float32;
};

// A sum with the rounding error it left out.
struct PartialSum {
    double sum;
    double error;
};

// All work on the n elements from `begin` on, in double precision.
struct SpecialKernels {
    using Unary = void (*)(const Operand& x, const Output& y, std::size_t begin, std::size_t n);
    using Binary = void (*)(const Operand& u, const Operand& v, const Output& y, std::size_t begin,
                            std::size_t n);
    using Ternary = void (*)(const Operand& u, const Operand& v, const Operand& w, const Output& y,
                             std::size_t begin, std::size_t n);
    Unary exp, log, log1p, expm1, expm1mx;
    Unary erfcx, ndtr, log_ndtr, hazard, mills, ndtri, ndtri_exp;
    Binary log_ndtr_diff;
    Binary iv_ratio, iv_ratio_complement, log_iv, log_sphere_mean, log_peak_to_mean;
    Ternary log_sphere_mean_rise;

    // Reductions: of one block, and of the blocks' results in their order.
    PartialSum (*sum)(const Operand& x, std::size_t begin, std::size_t n);
    double (*combine_sums)(const PartialSum* blocks, std::size_t n);
    // The largest |x|; NaN where an element is NaN or infinite.
    double (*magnitude)(const Operand& x, std::size_t begin, std::size_t n);
    double (*maximum)(const Operand& x, std::size_t begin, std::size_t n);
    double (*combine_maxima)(const double* blocks, std::size_t n);
    PartialSum (*sum_of_exp)(const Operand& x, double largest, std::size_t begin, std::size_t n);
    double (*combine_log_sum_exp)(const PartialSum* blocks, double largest, std::size_t n);
};
TIGHTNOISE_KERNEL_TABLE(SpecialKernels, special_kernels)

}  // namespace tightnoise
