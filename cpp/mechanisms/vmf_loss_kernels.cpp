#include "mechanisms/vmf_loss_kernels.hpp"

#include "mechanisms/vmf_loss_exponent.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

template <VmfSphere Sphere>
void exponents_of(const VmfLossShape& shape, const double* d, std::size_t n, double* f) {
    const VmfLossShape s = shape;  // a copy that f cannot alias
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) f[i] = exponent<Sphere>(s, d[i]);
}

void exponents(const VmfLossShape& shape, const double* d, std::size_t n, double* f) {
    switch (shape.sphere) {
        case VmfSphere::kNone:
            return exponents_of<VmfSphere::kNone>(shape, d, n, f);
        case VmfSphere::kCircle:
            return exponents_of<VmfSphere::kCircle>(shape, d, n, f);
        case VmfSphere::kRecurrence:
            return exponents_of<VmfSphere::kRecurrence>(shape, d, n, f);
        case VmfSphere::kExpansion:
            return exponents_of<VmfSphere::kExpansion>(shape, d, n, f);
    }
}

VmfPanel panel(const VmfLossShape& shape, const VmfLossRise& rise, double d0, double from,
               double width, double reference) {
    constexpr int kNodes = 32;
    using Rule = GaussLegendre<kNodes>;
    alignas(64) double r[kNodes], d[kNodes], f[kNodes];
    for (int k = 0; k < kNodes; ++k) {
        r[k] = from + width * Rule::nodes[k];
        d[k] = d0 + r[k];
    }
    exponents(shape, d, kNodes, f);
    const VmfLossRise l = rise;
    double all = 0.0;
    double above = 0.0;
#pragma omp simd reduction(+ : all, above)
    for (int k = 0; k < kNodes; ++k) {
        const double density = Rule::weights[k] * exp(f[k] - reference);
        all += density;
        above -= density * expm1(-loss_rise(l, r[k]));
    }
    return {width * all, width * above};
}

}  // namespace

extern const VmfLossKernels TIGHTNOISE_AT_LEVEL(vmf_loss_kernels) = {exponents, panel};

}  // namespace tightnoise
