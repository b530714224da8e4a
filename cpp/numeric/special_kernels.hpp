// Loops over arrays: one for each scalar function of numeric/.
#pragma once

#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// A float32 or float64 array to write.
struct Output {
    void* data;
    bool is_float32;
};

// All work on the n elements from `begin` on, in double precision.
struct SpecialKernels {
    // y[i] = f(x[0][i], x[1][i], ...), of as many operands as f has.
    using Map = void (*)(const Operand* x, const Output& y, std::size_t begin, std::size_t n);
    Map exp, log, log1p, expm1, expm1mx;
    Map erfcx, ndtr, log_ndtr, hazard, mills, ndtri, ndtri_exp;
    Map log_ndtr_diff;
    Map iv_ratio, iv_ratio_complement, log_iv, log_sphere_mean, log_peak_to_mean;
    Map log_sphere_mean_rise;

    // Reductions: of one block, and of the blocks' results in their order.
    CompensatedSum (*sum)(const Operand& x, std::size_t begin, std::size_t n);
    double (*combine_sums)(const CompensatedSum* blocks, std::size_t n);
    // The largest |x|; NaN where an element is NaN or infinite.
    double (*magnitude)(const Operand& x, std::size_t begin, std::size_t n);
    double (*maximum)(const Operand& x, std::size_t begin, std::size_t n);
    double (*combine_maxima)(const double* blocks, std::size_t n);
    CompensatedSum (*sum_of_exp)(const Operand& x, double largest, std::size_t begin,
                                 std::size_t n);
    double (*combine_log_sum_exp)(const CompensatedSum* blocks, double largest, std::size_t n);
};
TIGHTNOISE_KERNEL_TABLE(SpecialKernels, special_kernels)

}  // namespace tightnoise
