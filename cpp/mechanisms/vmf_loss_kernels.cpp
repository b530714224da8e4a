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

template <VmfSphere Sphere>
VmfPanel panel_of(const VmfLossShape& shape, const VmfLossRise& rise, double d0, double from,
                  double width, double reference) {
    using Rule = GaussLegendre<32>;
    const VmfLossShape s = shape;
    const VmfLossRise l = rise;
    double all = 0.0;
    double above = 0.0;
#pragma omp simd reduction(+ : all, above)
    for (int k = 0; k < 32; ++k) {
        const double r = from + width * Rule::nodes[k];
        const double density = Rule::weights[k] * exp(exponent<Sphere>(s, d0 + r) - reference);
        all += density;
        above -= density * expm1(-loss_rise(l, r));
    }
    return {width * all, width * above};
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
    switch (shape.sphere) {
        case VmfSphere::kNone:
            return panel_of<VmfSphere::kNone>(shape, rise, d0, from, width, reference);
        case VmfSphere::kCircle:
            return panel_of<VmfSphere::kCircle>(shape, rise, d0, from, width, reference);
        case VmfSphere::kRecurrence:
            return panel_of<VmfSphere::kRecurrence>(shape, rise, d0, from, width, reference);
        default:
            return panel_of<VmfSphere::kExpansion>(shape, rise, d0, from, width, reference);
    }
}

}  // namespace

extern const VmfLossKernels TIGHTNOISE_AT_LEVEL(vmf_loss_kernels) = {exponents, panel};

}  // namespace tightnoise
