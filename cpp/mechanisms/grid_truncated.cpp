#include "mechanisms/conditioned_laws.hpp"
#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/grid_truncated_float32.hpp"

namespace tightnoise {

extern const GridConditionedKernels TIGHTNOISE_AT_LEVEL(grid_truncated) = {
    {grid::conditioned<grid::GaussianLaw>, grid::truncated_float32},
    {grid::conditioned<grid::LaplaceLaw>, grid::conditioned<grid::LaplaceLaw>}};

}  // namespace tightnoise
