#include "cost/sampled_gaussian.hpp"

#include <limits>

#include "cost/rdp_sum.hpp"
#include "cost/sampled_gaussian_integral.hpp"
#include "cost/sampled_gaussian_model.hpp"

namespace tightnoise {
namespace {

// Above the errors of sums and functions, which were measured to be below 1e-12.
constexpr double kMargin = 5e-12;

// For s below this, 1 + u is 1 - q next to 0 and q e^l next to the modes of e^(a l): the crossing
// is at least 21 away from 0 or 1 / s, so what is neglected is e^-225.
constexpr double kSeparated = 0x1p-6;

double separated_divergence(const SampledGaussianModel& m, double alpha) {
    const double b = alpha - 1.0;
    const SampledPart sampled(m, alpha);
    const double reference = reference_for(sampled.exponent());
    const double rest =
        (1.0 - m.q) * ((b > 0.0 ? expm1mx(b * m.log_rest) / b : 0.0) + expm1mx(-m.log_rest));
    return divergence({rest * exp(-reference) + sampled.scaled(reference), reference}, b);
}

double gaussian_divergence(double alpha, double sigma) {
    return 0.5 * alpha / sigma / sigma;
}

double divergence_of(const SampledGaussianModel& m, double alpha) {
    const double b = alpha - 1.0;
    // D is convex in P, so it is at most that without sampling, and KL at most q times that. Here
    // it is less by a fraction of 1e-13 at most.
    if ((b > 0.0 ? b : 1.0) * m.half_precision >= 1e16) {
        return gaussian_divergence(b > 0.0 ? alpha : m.q, m.sigma);
    }
    if (m.sigma < kSeparated) return separated_divergence(m, alpha);
    return divergence(integrated_excess(m, alpha), b);
}

}  // namespace

void sampled_gaussian_rdp(const SampledGaussian& step, const double* alpha, double* rdp,
                          std::size_t n) {
    const SampledGaussianModel model(step.noise_multiplier, step.sampling_rate);
    for (std::size_t i = 0; i < n; ++i) {
        const double d = step.sampling_rate < 1.0 && alpha[i] < kInfinity
                             ? divergence_of(model, alpha[i])
                             : gaussian_divergence(alpha[i], step.noise_multiplier);
        rdp[i] = d * (1.0 + kMargin) + std::numeric_limits<double>::min();
    }
}

}  // namespace tightnoise
