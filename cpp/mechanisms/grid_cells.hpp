// Samples on a grid: y = step K, where K is the integer nearest to x / step for a sample x of the
// mechanism, both real numbers: K = floor(x / step + 1/2). Kernel-side header: internal linkage,
// one copy a level.
//
// No rounding of theta: theta, its scale and the step are the real numbers that the floats stand
// for, and x an ideal sample, made of random bits without end (ideal_bits.hpp). So y is a function
// of x that does not know theta, and costs no more than x does (data processing); what float
// arithmetic makes of theta + noise is not, and gives theta away in its last digits (Mironov 2012).
//
// K is computed in floats, with a proven bound on the error of x / step; where that leaves K open
// (a *doubtful* element), with more bits, until it does not (as correctly rounded functions are:
// Ziv 1991). So K is a function of key, stream number, j and parameters: the same at every level,
// by every compiler, with multiplications and additions fused or not.
//
// In units of the step, theta = whole + rest with abs(rest) <= 1/2, both exact, as the step is a
// power of two. The law of a kernel gives K - whole from the rest: a small integer.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mechanisms/sample_task.hpp"
#include "numeric/polynomial.hpp"
#include "random/normal.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {
namespace grid {

using box_muller::kBatch;

// The nearest integer of any finite x, either at a tie.
template <class Real>
inline Real nearest_integer(Real x) {
#if defined(__SSE4_1__) || defined(__aarch64__)
    return std::rint(x);
#else
    constexpr Real kInteger = 1 / std::numeric_limits<Real>::epsilon();  // none has a fraction
    const Real a = std::fabs(x);
    const Real s = std::copysign((a + kInteger) - kInteger, x);
    return a < kInteger ? s : x;
#endif
}

// The same for abs(x) < 2^51 or 2^22; a zero is +0.
template <class Real>
inline Real small_nearest(Real x) {
    constexpr Real kRounding = Real(1.5) / std::numeric_limits<Real>::epsilon();
    return (x + kRounding) - kRounding;
}

// Part of the error of the test abs(t - q) + error < 1/2: the roundings of theta / step, t and the
// test itself, where t is little more than 1/2.
template <class Real>
inline Real slack(bool refine_all) {
    return refine_all ? Real(0x1p60) : 4 * std::numeric_limits<Real>::epsilon();
}

// theta / step = whole + rest, whole = nearest_integer(theta / step).
// Beyond the range of Real, theta + noise is theta whatever the noise: whole is infinite then.
template <class Real>
inline bool is_in_range(Real whole) {
    return std::fabs(whole) <= std::numeric_limits<Real>::max();
}
template <class Real>
inline Real rest_of(Real theta, Real inverse_step, Real whole) {
    return is_in_range(whole) ? theta * inverse_step - whole : Real(0);
}

// step (whole + q), rounded once: a function of the integer.
template <class Real>
inline Real value_of(Real theta, Real whole, Real q, Real step) {
    const Real y = step * (whole + q);
    return is_in_range(whole) ? y : theta;
}

// whole + q, or the nearest int64: a function of the sum alone. q is below 2^52.
inline std::int64_t integer_of(double whole, double q) {
    constexpr double kMost = 0x1p63 + 0x1p53;
    const double below = whole < kMost ? whole : kMost;
    const double w = below > -kMost ? below : -kMost;
    // Halves, so that nothing wraps around before the last sum.
    const double half = std::fabs(w) < 0x1p62 ? 0.0 : std::copysign(0x1p62, w);
    const auto rest = static_cast<std::int64_t>(w - half) + static_cast<std::int64_t>(q);
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(static_cast<std::int64_t>(half), rest, &sum)) return sum;
    return w < 0.0 ? std::numeric_limits<std::int64_t>::min()
                   : std::numeric_limits<std::int64_t>::max();
}

// Asks for the elements of a batch that comes a little later: of arrays in DRAM, whose pages the
// hardware prefetcher does not look beyond.
template <class Real>
inline void prefetch(const GridTask<Real>& task, std::size_t first) {
    constexpr std::size_t kLine = 64;
    const std::size_t later = first + 4 * kBatch<Real>;
    const std::size_t width = task.theta.is_float32 ? sizeof(float) : sizeof(double);
    // Numbers: there may be nothing, or no array.
    const auto theta = reinterpret_cast<std::uintptr_t>(task.theta.data) + later * width;
    const auto out = reinterpret_cast<std::uintptr_t>(task.out) + later * sizeof(Real);
    for (std::size_t byte = 0; byte < kBatch<Real> * sizeof(Real); byte += kLine) {
        __builtin_prefetch(reinterpret_cast<const void*>(theta + byte));
        __builtin_prefetch(reinterpret_cast<const void*>(out + byte), 1);
    }
}

// A batch of elements in units of the step.
template <class Real>
class Cells {
  public:
    static constexpr std::size_t kN = kBatch<Real>;

    // Reads elements first, ..., first + n - 1. The others are zeros.
    void load(const GridTask<Real>& task, std::size_t first, std::size_t n) {
        const Real* theta = theta_block_.load(task.theta, first, n);
        if (first_ || !task.step.is_scalar) {
            const double* step = step_block_.load(task.step, first, n);
            for (std::size_t i = 0; i < kN; ++i) {
                step_[i] = static_cast<Real>(i < n ? step[i] : 1.0);
                inverse_step_[i] = static_cast<Real>(i < n ? 1.0 / step[i] : 1.0);
            }
            first_ = false;
        }
        std::memcpy(theta_, theta, n * sizeof(Real));
        for (std::size_t i = n; i < kN; ++i) theta_[i] = Real(0);
#pragma omp simd
        for (std::size_t i = 0; i < kN; ++i) {
            whole_[i] = nearest_integer(theta_[i] * inverse_step_[i]);
            rest_[i] = rest_of(theta_[i], inverse_step_[i], whole_[i]);
        }
    }

    const Real* rest() const { return rest_; }
    // Where the step is that of the batch before, so is all that is made of it.
    const Real* step() const { return step_; }
    const Real* inverse_step() const { return inverse_step_; }
    const Real* theta() const { return theta_; }
    const Real* whole() const { return whole_; }

    // What refinement adds to theta / step = whole + rest: see GridTask::theta_low.
    double low(const GridTask<Real>& task, std::size_t j, std::size_t i) const {
        return task.theta_low == nullptr ? 0.0 : task.theta_low[j] * inverse_step_[i];
    }

    // Writes values, or the integers.
    void write(const Real* q, const GridTask<Real>& task, std::size_t first, std::size_t n) const {
        if (task.integers != nullptr) {
            for (std::size_t i = 0; i < n; ++i) {
                task.integers[first + i] = integer_of(whole_[i], q[i]);
            }
            return;
        }
        Real* out = task.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            out[i] = value_of(theta_[i], whole_[i], q[i], step_[i]);
        }
    }

  private:
    bool first_ = true;
    OperandBlock<kN, Real> theta_block_;
    OperandBlock<kN> step_block_;
    alignas(64) Real theta_[kN];
    alignas(64) Real step_[kN];
    alignas(64) Real inverse_step_[kN];
    alignas(64) Real whole_[kN];
    alignas(64) Real rest_[kN];
};

}  // namespace grid
}  // namespace
}  // namespace tightnoise
