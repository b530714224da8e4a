// Samplers on a grid (grid_cells.hpp) of noise conditioned on bounds.
#pragma once

#include "mechanisms/grid_task.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

template <class Real>
struct GridConditionedSamplers {
    GridSampler<Real> truncated_gaussian;
    GridSampler<Real> bounded_laplace;
};

struct GridConditionedKernels {
    GridConditionedSamplers<double> float64;
    GridConditionedSamplers<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(GridConditionedKernels, grid_truncated)

}  // namespace tightnoise
