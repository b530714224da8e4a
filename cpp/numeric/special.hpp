// The special functions over whole arrays, on several threads. Results do not depend on how many.
#pragma once

#include <cstddef>

#include "numeric/special_kernels.hpp"

namespace tightnoise {

// y[i] = kernel(x[0][i], x[1][i], ...) for n elements.
void map_array(SpecialKernels::Map kernel, const Operand* x, const Output& y, std::size_t n);

// x[0] + ... + x[n-1], compensated; 0 for n = 0.
double sum_array(const Operand& x, std::size_t n);

// The largest |x|, 0 for n = 0; NaN where an element is NaN or infinite.
double magnitude_of_array(const Operand& x, std::size_t n);

// log(e^x[0] + ... + e^x[n-1]); -inf for n = 0.
double log_sum_exp_array(const Operand& x, std::size_t n);

}  // namespace tightnoise
