// Rows of von Mises-Fisher samples, on several threads; the same bits for any number of them.
#pragma once

#include <cstddef>

#include "mechanisms/vmf_sampling_kernels.hpp"

namespace tightnoise {

// Directions must be finite; with a NaN or an infinity a row becomes NaN (uniform for kappa = 0).
void sample_von_mises_fisher(const VmfTask<double>& task, std::size_t rows);
void sample_von_mises_fisher(const VmfTask<float>& task, std::size_t rows);

}  // namespace tightnoise
