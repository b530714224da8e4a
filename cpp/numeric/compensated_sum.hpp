// Sums that carry their own rounding error. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cstddef>

namespace tightnoise {

// sum + error is the running total; sum alone is what plain addition would give. T is double, or a
// vector of them for as many sums side by side.
template <class T>
struct CompensatedSumOf {
    T sum{};
    T error{};
};
using CompensatedSum = CompensatedSumOf<double>;

namespace {

// Adds x with Knuth's exact error of an addition, which no order of magnitude upsets and which has
// no product that a compiler could fuse. With inf or NaN, or after an overflow, `error` is NaN.
template <class T>
inline void add(CompensatedSumOf<T>& total, T x) {
    const T sum = total.sum + x;
    const T added = sum - total.sum;
    total.error += (total.sum - (sum - added)) + (x - added);
    total.sum = sum;
}

inline void add(CompensatedSum& total, const CompensatedSum& more) {
    add(total, more.sum);
    total.error += more.error;
}

// The total as a double. Error: 1 unit of the last place, plus n^2 2^-106 of the sum of |x|.
// An infinite sum, or one of opposite infinities (NaN), is what plain addition gives.
inline double value(const CompensatedSum& total) {
    return total.sum - total.sum == 0.0 ? total.sum + total.error : total.sum;
}

// term(0) + ... + term(n - 1). Eight sums side by side whatever the vector length, so the bits do
// not depend on the level as long as those of the terms do not.
template <class Term>
inline CompensatedSum compensated_sum(std::size_t n, Term term) {
    constexpr std::size_t kLanes = 8;
    double sums[kLanes] = {};
    double errors[kLanes] = {};
    const std::size_t full = n - n % kLanes;
    for (std::size_t i = 0; i < full; i += kLanes) {
#pragma omp simd
        for (std::size_t k = 0; k < kLanes; ++k) {
            CompensatedSum lane{sums[k], errors[k]};
            add(lane, term(i + k));
            sums[k] = lane.sum;
            errors[k] = lane.error;
        }
    }
    CompensatedSum total;
    for (std::size_t k = 0; k < kLanes; ++k) add(total, CompensatedSum{sums[k], errors[k]});
    for (std::size_t i = full; i < n; ++i) add(total, term(i));
    return total;
}

}  // namespace
}  // namespace tightnoise
