// Samplers of signs and letters of a normal sample x of theta: functions of the ideal x, decided
// exactly (grid_cells.hpp), without a grid. Parameters are as in sampling_kernels.hpp.
#pragma once

#include "mechanisms/grid_task.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

template <class Real>
struct LetterSamplers {
    GridSampler<Real> quantized_gaussian;
    GridSampler<Real> stochastic_sign;
};

struct LetterKernels {
    LetterSamplers<double> float64;
    LetterSamplers<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(LetterKernels, letter_kernels)

}  // namespace tightnoise
