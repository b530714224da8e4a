// What the bindings of samplers share.
#pragma once

#include <cstddef>

#include "bindings/arrays.hpp"
#include "mechanisms/sampling_kernels.hpp"
#include "random/noise_source.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {

constexpr std::size_t kSerialBelow = 100000;
constexpr std::size_t kChunk = std::size_t{1} << 14;
static_assert(kChunk % kSampleAlignment == 0);
constexpr std::size_t kSamplerStack = std::size_t{24} << 10;  // the deepest takes 21 KB

// Samples elements 0, ..., n - 1 of a task, on several threads where there are many.
template <class Task>
void run(void (*sampler)(const Task& task, std::size_t begin, std::size_t end), const Task& task,
         std::size_t n) {
    const std::size_t chunk = n < kSerialBelow ? kSerialBelow : kChunk;
    py::gil_scoped_release nogil;
    parallel_blocks((n + chunk - 1) / chunk, [&](std::size_t block) {
        const std::size_t begin = block * chunk;
        sampler(task, begin, n - begin < chunk ? n : begin + chunk);
        erase_stack_below<kSamplerStack>();
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

}  // namespace tightnoise
