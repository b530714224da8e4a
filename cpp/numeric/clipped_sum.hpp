// Sums of clipped rows, in integers of a fixed unit: equal in any order, however the rows are split
// up, and no more changed by one row than a theorem says.
//
// Row x is clipped to the bound C in the norm p = 1, 2 or infinity, and truncated to integers q of
// the unit h, a power of two:
//
//     p = 1, 2:      q_j = trunc(x_j c),  c = T / (a h) / max(N, T) a,
//     p = infinity:  q_j = trunc(clamp(x_j / h, -C / h, C / h)),
//
// where a is the power of two with a C in [1/2, 1), T = a C (1 - 2^-20), and N is |a x|_p as
// computed in double precision (for p = infinity 0 or NaN). A row counts as zeros where N is no
// finite number: where x has a NaN or an infinity, or its norm overflows: |x|_2 at 1e154 C, |x|_1
// at 1e308 C. So q depends on x alone, not on the other rows nor on how many there are.
//
// Theorem. |q|_p <= C / h exactly, for up to 2^28 numbers a row, C from 2^-900 to 2^900, and C / h
// from 2^20 to 2^40. So one row more or less moves h sum q by at most C in norm p, and another row
// in place of one by at most 2 C.
// Proof. Products with powers of two are exact unless they underflow.
// p = infinity: x_j / h is exact, or so small that q_j = 0, or clamped; C / h is exact; to truncate
// is to shrink.
// p = 1, 2: let y = a x. If |y|_p >= 1/4, then N = |y|_p (1 + e) with |e| <= 2^-24: each of the d
// terms rounds by 2^-53, their sum in any order by (d - 1) 2^-53, the root by 2^-53, and underflow,
// to subnormal numbers or to zero, moves the sum by less than d 2^-1022. Below 1/4, N is below T.
// Where N <= T, |y|_p <= T / (1 - 2^-24): were it more, N would be above T. And c = 1 / h, exactly.
// So |q|_p <= |x|_p / h = |y|_p / (a h) <= T / (a h) / (1 - 2^-24).
// Where N > T, |y|_p = N / (1 + e), c = T / (a h) / N a (1 + r) and |q|_p <= |x|_p c (1 + 2^-53),
// as each product x_j c rounds by 2^-53 or is below 1 and so truncated to 0. |r| <= 2^-40: the
// quotient rounds by 2^-53, and c, which is at least 2^-1032, by 2^-43 where it is subnormal (if
// flushed to zero, q = 0). So |q|_p <= T / (a h) (1 + 2^-40) (1 + 2^-53) / (1 - 2^-24).
// T / (a h) is C / h (1 - 2^-20), rounded by 2^-53, and all these together are below C / h. []
//
// N is summed in an order that the width of the rows decides, and nothing is fused: q is the same
// at every SIMD level and on every machine, of float32 rows and of the same rows in float64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/clipped_sum_kernels.hpp"

namespace tightnoise {

struct ClippedSum {
    const void* rows;  // (count, width), C order
    bool is_float32;
    std::size_t count;
    std::size_t width;  // at most 2^28
    RowNorm norm;
    double bound;  // C, from 2^-900 to 2^900
    double unit;   // h
};

// sums[j] += the sum of q_j over all rows, j < width; count C / h must be below 2^63.
void add_clipped(const ClippedSum& problem, std::int64_t* sums);

}  // namespace tightnoise
