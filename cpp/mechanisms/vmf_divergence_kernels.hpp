// Renyi divergences between von Mises-Fisher distributions, over arrays.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// Operands as in vmf_divergence.hpp.
struct VmfRenyiTask {
    Operand nu, kappa, half_chord, half_cosine, alpha;
    double* out;
};

struct VmfDivergenceKernels {
    // out[i] for the n elements from `begin` on.
    void (*renyi)(const VmfRenyiTask& task, std::size_t begin, std::size_t n);
    // out[j] += count D_alpha[j].
    void (*add_renyi)(double nu, double kappa, double half_chord, double half_cosine, double count,
                      const double* alpha, double* out, std::size_t n);
};
TIGHTNOISE_KERNEL_TABLE(VmfDivergenceKernels, vmf_divergence_kernels)

}  // namespace tightnoise
