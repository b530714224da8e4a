// What a mechanism with per-coordinate parameters costs and how its output is distributed:
// elementwise, and summed over coordinates.
#pragma once

#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// The parameters of a mechanism; each one value or one a coordinate. A mechanism without bounds
// ignores lower and upper, one that is not quantised ignores levels.
struct MechanismOperands {
    Operand theta, sigma, lower, upper;
    int levels;
};

struct MechanismKernels {
    // out[i] for coordinate begin + i, i < n. Functions of fewer arguments ignore the others.
    using Map = void (*)(const MechanismOperands& mechanism, const Operand& first,
                         const Operand& second, std::size_t begin, std::size_t n, double* out);
    Map renyi;         // (shift, alpha): D_alpha(M(theta) || M(theta + shift))
    Map hockey_stick;  // (shift, epsilon): sup_S P(S) - e^epsilon Q(S)
    Map fisher_information;
    Map log_pdf, cdf, log_cdf, log_sf;  // (x)
    Map quantile, upper_quantile;       // (q): the least x with cdf >= q, with 1 - cdf <= q
    Map mean, variance;

    // Adds coordinates begin, ..., begin + n - 1 to the sums, forward[alphas] and backward[alphas]:
    //     forward  = sum_j max over both signs of D_alpha(theta_j || theta_j +- c_j)
    //     backward = sum_j max over both signs of D_alpha(theta_j +- c_j || theta_j)
    void (*rdp_sums)(const MechanismOperands& mechanism, const Operand& c, const double* alphas,
                     std::size_t alpha_count, std::size_t begin, std::size_t n,
                     CompensatedSum* sums);

    // sum_j (c_j eta_j)^2.
    CompensatedSum (*fisher_sum)(const MechanismOperands& mechanism, const Operand& c,
                                 std::size_t begin, std::size_t n);
};

struct DivergenceKernels {
    MechanismKernels gaussian, rectified, truncated, quantized, sign, bounded_laplace;
};
TIGHTNOISE_KERNEL_TABLE(DivergenceKernels, divergence_kernels)

}  // namespace tightnoise
