// Von Mises-Fisher mechanisms on a random sample of the records.
#pragma once

#include <cstddef>

namespace tightnoise {

struct SampledVmf {
    double kappa, dim, half_chord, sampling_rate;
    bool is_fixed_size;  // batches of a fixed size and a record replaced; else Poisson sampling
};

// rdp[i] >= D_alpha[i] for real orders alpha >= 1 (1: Kullback-Leibler; infinity) of outputs whose
// mean directions are at most 2 half_chord apart; sampled_loss.hpp says what D is.
//
// Card. 0 <= kappa <= 1e100, integer dim from 2 to 2^53, 0 <= half_chord <= 1,
// 0 < sampling_rate <= 1: never below the truth. Up to kappa 1e14 and alpha 1e9 above it by at most
// a fraction 1e-11 + 2e-14 E / max(1, (alpha - 1) D), and 2.3e-308, where E is alpha times the loss
// at the mode of the density times e^(alpha l): the second part is of the size of 1e-14 unless two
// modes of the integrand just balance, where D is as sensitive to its arguments. Beyond, where
// exponents are above 1e16 or orders above 1e12, it is an upper bound as well.
void sampled_vmf_rdp(const SampledVmf& step, const double* alpha, double* rdp, std::size_t n);

// log(1 + sampling_rate (e^(2 kappa half_chord) - 1)), rounded up: the divergence of infinite
// order.
double sampled_vmf_max_divergence(const SampledVmf& step);

}  // namespace tightnoise
