// Moments of a whole array: blocks spread over threads, added up in a fixed order.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"

namespace tightnoise {

// Elements whose power moments are added one by one before they are added up blockwise: bounds the
// rounding error of a bin's moments by about kBinRun / kTableCopies units in the last place.
constexpr std::size_t kBinRun = std::size_t{1} << 16;

struct MomentRequest {
    Operand theta;
    std::size_t n;
    double centre;
    double half_width;      // of the interval
    std::size_t chebyshev;  // number of interval moments: 0 (bins only), 8, 12, 16, 20, 24 or 32
    double bin_scale;
    double count_scale;
};

struct MomentSummary {
    double least;  // of t = |theta - centre|; infinity for no element
    double greatest;
    std::size_t outside;  // elements beyond the last bin: in no moment
    bool finite;          // false: theta holds a NaN or an infinity, and the moments mean nothing
};

// A block of elements with t <= half_width throughout adds to `interval` (request.chebyshev sums of
// T_k(2 t / half_width - 1)); the elements of any other block add to `bins`, kBins rows of
// kBinMoments sums of T_k(x), x in [-1, 1] the place within the bin. Which blocks those are depends
// on theta alone, and so does every bit of the result at a given SIMD level, whatever the number
// of threads. `counts` are those of all elements, kCounts of them.
MomentSummary moments(const MomentRequest& request, double* interval, double* bins, double* counts);

}  // namespace tightnoise
