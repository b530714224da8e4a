// What a mechanism costs that sees only a random sample of the records: upper bounds, all of them.
// SUBSAMPLING.md derives them.
#pragma once

#include <cstddef>

namespace tightnoise {

// What is known of the mechanism that is run on the sample: bounds on the Renyi divergence between
// its outputs on neighbouring data sets, whichever of the two comes first.
struct SampledMechanism {
    const double* integer_rdp;  // [i]: of order i + 2
    std::size_t integer_orders;
    double max_divergence;  // of order infinity; infinity where there is none
};

// Orders beyond this are bounded without sums over all smaller ones.
constexpr std::size_t kLargestSummedOrder = 8192;

// log(1 + rate (e^epsilon - 1)), rounded up.
// Range: rate in [0, 1], epsilon in [0, inf]. Relative error: 1e-12, up to epsilon = 700 1e-14; 0
// only where the truth is 0.
double amplified_epsilon_upper(double rate, double epsilon);

// Bounds at n real orders > 1 (infinity included) of the mechanism run on a sample to which each
// record belongs with probability `rate` in (0, 1), independently; one neighbour has one record
// more. `rdp` is what is known of the mechanism itself at `alphas`.
// Never below the formulas in exact arithmetic, and above by at most 1e-9 relative, or by 1e-290.
// No NaN; infinity only where neither `rdp` nor a sum of the mechanism's integer orders is finite.
void poisson_subsampled_rdp(const SampledMechanism& mechanism, double rate, const double* alphas,
                            const double* rdp, std::size_t n, double* out);

// The same for a sample of fixed size, the share `rate` of the records, drawn without replacement;
// one neighbour has one record replaced.
void sampled_without_replacement_rdp(const SampledMechanism& mechanism, double rate,
                                     const double* alphas, const double* rdp, std::size_t n,
                                     double* out);

}  // namespace tightnoise
