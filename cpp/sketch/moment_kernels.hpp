// Moments of t = |theta - centre|, block by block: what sums of smooth functions over all elements
// of theta need to know about theta.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/simd_level.hpp"

namespace tightnoise {

// Log-linear bins of t: y = 1 + t / scale; kBinsPerOctave equal bins between two powers of two of
// y, kBinOctaves octaves. A bin near t = 0 is scale / kBinsPerOctave wide; widths double with y.
constexpr std::size_t kBinsPerOctave = 128;
constexpr std::size_t kBinOctaves = 12;
constexpr std::size_t kBins = kBinsPerOctave * kBinOctaves;
// Power moments kept for a bin: sums of x^k, k = 0, ..., 7, x in [-1, 1] the place within the bin.
constexpr std::size_t kBinMoments = 8;
// A table has one row more than bins (elements beyond the last bin, infinities and NaN) and as many
// copies as consecutive elements need, so that adding to a row rarely waits for the last add.
constexpr std::size_t kTableRows = kBins + 1;
constexpr std::size_t kTableCopies = 4;
constexpr std::size_t kTableSize = kTableCopies * kTableRows * kBinMoments;

// Counts: y = 1 + t / scale, kCountsPerOctave rows between two powers of two of y, one more row for
// all elements beyond the last octave.
constexpr std::size_t kCountsPerOctave = 128;
constexpr std::size_t kCountOctaves = 6;
constexpr std::size_t kCounts = kCountsPerOctave * kCountOctaves + 1;
constexpr std::size_t kCountCopies = 8;

struct Extent {
    double least;
    double greatest;  // NaN where theta holds a NaN or an infinity
};

struct MomentKernels {
    // Writes t of n elements; the others read it.
    Extent (*distances)(const void* theta, bool is_float32, std::size_t n, double centre,
                        double* t);
    // Adds to nothing: writes sums[k] = sum_i T_k(x_i), k < count, x = 2 t / half_width - 1, into
    // `sums`. count: 8, 12, 16, 20, 24 or 32. Unless all t <= half_width the sums mean nothing.
    void (*chebyshev)(const double* t, std::size_t n, double half_width, std::size_t count,
                      double* sums);
    // Adds the elements' power moments to the table of their bins, aligned to 64 bytes.
    void (*bins)(const double* t, std::size_t n, double scale, double* table);
    // Counts the elements in the rows of a table of kCountCopies copies, and asks for the n
    // elements at `next`, `width` bytes each, which are to be read after these: the hardware
    // prefetcher alone loses up to a factor 4.
    void (*count)(const double* t, std::size_t n, double scale, std::uint32_t* table,
                  const char* next, std::size_t width);
};
TIGHTNOISE_KERNEL_TABLE(MomentKernels, moment_kernels)

}  // namespace tightnoise
