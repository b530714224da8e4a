// The law of a von Mises-Fisher loss (vmf_loss_law.hpp), many points at a time.
#pragma once

#include <cstddef>

#include "runtime/simd_level.hpp"

namespace tightnoise {

// Which form the part of the density has that comes from the sphere around u.
enum class VmfSphere {
    kNone,        // antipodal: none
    kCircle,      // p = 2: log cosh
    kRecurrence,  // from Debye's expansion at a higher order
    kExpansion    // Debye's expansion
};

// What the exponent depends on; VmfLossLaw derives it.
struct VmfLossShape {
    VmfSphere sphere = VmfSphere::kNone;
    double T = 0.0, U = 0.0;                     // tanh v*, 1 - tanh v*
    double M = 0.0;                              // m + z A'(z) / A(z) at the mode
    double along_S = 0.0, along_log_q = 0.0;     // what rounding of T and M leaves
    double order = 0.0;                          // n
    double z_square = 0.0, H = 0.0, rest = 0.0;  // at the mode
};

// The loss at d0 + r less some number: base - gain fall / (D + UE fall), fall = e^(-2 r) - 1.
// A gain of infinity stands for a loss that is infinite everywhere.
struct VmfLossRise {
    double gain, D, UE, base;
};

// integral of e^(f - reference) and of e^(f - reference) (1 - e^-rise) over a panel.
struct VmfPanel {
    double all, above;
};

struct VmfLossKernels {
    // f[i] = exponent at d[i].
    void (*exponents)(const VmfLossShape& shape, const double* d, std::size_t n, double* f);
    // d = d0 + r, from <= r <= from + width: 32 nodes of Gauss and Legendre.
    VmfPanel (*panel)(const VmfLossShape& shape, const VmfLossRise& rise, double d0, double from,
                      double width, double reference);
};
TIGHTNOISE_KERNEL_TABLE(VmfLossKernels, vmf_loss_kernels)

}  // namespace tightnoise
