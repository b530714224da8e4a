// Samplers on a grid (grid_cells.hpp) of Gaussian noise, clipped to bounds or not.
#pragma once

#include "mechanisms/grid_task.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

template <class Real>
struct GridSamplers {
    GridSampler<Real> gaussian;
    GridSampler<Real> rectified_gaussian;
};

struct GridKernels {
    GridSamplers<double> float64;
    GridSamplers<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(GridKernels, grid_kernels)

}  // namespace tightnoise
