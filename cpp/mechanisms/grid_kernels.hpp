// Samplers on a grid (grid_cells.hpp) of Gaussian noise, clipped to bounds or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mechanisms/grid_task.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// The pairs of normals behind words of radius and angle, and the squares of their radii, as these
// kernels evaluate them: for tests of the bounds on that evaluation.
template <class Real, class Word>
using EvaluateNormals = void (*)(const Word* radius, const Word* angle, std::size_t count,
                                 Real* first, Real* second, Real* square);
template <class Real>
using NormalPairs =
    EvaluateNormals<Real, std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>>;

template <class Real>
struct GridSamplers {
    GridSampler<Real> gaussian;
    GridSampler<Real> rectified_gaussian;
    NormalPairs<Real> normal_pairs;
};

struct GridKernels {
    GridSamplers<double> float64;
    GridSamplers<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(GridKernels, grid_kernels)

}  // namespace tightnoise
