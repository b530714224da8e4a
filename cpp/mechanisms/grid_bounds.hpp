// The bounds of a mechanism on a grid. Kernel-side header: internal linkage, one copy a level.
//
// K is clamped to the integers K_l and K_u nearest to the bounds, and those two are written as the
// bounds themselves. As rounding is monotone, that is a function of x clipped to the bounds; to
// clip step K at bounds off the grid would not be: the x below the bound and those just above it,
// which round to the same point, would differ.
#pragma once

#include <initializer_list>

#include "mechanisms/directed_rounding.hpp"
#include "mechanisms/grid_cells.hpp"

namespace tightnoise {
namespace {
namespace grid {

// The nearest integer; of two, the upper one, and the lower one.
inline double least_integer(double x) {
    return std::floor(x) + (x - std::floor(x) >= 0.5 ? 1.0 : 0.0);
}
inline double most_integer(double x) {
    return std::floor(x) + (x - std::floor(x) > 0.5 ? 1.0 : 0.0);
}

// A parameter of the elements of a batch: one value in a register, or an array.
template <class Real, bool kShared>
struct Each {
    const Real* values;
    Real operator[](std::size_t i) const { return values[i]; }
};
template <class Real>
struct Each<Real, true> {
    Real value = 0;
    Each() = default;
    Each(const Real* values) : value(*values) {}
    Real operator[](std::size_t) const { return value; }
};

// The bounds as floats, and the points of K_l and K_u, step K rounded. As rounding is monotone,
// what lies at or beyond such a point has all K at or beyond K_l or K_u.
template <class Real, bool kShared>
struct BoundsOf {
    Each<Real, kShared> lower;
    Each<Real, kShared> upper;
    Each<Real, kShared> least;
    Each<Real, kShared> most;

    // What is written for K of which `value` is the point.
    [[gnu::always_inline]] Real clamp(std::size_t i, Real value) const {
        const Real low = lower[i];
        const Real high = upper[i];
        Real y = value <= least[i] ? low : value;
        y = value >= most[i] ? high : y;
        // Points of float32 may lie outside bounds that are close to them.
        y = y > low ? y : low;
        return y < high ? y : high;
    }
};

template <class Real>
class Bounds {
  public:
    void load(const GridTask<Real>& task, const Real* inverse_step, std::size_t first,
              std::size_t n) {
        const bool is_shared = task.lower.is_scalar && task.upper.is_scalar && task.step.is_scalar;
        if (!first_ && is_shared) return;
        first_ = false;
        const double* lower = lower_block_.load(task.lower, first, n);
        const double* upper = upper_block_.load(task.upper, first, n);
        const std::size_t size = is_shared ? 1 : n;
        for (std::size_t i = 0; i < size; ++i) {
            lower_[i] = RoundUp::convert<Real>(lower[i]) + Real(0);  // no -0
            upper_[i] = RoundDown::convert<Real>(upper[i]) + Real(0);
            least_[i] = point_of(lower[i], inverse_step[i]);
            most_[i] = point_of(upper[i], inverse_step[i]);
        }
        if (!is_shared) return;
        for (Real* values : {lower_, upper_, least_, most_}) {
            for (std::size_t i = 1; i < kBatch<Real>; ++i) values[i] = values[0];
        }
    }
    void load(const GridTask<Real>& task, const Cells<Real>& cells, std::size_t first,
              std::size_t n) {
        load(task, cells.inverse_step(), first, n);
    }

    template <bool kShared>
    BoundsOf<Real, kShared> all() const {
        using Values = Each<Real, kShared>;
        return {Values{lower_}, Values{upper_}, Values{least_}, Values{most_}};
    }

    // Writes step (whole + q) between the bounds, rounded once.
    void write(const Cells<Real>& cells, const Real* q, const GridTask<Real>& task,
               std::size_t first, std::size_t n) const {
        Real* out = task.out + first;
        cells.write(q, task, first, n);
        const auto bounds = all<false>();
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) out[i] = bounds.clamp(i, out[i]);
    }

  private:
    static Real point_of(double bound, Real inverse_step) {
        const double inverse = inverse_step;
        return static_cast<Real>(least_integer(bound * inverse) / inverse);
    }

    bool first_ = true;
    OperandBlock<kBatch<Real>> lower_block_;
    OperandBlock<kBatch<Real>> upper_block_;
    alignas(64) Real lower_[kBatch<Real>];
    alignas(64) Real upper_[kBatch<Real>];
    alignas(64) Real least_[kBatch<Real>];
    alignas(64) Real most_[kBatch<Real>];
};

}  // namespace grid
}  // namespace
}  // namespace tightnoise
