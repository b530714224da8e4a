// Truncated Gaussian samples of float32 on a grid, from float32 theta: a batch in float32 from the
// first operation to the last, where its public parameters leave room for that. Kernel-side header:
// internal linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mechanisms/conditioned_laws.hpp"
#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/truncated_float32.hpp"

namespace tightnoise {
namespace {
namespace grid {

class TruncatedBatches {
    static constexpr std::size_t kN = kBatch<float>;
    static constexpr float kFarthestOut = 0x1p27f;
    // Up to the first, points of the grid and the middles between them are floats with room for
    // sums; the second leaves all products normal numbers.
    static constexpr double kMostCells = 0x1p20;
    static constexpr double kMostSize = 0x1p60;
    static constexpr double kNothing = 0x1p-60;  // beside 1, but no subnormal number

  public:
    explicit TruncatedBatches(const GridTask<float>& task)
        : task_(task),
          is_shared_(task.sigma.is_scalar && task.lower.is_scalar && task.upper.is_scalar &&
                     task.step.is_scalar) {}

    void write(const std::uint32_t* keystream, std::size_t first, std::size_t n) {
        if (is_new_ || !is_shared_) load(first, n);
        is_new_ = false;
        if (!has_room_) return full_.write(keystream, task_, first, n);
        std::memcpy(words_, keystream, sizeof words_);
        std::memcpy(theta_, theta_block_.load(task_.theta, first, n), n * sizeof *theta_);
        float* out = task_.out + first;
        if (is_shared_ ? draw<true>(out, n) : draw<false>(out, n)) return;
        for (std::size_t i = next_doubt(0, n); i < n; i = next_doubt(i + 1, n)) {
            out[i] = theta_[i];  // which it may have been before
            full_.write_one(words_[i], task_, first + i);
        }
    }

  private:
    // The first of elements i, i + 1, ... that is in doubt, or n: few are.
    std::size_t next_doubt(std::size_t i, std::size_t n) const {
        constexpr int kByteOfOne = 0x3f;  // and of zero none
        const auto* bytes = reinterpret_cast<const unsigned char*>(doubt_);
        const void* found =
            std::memchr(bytes + i * sizeof(float), kByteOfOne, (n - i) * sizeof(float));
        if (found == nullptr) return n;
        return static_cast<std::size_t>(static_cast<const unsigned char*>(found) - bytes) /
               sizeof(float);
    }

    void load(std::size_t first, std::size_t n) {
        const double* sigma = sigma_block_.load(task_.sigma, first, n);
        const double* lower = lower_block_.load(task_.lower, first, n);
        const double* upper = upper_block_.load(task_.upper, first, n);
        const double* step = step_block_.load(task_.step, first, n);
        has_room_ = task_.theta_low == nullptr && task_.theta.is_float32;
        for (std::size_t i = 0; i < (is_shared_ ? 1 : n); ++i) {
            const double from = lower[i] / step[i];
            const double to = upper[i] / step[i];
            const double width = (upper[i] - lower[i]) / sigma[i];
            const double cells = sigma[i] / step[i];
            const double most = std::fabs(from) > std::fabs(to) ? std::fabs(from) : std::fabs(to);
            has_room_ = has_room_ && width >= kRoughWidth && most <= kMostCells &&
                        cells <= kMostCells && step[i] >= 1.0 / kMostSize && step[i] <= kMostSize &&
                        sigma[i] >= 1.0 / kMostSize;
            lower_[i] = static_cast<float>(lower[i]);
            lower_rest_[i] = static_cast<float>(lower[i] - lower_[i]);
            upper_[i] = static_cast<float>(upper[i]);
            upper_rest_[i] = static_cast<float>(upper[i] - upper_[i]);
            inverse_sigma_[i] = static_cast<float>(1.0 / sigma[i]);
            width_[i] = static_cast<float>(width < kFarthestOut ? width : kFarthestOut);
            least_theta_[i] = static_cast<float>((cells < 1.0 ? sigma[i] : step[i]) * kNothing);
            step_[i] = static_cast<float>(step[i]);
            inverse_step_[i] = static_cast<float>(1.0 / step[i]);
            cells_[i] = static_cast<float>(cells);
            lower_whole_[i] = static_cast<float>(nearest_integer(from));
            lower_cell_[i] = static_cast<float>(from - nearest_integer(from));
            upper_whole_[i] = static_cast<float>(nearest_integer(to));
            upper_cell_[i] = static_cast<float>(to - nearest_integer(to));
            least_[i] = static_cast<float>(least_integer(from));
            most_[i] = static_cast<float>(most_integer(to));
        }
        bounds_.load(task_, inverse_step_, first, n);
    }

    // Writes n elements, and which of them are in doubt: whether none is.
    // (Not inline: both copies would have their arrays on the stack.)
    template <bool kShared>
    [[gnu::noinline]] bool draw(float* out, std::size_t n) {
        using Values = Each<float, kShared>;
        const Values lower{lower_}, lower_rest{lower_rest_}, upper{upper_}, upper_rest{upper_rest_};
        const Values inverse_sigma{inverse_sigma_}, width{width_}, least_theta{least_theta_};
        const Values step{step_}, inverse_step{inverse_step_}, cells{cells_};
        const Values lower_whole{lower_whole_}, lower_cell{lower_cell_};
        const Values upper_whole{upper_whole_}, upper_cell{upper_cell_};
        const Values least{least_}, most{most_};
        const auto bounds = bounds_.all<kShared>();
        alignas(64) float outside[kN];
        alignas(64) float down[kN];
        alignas(64) float up[kN];
        alignas(64) float whole[kN];
        alignas(64) float cell[kN];
        alignas(64) float mass_down[kN];
        alignas(64) float mass_between[kN];
        alignas(64) float mass_below[kN];
        alignas(64) float mass_above[kN];
        alignas(64) float mills_at_mode[kN];
        alignas(64) float to_tail[kN];
        alignas(64) float tail[kN];
        alignas(64) std::uint32_t sign[kN];
        alignas(64) float open[kN];
        alignas(64) float y[kN];
        alignas(64) float error[kN];
        const float unknown = task_.refine_all ? 2.0f : 0.0f;
        // Short loops, of which the processor holds several rounds at once: in a long one each
        // operation waits for the one before it.
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const float theta = std::fabs(theta_[i]) < least_theta[i] ? 0.0f : theta_[i];
            const float from_lower = ((theta - lower[i]) - lower_rest[i]) * inverse_sigma[i];
            const float to_upper = ((upper[i] - theta) + upper_rest[i]) * inverse_sigma[i];
            const float inside = from_lower < to_upper ? from_lower : to_upper;
            const float beyond = inside < 0.0f ? -inside : 0.0f;
            outside[i] = beyond < kFarthestOut ? beyond : kFarthestOut;
            const float above_lower = from_lower > 0.0f ? from_lower : 0.0f;
            const float below_upper = to_upper > 0.0f ? to_upper : 0.0f;
            down[i] = above_lower < width[i] ? above_lower : width[i];
            up[i] = below_upper < width[i] ? below_upper : width[i];
            const float x = theta * inverse_step[i];
            const float nearest = nearest_integer(x);
            const float rest = x - nearest;
            const float w = from_lower < 0.0f ? lower_whole[i] : nearest;
            const float c = from_lower < 0.0f ? lower_cell[i] : rest;
            whole[i] = to_upper < 0.0f ? upper_whole[i] : w;
            cell[i] = to_upper < 0.0f ? upper_cell[i] : c;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const auto masses = float32::masses(outside[i], down[i], up[i]);
            mass_down[i] = masses.down;
            mass_between[i] = masses.between;
            mass_below[i] = masses.below;
            mass_above[i] = masses.above;
            mills_at_mode[i] = masses.mills_at_mode;
            to_tail[i] = masses.to_tail;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const float32::Masses masses{mass_down[i],  mass_between[i],  mass_below[i],
                                         mass_above[i], mills_at_mode[i], to_tail[i]};
            const auto beyond = float32::beyond(words_[i], masses);
            tail[i] = beyond.mass;
            sign[i] = beyond.sign;
            open[i] = beyond.share >= float32::kLeastShare ? unknown : 2.0f;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) tail[i] = float32::tail(tail[i]);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const auto distance = float32::distance(outside[i], tail[i], mills_at_mode[i]);
            y[i] = distance.y;
            error[i] = distance.error;
        }
        float worst = 0.0f;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = 0; i < n; ++i) {
            const float s = cells[i];
            const float t = cell[i] + from_bits(to_bits(s * y[i]) ^ sign[i]);
            // A sample never crosses a bound: beyond the centres of the outermost cells is no end.
            const float first = least[i] - whole[i];
            const float last = most[i] - whole[i];
            const float above = t > first ? t : first;
            const float within = above < last ? above : last;
            const float q = small_nearest(within);
            const float reach = std::fabs(within - q) + (s * error[i] + open[i]);
            out[i] = bounds.clamp(i, step[i] * (whole[i] + q));
            const float here =
                reach + 8.0f * std::numeric_limits<float>::epsilon() < 0.5f ? 0.0f : 1.0f;
            doubt_[i] = here;
            worst = here > worst ? here : worst;
        }
        return worst == 0.0f;
    }

    const GridTask<float>& task_;
    const bool is_shared_;
    bool is_new_ = true;
    bool has_room_ = false;
    ConditionedNoise<GaussianLaw, float> full_;  // of what is open, and where there is no room
    Bounds<float> bounds_;
    OperandBlock<kN, float> theta_block_;
    OperandBlock<kN> sigma_block_;
    OperandBlock<kN> lower_block_;
    OperandBlock<kN> upper_block_;
    OperandBlock<kN> step_block_;
    alignas(64) std::uint32_t words_[kN];
    alignas(64) float theta_[kN];
    alignas(64) float doubt_[kN];
    // Of the elements, or in place 0 of all: the bounds, and what floats of them lack; sigma; the
    // width in units of sigma; what of theta is nothing.
    alignas(64) float lower_[kN];
    alignas(64) float lower_rest_[kN];
    alignas(64) float upper_[kN];
    alignas(64) float upper_rest_[kN];
    alignas(64) float inverse_sigma_[kN];
    alignas(64) float width_[kN];
    alignas(64) float least_theta_[kN];
    // In cells: sigma, the bounds as sums of an integer and the rest, the least and the largest K.
    alignas(64) float step_[kN];
    alignas(64) float inverse_step_[kN];
    alignas(64) float cells_[kN];
    alignas(64) float lower_whole_[kN];
    alignas(64) float lower_cell_[kN];
    alignas(64) float upper_whole_[kN];
    alignas(64) float upper_cell_[kN];
    alignas(64) float least_[kN];
    alignas(64) float most_[kN];
};

// With the arrays of `draw` below it, no more than is erased of the stack (bindings/sampling.hpp).
static_assert(sizeof(TruncatedBatches) <= std::size_t{60} << 10);

inline void truncated_float32(const GridTask<float>& task, std::size_t begin, std::size_t end) {
    TruncatedBatches batches(task);
    chacha20::for_each_batch<kBatch<float>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            prefetch(task, first);
            batches.write(keystream, first, n);
        });
}

}  // namespace grid
}  // namespace
}  // namespace tightnoise
