#include "mechanisms/grid_truncated.hpp"

#include "mechanisms/conditioned_laws.hpp"
#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/grid_truncated_float32.hpp"

namespace tightnoise {

extern const GridConditionedKernels TIGHTNOISE_AT_LEVEL(grid_truncated) = {
    {grid::conditioned<grid::GaussianLaw, double>, grid::conditioned<grid::LaplaceLaw, double>},
    {grid::truncated_float32, grid::conditioned<grid::LaplaceLaw, float>}};

}  // namespace tightnoise
