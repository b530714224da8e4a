// Where a search ends on a grid of numbers, so that its answer does not depend on how it went.
#pragma once

#include <cstdint>
#include <limits>

#include "numeric/polynomial.hpp"

namespace tightnoise {

// The least of the numbers that are multiples of `spacing` units of the last place, near `start`,
// to be good: all above it are. inf if there is none within `most_steps`.
template <class Good>
double least_good(Good is_good, double start, std::uint64_t spacing, int most_steps = 1000) {
    std::uint64_t bits = (to_bits(start) / spacing + 1) * spacing;
    int steps = 0;
    while (steps < most_steps && is_good(from_bits(bits - spacing))) {
        bits -= spacing;
        ++steps;
    }
    while (steps < most_steps && !is_good(from_bits(bits))) {
        bits += spacing;
        ++steps;
    }
    return steps < most_steps ? from_bits(bits) : std::numeric_limits<double>::infinity();
}

}  // namespace tightnoise
