// Sums of per-coordinate costs: fixed blocks, combined in order, so the bits do not depend on the
// number of threads.
#pragma once

#include <cstddef>

#include "mechanisms/divergence_kernels.hpp"

namespace tightnoise {

// See MechanismKernels::rdp_sums. forward and backward have alpha_count elements. The summation
// itself adds a relative error below 1e-15.
void rdp_sums(const MechanismKernels& kernels, const MechanismOperands& mechanism, const Operand& c,
              const double* alphas, std::size_t alpha_count, std::size_t n, double* forward,
              double* backward);

double fisher_sum(const MechanismKernels& kernels, const MechanismOperands& mechanism,
                  const Operand& c, std::size_t n);

}  // namespace tightnoise
