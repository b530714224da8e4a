// log(e^x[0] + ... + e^x[n-1]) without overflow: in two passes, so that it can be taken block by
// block. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// First pass: the largest element, -inf for none. NaN is passed over; the second pass shows it.
inline double maximum(const double* x, std::size_t n) {
    double largest = -kInfinity;
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
    return largest;
}

// What the second pass subtracts: the maximum, or 0 where it is infinite and e^x needs no help.
inline double log_sum_exp_shift(double largest) {
    return largest - largest == 0.0 ? largest : 0.0;
}

// Second pass: the sum of e^(x[i] - shift).
inline CompensatedSum sum_of_exp(const double* x, std::size_t n, double shift) {
    return compensated_sum(n, [=](std::size_t i) { return exp(x[i] - shift); });
}

// The result. Relative error: 1e-15 plus 2.3e-16 |shift| / |result|; with shift = 0 the rounding
// error that the sum carries gives full relative accuracy also next to log 1.
// NaN anywhere gives NaN, else inf anywhere inf; nothing but -inf, or nothing at all, gives -inf.
inline double log_sum_exp(const CompensatedSum& total, double shift) {
    const double sum = value(total);
    if (!(sum > 0.0 && sum < kInfinity)) return log(sum);
    const double low = total.error - (sum - total.sum);
    return shift + log_of_sum(reduce_log_normal(sum), low);
}

}  // namespace
}  // namespace tightnoise
