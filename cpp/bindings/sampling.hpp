// What the bindings of samplers share.
#pragma once

#include <pybind11/stl.h>

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "mechanisms/sample_task.hpp"
#include "random/noise_source.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {

constexpr std::size_t kSerialBelow = 100000;
constexpr std::size_t kChunk = std::size_t{1} << 16;
static_assert(kChunk % kSampleAlignment == 0);
// The deepest frame takes 21 KB; on a grid two 76 KB (grid_truncated_float32.hpp), and numbers of
// 320 bits below the first of them some more. (Of musl, threads have 128 KB.)
constexpr std::size_t kSamplerStack = std::size_t{24} << 10;
constexpr std::size_t kGridStack = std::size_t{96} << 10;

// Noise goes where an input is still to be read only if both are the same elements: true then.
inline bool is_in_place(const py::array& input, const py::array& out) {
    const auto* from = static_cast<const char*>(input.data());
    const auto* to = static_cast<const char*>(out.data());
    const bool same = from == to && input.nbytes() == out.nbytes();
    if (!same && from < to + out.nbytes() && to < from + input.nbytes()) {
        throw py::value_error("out must not overlap an input, unless it is that input");
    }
    return same;
}

inline Operand parameter(const py::array& array, const py::array& out) {
    is_in_place(array, out);
    return operand(array, static_cast<std::size_t>(out.size()));
}

// Where noise comes from and goes: the same arguments for every law. theta is an array of out's
// shape or of one element, out theta itself or apart from it. A sample lies at multiples of `step`,
// or, without it, where float arithmetic puts it. `low` is what theta has below its last place,
// `first` the number of its element 0 in the array of noise (NoiseKey::first).
struct Place {
    NoiseLaw law;
    const py::array* theta;  // null where the law has none
    const py::array& out;
    NoiseSource& source;
    const std::optional<Float64Array>& step;
    const std::optional<Float64Array>& low;
    std::uint64_t first;
};

// Of all samples on a grid from now on (GridTask::refine_all).
inline std::atomic<bool> refine_all{false};

// All that a task on a grid has more than others.
template <class Real>
void set_grid(GridTask<Real>& task, const Place& place) {
    // All error bounds are of rounding to the nearest number.
    if (std::fegetround() != FE_TONEAREST) {
        throw std::runtime_error("the processor must round to nearest (fesetround)");
    }
    task.step = parameter(*place.step, place.out);
    task.refine_all = refine_all;
    if (place.low) {
        check_lengths(static_cast<std::size_t>(place.out.size()), *place.low);
        is_in_place(*place.low, place.out);
        task.theta_low = place.low->data();
    }
}

// Samples all elements of `out`, on several threads where there are many; `fill` writes the
// parameters of the law into its task. On a grid, `out` takes int64, too: the numbers K of points.
template <class Task, class Fill>
void sample_as(Sampler<Task> sampler, const Place& place, Fill fill) {
    using Real = typename Task::Real;
    constexpr bool is_on_grid = std::is_base_of_v<GridTask<Real>, Task>;
    const auto n = static_cast<std::size_t>(place.out.size());
    Task task{};
    if (place.theta != nullptr) task.theta = parameter(*place.theta, place.out);
    if constexpr (is_on_grid) set_grid(task, place);
    fill(task);
    py::array out = place.out;
    if constexpr (is_on_grid) {
        if (py::isinstance<Int64Array>(out)) {
            task.integers = static_cast<std::int64_t*>(out.mutable_data());
        }
    }
    if (!py::isinstance<Int64Array>(out)) task.out = static_cast<Real*>(out.mutable_data());
    task.key = place.source.next(place.law, place.first);  // last: what is refused takes no key
    const std::size_t chunk = n < kSerialBelow ? kSerialBelow : kChunk;
    Released nogil;
    parallel_ranges(n, chunk, [&](std::size_t begin, std::size_t end) {
        sampler(task, begin, end);
        erase_stack_below<is_on_grid ? kGridStack : kSamplerStack>();
    });
}

// What `out` may hold. Noise that never leaves its bounds is floats only: its letters at the bounds
// are no multiples of the step.
enum class Holds { floats, integers_too };

template <class Wide, class Narrow, class Fill>
void sample(const SamplerPair<Wide, Narrow>& samplers, const Place& place, Holds holds, Fill fill) {
    if (py::isinstance<Float32Array>(place.out)) return sample_as(samplers.float32, place, fill);
    if (holds == Holds::floats || !py::isinstance<Int64Array>(place.out)) {
        if (!py::isinstance<Float64Array>(place.out)) {
            throw py::type_error(
                holds == Holds::floats
                    ? "core: out must hold floats: a C-contiguous float32 or float64 array"
                    : "core: out must be a C-contiguous float32, float64 or int64"
                      " array");
        }
    }
    sample_as(samplers.float64, place, fill);
}

// On a grid where the place has one.
template <class Plain, class OnGrid, class Fill>
void sample(const Plain& plain, const OnGrid& on_grid, Holds holds, const Place& place, Fill fill) {
    place.step ? sample(on_grid, place, holds, fill) : sample(plain, place, Holds::floats, fill);
}

}  // namespace tightnoise
