// Samplers: keystream, noise and mechanism fused batch by batch, so that noise never goes through
// memory. Element j depends on the key, the element type and j alone: not on the instruction set,
// the number of threads or the length of the array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanisms/sample_task.hpp"
#include "mechanisms/sampled_noise.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

struct SamplingKernels {
    Samplers uniform, standard_normal;
    Samplers gaussian, rectified_gaussian, truncated_gaussian, quantized_gaussian, stochastic_sign;
    Samplers bounded_laplace;
    // `batches` keystream batches (256 words each) from number `first` on.
    void (*keystream)(const NoiseKey& key, std::uint64_t first, std::uint64_t batches,
                      std::uint32_t* out);
};
TIGHTNOISE_KERNEL_TABLE(SamplingKernels, sampling_kernels)

// All but the normals of float32 is float64 arithmetic, rounded once at the end.
struct AdditiveSamplingKernels {
    AdditiveSamplers<GaussianLadder> gaussian_ladder;
    AdditiveSamplers<GaussianComponents> gaussian_components;
    AdditiveSamplers<QuasiGaussianNoise> quasi_gaussian;
    AdditiveSamplers<ExponentialNoise> exponential;
    AdditiveSamplers<SteppedNoise> stepped;
};
TIGHTNOISE_KERNEL_TABLE(AdditiveSamplingKernels, additive_sampling_kernels)

}  // namespace tightnoise
