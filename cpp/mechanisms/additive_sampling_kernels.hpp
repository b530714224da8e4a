// Samplers of additive noise: keystream, noise and sum fused batch by batch, so that noise never
// goes through memory. Element j depends on the key, the element type and j alone: not on the
// instruction set, the number of threads or the length of the array. All but the normals of float32
// is float64 arithmetic, rounded once at the end.
#pragma once

#include <cstddef>

#include "mechanisms/grid_task.hpp"
#include "mechanisms/sampled_noise.hpp"
#include "random/noise_key.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// out[j] = theta[j] + noise.
template <class Real, class Noise>
struct AdditiveTask {
    NoiseKey key;
    Noise noise;
    Operand theta;
    Real* out;
};

// Elements begin, ..., end - 1; begin is a multiple of kSampleAlignment.
template <class Real, class Noise>
using AdditiveSampler = void (*)(const AdditiveTask<Real, Noise>& task, std::size_t begin,
                                 std::size_t end);

// One law of noise for either element type.
template <class Noise>
struct AdditiveSamplers {
    AdditiveSampler<double, Noise> float64;
    AdditiveSampler<float, Noise> float32;
};

// The same on a grid (mechanisms/grid_cells.hpp).
template <class Real, class Noise>
struct AdditiveGridTask : GridTask<Real> {
    Noise noise;
};
template <class Real, class Noise>
using AdditiveGridSampler = void (*)(const AdditiveGridTask<Real, Noise>& task, std::size_t begin,
                                     std::size_t end);
template <class Noise>
struct AdditiveGridSamplers {
    AdditiveGridSampler<double, Noise> float64;
    AdditiveGridSampler<float, Noise> float32;
};

struct AdditiveSamplingKernels {
    AdditiveSamplers<GaussianLadder> gaussian_ladder;
    AdditiveSamplers<GaussianComponents> gaussian_components;
    AdditiveSamplers<QuasiGaussianNoise> quasi_gaussian;
    AdditiveSamplers<ExponentialNoise> exponential;
    AdditiveSamplers<SteppedNoise> stepped;
};
TIGHTNOISE_KERNEL_TABLE(AdditiveSamplingKernels, additive_sampling_kernels)

}  // namespace tightnoise
