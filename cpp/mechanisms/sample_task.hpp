// What samplers read and write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/noise_key.hpp"
#include "runtime/operand.hpp"

namespace tightnoise {

// What to sample into out[0 .. n). A sampler reads the parameters that its law has.
template <class Float>
struct SampleTask {
    using Real = Float;
    NoiseKey key;
    Operand theta;
    Operand sigma;  // or the scale
    Operand lower;
    Operand upper;
    double levels;  // number of letters, an integer below 2^31
    Real* out;
};

// The same on a grid (grid_cells.hpp).
template <class Real>
struct GridTask : SampleTask<Real> {
    Operand step;             // powers of two, float64
    const double* theta_low;  // of each element, what is to be added to theta; or null
    std::int64_t* integers;   // if not null, K goes here and nothing to `out` (Real = double)
    bool refine_all;          // takes every element for doubtful: for tests, K is the same
};

// out[j] = theta[j] + noise, of a law of sampled_noise.hpp.
template <class Task, class Law>
struct Additive : Task {
    Law noise;
};
template <class Real, class Noise>
using AdditiveTask = Additive<SampleTask<Real>, Noise>;
template <class Real, class Noise>
using AdditiveGridTask = Additive<GridTask<Real>, Noise>;

// One law's sampler for either type of samples: of elements begin, ..., end - 1, where begin is a
// multiple of kSampleAlignment.
template <class Task>
using Sampler = void (*)(const Task& task, std::size_t begin, std::size_t end);
template <class Wide, class Narrow>
struct SamplerPair {
    Sampler<Wide> float64;
    Sampler<Narrow> float32;
};
using Samplers = SamplerPair<SampleTask<double>, SampleTask<float>>;
using GridSamplers = SamplerPair<GridTask<double>, GridTask<float>>;
template <class Noise>
using AdditiveSamplers = SamplerPair<AdditiveTask<double, Noise>, AdditiveTask<float, Noise>>;
template <class Noise>
using AdditiveGridSamplers =
    SamplerPair<AdditiveGridTask<double, Noise>, AdditiveGridTask<float, Noise>>;

constexpr std::size_t kSampleAlignment = 256;

}  // namespace tightnoise
