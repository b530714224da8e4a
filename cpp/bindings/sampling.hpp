// What the bindings of samplers share.
#pragma once

#include <cstdint>
#include <string>

#include "bindings/arrays.hpp"
#include "mechanisms/sampling_kernels.hpp"
#include "random/noise_key.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {

constexpr std::size_t kSerialBelow = 100000;
constexpr std::size_t kChunk = std::size_t{1} << 14;
static_assert(kChunk % kSampleAlignment == 0);

inline NoiseKey noise_key(const py::bytes& key, std::uint64_t stream) {
    const std::string bytes = key;
    NoiseKey result{};
    if (bytes.size() != sizeof result.words) throw py::value_error("core: key of the wrong length");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        result.words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]))
                               << (8 * (i % 4));
    }
    result.stream = stream;
    return result;
}

// Samples elements 0, ..., n - 1 of a task, on several threads where there are many.
template <class Task>
void run(void (*sampler)(const Task& task, std::size_t begin, std::size_t end), const Task& task,
         std::size_t n) {
    const std::size_t chunk = n < kSerialBelow ? kSerialBelow : kChunk;
    py::gil_scoped_release nogil;
    parallel_blocks((n + chunk - 1) / chunk, [&](std::size_t block) {
        const std::size_t begin = block * chunk;
        sampler(task, begin, n - begin < chunk ? n : begin + chunk);
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
