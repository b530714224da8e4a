// Samplers: keystream, normals and mechanism fused batch by batch, so that noise never goes through
// memory. Element j depends on the key, the element type and j alone: not on the instruction set,
// the number of threads or the length of the array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/noise_key.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// What to sample into out[0 .. n). A sampler reads the parameters that its mechanism has.
template <class Real>
struct SampleTask {
    NoiseKey key;
    Operand theta;
    Operand sigma;
    Operand lower;
    Operand upper;
    double levels;  // number of letters, an integer below 2^31
    Real* out;
};

// Elements begin, ..., end - 1; begin is a multiple of kSampleAlignment.
template <class Real>
using Sampler = void (*)(const SampleTask<Real>& task, std::size_t begin, std::size_t end);

constexpr std::size_t kSampleAlignment = 256;

template <class Real>
struct Samplers {
    Sampler<Real> uniform;
    Sampler<Real> standard_normal;
    Sampler<Real> gaussian;
    Sampler<Real> rectified_gaussian;
    Sampler<Real> truncated_gaussian;
    Sampler<Real> quantized_gaussian;
    Sampler<Real> stochastic_sign;
    Sampler<Real> bounded_laplace;  // sigma is the scale
};

struct SamplingKernels {
    Samplers<double> float64;
    Samplers<float> float32;
    // `batches` keystream batches (256 words each) from number `first` on.
    void (*keystream)(const NoiseKey& key, std::uint64_t first, std::uint64_t batches,
                      std::uint32_t* out);
};
TIGHTNOISE_KERNEL_TABLE(SamplingKernels, sampling_kernels)

}  // namespace tightnoise
