// Samplers on a grid (mechanisms/grid_cells.hpp) of mixtures of normal noise.
#pragma once

#include "mechanisms/additive_sampling_kernels.hpp"

namespace tightnoise {

struct GridMixtureKernels {
    AdditiveGridSamplers<GaussianLadder> gaussian_ladder;
    AdditiveGridSamplers<GaussianComponents> gaussian_components;
    AdditiveGridSamplers<QuasiGaussianNoise> quasi_gaussian;
};
TIGHTNOISE_KERNEL_TABLE(GridMixtureKernels, grid_mixture_kernels)

// Of the largest sigma and the farthest location, in units of the step.
constexpr double kMostGridSigma = 0x1p24;
constexpr double kMostGridLocation = 0x1p50;

}  // namespace tightnoise
