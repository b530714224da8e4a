// Elementwise special functions over arrays: one loop per scalar function of numeric/.
#pragma once

#include <cstddef>

#include "runtime/simd_level.hpp"

namespace tightnoise {

struct SpecialKernels {
    using Unary = void (*)(const double* x, double* y, std::size_t n);
    Unary exp;
};
TIGHTNOISE_KERNEL_TABLE(SpecialKernels, special_kernels)

}  // namespace tightnoise
