#include "numeric/special_kernels.hpp"

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

template <double (*F)(double)>
void map(const double* x, double* y, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = F(x[i]);
}

}  // namespace

extern const SpecialKernels TIGHTNOISE_AT_LEVEL(special_kernels) = {map<exp>};

}  // namespace tightnoise
