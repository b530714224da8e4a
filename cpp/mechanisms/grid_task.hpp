// What a sampler on a grid reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/noise_key.hpp"
#include "runtime/operand.hpp"

namespace tightnoise {

template <class Real>
struct GridTask {
    NoiseKey key;
    Operand theta;
    Operand step;   // powers of two, float64
    Operand sigma;  // or the scale
    Operand lower;
    Operand upper;
    double levels;            // number of letters, an integer below 2^31
    const double* theta_low;  // of each element, what is to be added to theta; or null
    Real* out;
    std::int64_t* integers;  // if not null, K goes here and nothing to `out` (Real = double)
    bool refine_all;         // takes every element for doubtful: for tests, K is the same
};

// Elements begin, ..., end - 1; begin is a multiple of kSampleAlignment.
template <class Real>
using GridSampler = void (*)(const GridTask<Real>& task, std::size_t begin, std::size_t end);

}  // namespace tightnoise
