// The bounds of a mechanism on a grid. Kernel-side header: internal linkage, one copy a level.
//
// K is clamped to the integers K_l and K_u nearest to the bounds, and those two are written as the
// bounds themselves. As rounding is monotone, that is a function of x clipped to the bounds; to
// clip step K at bounds off the grid would not be: the x below the bound and those just above it,
// which round to the same point, would differ.
#pragma once

#include "mechanisms/grid_cells.hpp"

namespace tightnoise {
namespace {
namespace grid {

// To a float that is not below what it stands for.
struct RoundUp {
    template <class Real, class From>
    static Real convert(From value) {
        const Real nearest = static_cast<Real>(value);
        if constexpr (sizeof(Real) < sizeof(From)) {
            const std::uint32_t bits = to_bits(nearest);
            const std::uint32_t next = nearest < Real(0) ? bits - 1 : bits + 1;
            return from_bits(static_cast<From>(nearest) < value ? next : bits);
        } else {
            return nearest;
        }
    }
};

template <class Real>
class Bounds {
  public:
    void load(const GridTask<Real>& task, const Cells<Real>& cells, std::size_t first,
              std::size_t n) {
        if (!first_ && task.lower.is_scalar && task.upper.is_scalar && task.step.is_scalar) return;
        first_ = false;
        const double* lower = lower_block_.load(task.lower, first, n);
        const double* upper = upper_block_.load(task.upper, first, n);
        for (std::size_t i = 0; i < n; ++i) {
            lower_[i] = RoundUp::convert<Real>(lower[i]);
            upper_[i] = -RoundUp::convert<Real>(-upper[i]);
            const double inverse = cells.inverse_step()[i];
            split(letter(lower[i] * inverse), least_high_[i], least_low_[i]);
            split(letter(upper[i] * inverse), most_high_[i], most_low_[i]);
        }
    }

    // Writes step (whole + q) between the bounds, rounded once.
    void write(const Cells<Real>& cells, const Real* q, const GridTask<Real>& task,
               std::size_t first, std::size_t n) const {
        const Real* whole = cells.whole();
        Real* out = task.out + first;
        cells.write(q, task, first, n);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            // The differences are exact where they are small.
            const bool at_lower = q[i] <= (least_high_[i] - whole[i]) + least_low_[i];
            const bool at_upper = q[i] >= (most_high_[i] - whole[i]) + most_low_[i];
            Real y = out[i];
            y = at_lower || y < lower_[i] ? lower_[i] : y;
            out[i] = at_upper || y > upper_[i] ? upper_[i] : y;
        }
    }

  private:
    // floor(x + 1/2), without a rounding of the sum.
    static double letter(double x) {
        const double below = std::floor(x);
        return x - below >= 0.5 ? below + 1.0 : below;
    }
    static void split(double integer, Real& high, Real& low) {
        high = static_cast<Real>(integer);
        const bool finite = std::fabs(high) < std::numeric_limits<Real>::infinity();
        low = finite ? static_cast<Real>(integer - high) : Real(0);
    }

    bool first_ = true;
    OperandBlock<kBatch<Real>> lower_block_;
    OperandBlock<kBatch<Real>> upper_block_;
    alignas(64) Real lower_[kBatch<Real>];
    alignas(64) Real upper_[kBatch<Real>];
    alignas(64) Real least_high_[kBatch<Real>];
    alignas(64) Real least_low_[kBatch<Real>];
    alignas(64) Real most_high_[kBatch<Real>];
    alignas(64) Real most_low_[kBatch<Real>];
};

}  // namespace grid
}  // namespace
}  // namespace tightnoise
