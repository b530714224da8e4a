// Samplers of additive noise on a grid (mechanisms/grid_cells.hpp), of the laws with a quantile in
// closed form. float32 is float64 arithmetic, rounded at the end.
#pragma once

#include "mechanisms/additive_sampling_kernels.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

struct AdditiveGridKernels {
    AdditiveGridSamplers<ExponentialNoise> exponential;
    AdditiveGridSamplers<StaircaseNoise> stepped;
};
TIGHTNOISE_KERNEL_TABLE(AdditiveGridKernels, additive_grid_kernels)

}  // namespace tightnoise
