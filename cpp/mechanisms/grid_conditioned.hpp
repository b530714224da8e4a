// Noise on a grid (grid_cells.hpp) conditioned on bounds: what its laws share. Kernel-side header:
// internal linkage, one copy a level.
//
// One path for every theta, inside the bounds or outside, so that time tells nothing of it. The
// density falls from its mode, theta or the bound nearest to it, and with y = abs(x - mode) / scale
// the mass on the line beyond y is that beyond 0 times a survival function T of the law. With the
// distances A and B of the nearer and the farther bound from the mode, in units of the scale, the
// mass within the bounds is (1 - T(A)) + (1 - T(B)), and a sample that has the share V of it on the
// side of the far bound solves T(y) = V mass + T(B), if that is less than 1; else it lies towards
// the near bound and solves T(y) = (1 - V) mass + T(A). Outside, A = 0: one of the two is left.
//
// Cells are counted from the mode: sample = mode +- scale y, so that K - whole is a small number.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/grid_cells.hpp"
#include "mechanisms/ideal_truncated.hpp"
#include "random/ideal_bits.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace grid {

// Words are of 64 bits and all but the last rounding is in float64, whatever comes out.
constexpr std::size_t kConditionedBatch = kBatch<double>;

// Of what a law draws: where it lies, seen from the mode.
struct Distance {
    double y;         // at least 0
    double outwards;  // 1 towards the far bound, -1 towards the near one
};

// A batch of elements, in units of the scale.
class Places {
    static constexpr std::size_t kN = kConditionedBatch;

  public:
    void load(const GridTask<double>& task, std::size_t first, std::size_t n) {
        const double* theta = theta_block_.load(task.theta, first, n);
        const double* scale = scale_block_.load(task.sigma, first, n);
        const double* lower = lower_block_.load(task.lower, first, n);
        const double* upper = upper_block_.load(task.upper, first, n);
        const double* step = step_block_.load(task.step, first, n);
        const bool shared = task.sigma.is_scalar && task.lower.is_scalar && task.upper.is_scalar &&
                            task.step.is_scalar;
        if (is_first_ || !shared) load_public(scale, lower, upper, step, n);
        is_first_ = false;
        for (std::size_t i = 0; task.theta_low != nullptr && i < n; ++i) {
            low_[i] = task.theta_low[first + i];
        }
        const double* inverse = inverse_scale_;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double above_lower = (theta[i] - lower[i]) + low_[i];
            const double below_upper = (upper[i] - theta[i]) - low_[i];
            const bool under = above_lower < 0.0;
            const bool over = below_upper < 0.0;
            const double outside =
                (under ? -above_lower : (over ? -below_upper : 0.0)) * inverse[i];
            const double down = (under ? 0.0 : (over ? width_[i] : above_lower)) * inverse[i];
            const double up = (over ? 0.0 : (under ? width_[i] : below_upper)) * inverse[i];
            mode_[i] = under ? lower[i] : (over ? upper[i] : theta[i]);
            inside_low_[i] = under || over ? 0.0 : low_[i];
            // Its square must not overflow; so far out the sample is the bound.
            outside_[i] = outside < 1e150 ? outside : 1e150;
            near_[i] = down < up ? down : up;
            far_[i] = down < up ? up : down;
            upwards_[i] = down < up ? 1.0 : -1.0;
        }
    }

    // Where theta is outside the bounds, its distance from them; else 0.
    const double* outside() const { return outside_; }
    const double* near() const { return near_; }
    const double* far() const { return far_; }
    // 1 where the far bound is the upper one, else -1.
    const double* upwards() const { return upwards_; }
    // theta clipped to the bounds, but for a part that refinement may add to it inside them.
    const double* mode() const { return mode_; }
    const double* inside_low() const { return inside_low_; }
    const double* scale_in_cells() const { return scale_in_cells_; }
    const double* inverse_step() const { return inverse_step_; }
    // The least and the largest K that have a positive probability.
    const double* least() const { return least_; }
    const double* most() const { return most_; }

  private:
    void load_public(const double* scale, const double* lower, const double* upper,
                     const double* step, std::size_t n) {
        constexpr double kLargest = std::numeric_limits<double>::max();
        for (std::size_t i = 0; i < n; ++i) {
            const double inverse = 1.0 / scale[i];
            inverse_scale_[i] = inverse < kLargest ? inverse : kLargest;  // 0 times it must stay 0
            inverse_step_[i] = 1.0 / step[i];
            width_[i] = upper[i] - lower[i];
            scale_in_cells_[i] = scale[i] * inverse_step_[i];
            const double from = lower[i] * inverse_step_[i];
            const double to = upper[i] * inverse_step_[i];
            least_[i] = std::floor(from) + (from - std::floor(from) >= 0.5 ? 1.0 : 0.0);
            most_[i] = std::floor(to) + (to - std::floor(to) > 0.5 ? 1.0 : 0.0);
        }
    }

    bool is_first_ = true;
    OperandBlock<kN> theta_block_;
    OperandBlock<kN> scale_block_;
    OperandBlock<kN> lower_block_;
    OperandBlock<kN> upper_block_;
    OperandBlock<kN> step_block_;
    alignas(64) double low_[kN] = {};
    alignas(64) double inverse_scale_[kN];
    alignas(64) double inverse_step_[kN];
    alignas(64) double width_[kN];
    alignas(64) double scale_in_cells_[kN];
    alignas(64) double least_[kN];
    alignas(64) double most_[kN];
    alignas(64) double outside_[kN];
    alignas(64) double near_[kN];
    alignas(64) double far_[kN];
    alignas(64) double upwards_[kN];
    alignas(64) double mode_[kN];
    alignas(64) double inside_low_[kN];
};

// The shares of the mass on either side of the sample; each keeps its relative accuracy.
struct SideShares {
    double near;
    double far;
};
inline SideShares side_shares(std::uint64_t bits, double upwards) {
    const uniform::Shares share = uniform::shares(bits);
    return {upwards > 0.0 ? share.below : share.above, upwards > 0.0 ? share.above : share.below};
}

// What T(y) is, as a sum of two doubles where it is near 1 and of positive terms where it is not.
struct Survival {
    double high;
    double low;
    double outwards;  // as in Distance
};
inline Survival survival_of(SideShares share, double kept_near, double lost_near, double kept_far,
                            double lost_far) {
    const double mass = lost_near + lost_far;
    const double to_far = share.near * mass - lost_near;
    const double to_near = share.far * mass - lost_far;
    const bool is_far = to_far >= 0.0;
    const double lost = is_far ? to_far : (to_near < 0.0 ? 0.0 : to_near);
    const double kept = is_far ? share.far * mass + kept_far : share.near * mass + kept_near;
    const double complement = 1.0 - lost;
    return {lost < 0.5 ? complement : kept, lost < 0.5 ? (1.0 - complement) - lost : 0.0,
            is_far ? 1.0 : -1.0};
}

// The K - whole nearest to t, between the least and the most that there are, and how far t is from
// the ends of that cell which a sample can cross: a sample never crosses a bound, however near.
struct Cell {
    double q;
    double room;
};
inline Cell cell_of(double t, double least, double most) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const double nearest = small_nearest(t);
    const double above = nearest < least ? least : nearest;
    const double q = above > most ? most : above;
    const double to_lower = q > least ? (t - q) + 0.5 : kInfinite;
    const double to_upper = q < most ? (q - t) + 0.5 : kInfinite;
    const double room = to_lower < to_upper ? to_lower : to_upper;
    return {q, std::fabs(t) < 0x1p50 ? room : -1.0};  // NaN: no room
}

// Noise of a batch in cells.
template <class Law>
class ConditionedCells {
    static constexpr std::size_t kN = kConditionedBatch;

  public:
    // Writes K - whole of the batch of elements first, first + 1, ... to q.
    void draw(const std::uint32_t* keystream, const GridTask<double>& task,
              const Cells<double>& cells, const Places& places, std::size_t first, std::size_t n,
              double* q) {
        std::memcpy(words_, keystream, sizeof words_);
        law_.draw(words_, places, n, y_, outwards_);
        const double* rest = cells.rest();
        const double* whole = cells.whole();
        const double slack = task.refine_all ? 0x1p60 : 2 * std::numeric_limits<double>::epsilon();
        alignas(64) double doubt[kN];
        double worst = 0.0;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = 0; i < n; ++i) {
            const double s = places.scale_in_cells()[i];
            const double origin = rest[i] + places.inside_low()[i] * places.inverse_step()[i];
            const double t = origin + outwards_[i] * places.upwards()[i] * (s * y_[i]);
            const Cell cell = cell_of(t, places.least()[i] - whole[i], places.most()[i] - whole[i]);
            const double near = uniform::two_sided_unit(words_[i]).near;
            const double here =
                cell.room * near > (s * Law::kError + slack) * near + s * 0x1p-64 ? 0.0 : 1.0;
            q[i] = cell.q;
            doubt[i] = here;
            worst = here > worst ? here : worst;
        }
        if (worst == 0.0) return;
        for (std::size_t i = 0; i < n; ++i) {
            if (doubt[i] != 0.0) q[i] = settle(i, task, cells, first, q[i]);
        }
    }

  private:
    __attribute__((noinline)) double settle(std::size_t i, const GridTask<double>& task,
                                            const Cells<double>& cells, std::size_t first,
                                            double q) const {
        const auto at = [&](const Operand& from) { return element_of(from, first + i); };
        const double low = task.theta_low == nullptr ? 0.0 : task.theta_low[first + i];
        const ConditionedElement element{
            task.key,       first + i,      words_[i],      at(task.theta), low,
            at(task.sigma), at(task.lower), at(task.upper), at(task.step)};
        const double guess = std::fabs(q) < 0x1p50 ? q : 0.0;
        return ideal_conditioned(Law::kLaw, element, cells.whole()[i], guess);
    }

    static double element_of(const Operand& from, std::size_t j) {
        const std::size_t i = from.is_scalar ? 0 : j;
        return from.is_float32 ? static_cast<double>(static_cast<const float*>(from.data)[i])
                               : static_cast<const double*>(from.data)[i];
    }

    Law law_;
    alignas(64) std::uint64_t words_[kN];
    alignas(64) double y_[kN];
    alignas(64) double outwards_[kN];
};

// The same task, with float64 numbers to `out`.
template <class Real>
GridTask<double> in_float64(const GridTask<Real>& task, double* out) {
    return {task.key,    task.theta,     task.step, task.sigma, task.lower,     task.upper,
            task.levels, task.theta_low, out,       nullptr,    task.refine_all};
}

template <class Law, class Real>
void conditioned(const GridTask<Real>& given, std::size_t begin, std::size_t end) {
    constexpr std::size_t kN = kConditionedBatch;
    alignas(64) double x[kN];
    alignas(64) double q[kN];
    const GridTask<double> task = in_float64(given, x);
    chacha20::Keystream stream(task.key, begin / kN);
    Cells<double> cells;
    Places places;
    Bounds<double> bounds;
    OperandBlock<kN, Real, RoundUp> lower_block;
    OperandBlock<kN, Real, RoundDown> upper_block;
    ConditionedCells<Law> noise;
    for (std::size_t first = begin; first < end; first += kN) {
        const std::size_t n = end - first < kN ? end - first : kN;
        places.load(task, first, n);
        cells.load(places.mode(), task, first, n);
        bounds.load(task, cells, first, n);
        noise.draw(stream.next_batch(), task, cells, places, first, n, q);
        bounds.write(cells, q, task, 0, n);
        const Real* lower = lower_block.load(task.lower, first, n);
        const Real* upper = upper_block.load(task.upper, first, n);
        Real* out = given.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const Real rounded = static_cast<Real>(x[i]);
            const Real above = rounded < lower[i] ? lower[i] : rounded;
            out[i] = above > upper[i] ? upper[i] : above;
        }
    }
}

}  // namespace grid
}  // namespace
}  // namespace tightnoise
