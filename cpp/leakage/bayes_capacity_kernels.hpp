// Sums over coordinates of log C, the Bayes capacity of Gaussian noise, bounded or not, where the
// true value of each coordinate is anywhere in an interval: formulas in bayes_capacity_box.hpp.
#pragma once

#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// One value each or one a coordinate, float64: sigma, the mechanism's bounds (ignored where it has
// none), and the interval [from, to] of the true value, which may be infinite except for the
// Gaussian and the truncated Gaussian.
struct BoxOperands {
    Operand sigma, lower, upper, from, to;
    int levels;  // ignored unless quantised
};

struct BayesCapacityKernels {
    // The sum of log C over coordinates begin, ..., begin + n - 1.
    // Range: all within 1e100 sigma of each other. Relative error: 3e-15, truncated 1e-14; terms
    // below 1e-300 may be 0.
    using Sum = CompensatedSum (*)(const BoxOperands& box, std::size_t begin, std::size_t n);
    Sum gaussian, rectified, truncated, quantized, sign;
};
TIGHTNOISE_KERNEL_TABLE(BayesCapacityKernels, bayes_capacity_kernels)

}  // namespace tightnoise
