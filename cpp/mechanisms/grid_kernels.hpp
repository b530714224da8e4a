// Samplers on a grid (grid_cells.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mechanisms/sample_task.hpp"
#include "mechanisms/sampled_noise.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// The pairs of normals behind words of radius and angle, and the squares of their radii, as these
// kernels evaluate them: for tests of the bounds on that evaluation.
template <class Real, class Word>
using EvaluateNormals = void (*)(const Word* radius, const Word* angle, std::size_t count,
                                 Real* first, Real* second, Real* square);

// Of Gaussian noise, clipped to bounds or not.
struct GridKernels {
    GridSamplers gaussian, rectified_gaussian;
    EvaluateNormals<double, std::uint64_t> float64_pairs;
    EvaluateNormals<float, std::uint32_t> float32_pairs;
};
TIGHTNOISE_KERNEL_TABLE(GridKernels, grid_kernels)

// Of signs and letters of a normal sample x of theta: functions of the ideal x, decided exactly,
// without a grid.
struct LetterKernels {
    GridSamplers quantized_gaussian, stochastic_sign;
};
TIGHTNOISE_KERNEL_TABLE(LetterKernels, letter_kernels)

// Of noise conditioned on bounds.
struct GridConditionedKernels {
    GridSamplers truncated_gaussian, bounded_laplace;
};
TIGHTNOISE_KERNEL_TABLE(GridConditionedKernels, grid_truncated)

// Of additive noise with a quantile in closed form. float32 is float64 arithmetic, rounded at the
// end.
struct AdditiveGridKernels {
    AdditiveGridSamplers<ExponentialNoise> exponential;
    AdditiveGridSamplers<StaircaseNoise> stepped;
};
TIGHTNOISE_KERNEL_TABLE(AdditiveGridKernels, additive_grid_kernels)

// Of mixtures of normal noise.
struct GridMixtureKernels {
    AdditiveGridSamplers<GaussianLadder> gaussian_ladder;
    AdditiveGridSamplers<GaussianComponents> gaussian_components;
    AdditiveGridSamplers<QuasiGaussianNoise> quasi_gaussian;
};
TIGHTNOISE_KERNEL_TABLE(GridMixtureKernels, grid_mixture_kernels)

// Of the largest sigma and the farthest location of a mixture, in units of the step.
constexpr double kMostGridSigma = 0x1p24;
constexpr double kMostGridLocation = 0x1p50;

}  // namespace tightnoise
