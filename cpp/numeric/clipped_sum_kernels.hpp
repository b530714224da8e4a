// Sums of clipped rows in integers: the passes over memory. clipped_sum.hpp says what they compute,
// and proves it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/simd_level.hpp"

namespace tightnoise {

enum class RowNorm { sum, euclidean, largest };

struct ClippedRows {
    const void* data;  // (rows, width), C order
    bool is_float32;
    std::size_t width;
    RowNorm norm;
    double scale;      // a: a power of two
    double threshold;  // T
    double clipped;    // T / (a h)
    double most;       // C / h
};

struct ClippedSumKernels {
    // What row i is multiplied by, i = begin, ..., end - 1; 0 where it counts as zeros.
    void (*factors)(const ClippedRows& rows, std::size_t begin, std::size_t end, double* factors);
    // sums[j] += the integers of column j, j = first, ..., last - 1, of these rows; factors[0] is
    // that of row `begin`.
    void (*add)(const ClippedRows& rows, const double* factors, std::size_t begin, std::size_t end,
                std::size_t first, std::size_t last, std::int64_t* sums);
};

TIGHTNOISE_KERNEL_TABLE(ClippedSumKernels, clipped_sum_kernels)

}  // namespace tightnoise
