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
#include "mechanisms/grid_task.hpp"
#include "mechanisms/sampling_kernels.hpp"
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

// Samples elements 0, ..., n - 1 of a task, on several threads where there are many.
template <std::size_t Stack = kSamplerStack, class Task>
void run(void (*sampler)(const Task& task, std::size_t begin, std::size_t end), const Task& task,
         std::size_t n) {
    const std::size_t chunk = n < kSerialBelow ? kSerialBelow : kChunk;
    py::gil_scoped_release nogil;
    parallel_blocks((n + chunk - 1) / chunk, [&](std::size_t block) {
        const std::size_t begin = block * chunk;
        sampler(task, begin, n - begin < chunk ? n : begin + chunk);
        erase_stack_below<Stack>();
    });
}

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

inline Operand parameter(const py::array* array, const py::array& out) {
    if (array == nullptr) return {};
    is_in_place(*array, out);
    return operand(*array, static_cast<std::size_t>(out.size()));
}

// Where a sample lies: at multiples of `step`, or, without it, where float arithmetic puts it.
// `low` is what theta has below its last place, `first` the number of its element 0 in the array of
// noise (NoiseKey::first).
struct Grid {
    const std::optional<Float64Array>& step;
    const std::optional<Float64Array>& low;
    std::uint64_t first;
};

// Of all samples on a grid from now on (GridTask::refine_all).
inline std::atomic<bool> refine_all{false};

// All of a task but its key and the parameters of its law. `out` takes floats, or with Real =
// double the numbers K of the points as int64.
template <class Real>
GridTask<Real> grid_task(const py::array& theta, const Grid& grid, const py::array& out) {
    // All error bounds are of rounding to the nearest number.
    if (std::fegetround() != FE_TONEAREST) {
        throw std::runtime_error("the processor must round to nearest (fesetround)");
    }
    GridTask<Real> task{};
    task.theta = parameter(&theta, out);
    task.step = parameter(&*grid.step, out);
    task.refine_all = refine_all;
    if (grid.low) {
        if (grid.low->size() != out.size()) {
            throw py::type_error("core: operand of the wrong length");
        }
        is_in_place(*grid.low, out);
        task.theta_low = grid.low->data();
    }
    if constexpr (std::is_same_v<Real, double>) {
        if (py::isinstance<Int64Array>(out)) {
            task.integers = Int64Array(out).mutable_data();
            return task;
        }
    }
    task.out = py::array_t<Real, py::array::c_style>(out).mutable_data();
    return task;
}

// Which Real a task on a grid has.
inline bool is_float32_on_grid(const py::array& out) {
    if (py::isinstance<Float32Array>(out)) return true;
    if (!py::isinstance<Float64Array>(out) && !py::isinstance<Int64Array>(out)) {
        throw py::type_error("core: out must be a C-contiguous float32, float64 or int64 array");
    }
    return false;
}

}  // namespace tightnoise
