// What is decided with more bits than a double has, of von Mises-Fisher samples on a grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanisms/vmf_sampling_kernels.hpp"

namespace tightnoise {

// The ideal pair of normals behind two keystream words, the first of them the `number`-th of the
// stream, rounded to doubles.
struct RoundedPair {
    double first;
    double second;
};
RoundedPair rounded_ideal_pair(const NoiseKey& key, std::uint64_t number, std::uint64_t radius,
                               std::uint64_t angle) noexcept;

// Writes a row of a task on a grid: in double-double arithmetic with 64 more bits a uniform, and
// with all bits what that leaves open. The direction of a row of more than kVmfShort coordinates
// must not be where it is written. Polls.
void write_ideal_row(const VmfTask<double>& task, std::size_t row);
void write_ideal_row(const VmfTask<float>& task, std::size_t row);

}  // namespace tightnoise
