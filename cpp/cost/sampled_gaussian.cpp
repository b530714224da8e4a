#include "cost/sampled_gaussian.hpp"

#include <limits>

#include "cost/sampled_gaussian_integral.hpp"
#include "cost/sampled_gaussian_model.hpp"
#include "cost/sampled_loss.hpp"

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

namespace {

// Precisions 1 / sigma^2 out of this range have divergences next to under- or overflow.
constexpr double kLeastPrecision = 1e-280, kLargestPrecision = 1e16;

// The law of the loss between N(1, s^2) and Q = N(0, s^2), for sampled_loss.hpp: l = v / s with
// v + 1 / (2 s) standard normal under Q.
class GaussianUnderQ {
  public:
    explicit GaussianUnderQ(double sigma) : sigma_(sigma), inverse_(1.0 / sigma) {}

    double loss(double v) const { return v * inverse_; }
    void log_densities(const double* v, std::size_t n, double* out) const {
        for (std::size_t i = 0; i < n; ++i) {
            const double z = v[i] + 0.5 * inverse_;
            out[i] = -0.5 * z * z;
        }
    }
    double mode(double h) const { return (h - 0.5) * inverse_; }
    double position(double l) const { return l * sigma_; }
    double slope(double) const { return inverse_; }
    double panel_width(double) const { return 2.0; }

  private:
    double sigma_, inverse_;
};

}  // namespace

void fixed_size_gaussian_rdp(const SampledGaussian& step, const double* alpha, double* rdp,
                             std::size_t n) {
    const double sigma = step.noise_multiplier, q = step.sampling_rate;
    const auto whole = [&](double a) { return 0.5 * a / sigma / sigma; };
    const double precision = 1.0 / sigma / sigma;
    if (q == 1.0 || !(precision >= kLeastPrecision && precision <= kLargestPrecision)) {
        for (std::size_t i = 0; i < n; ++i) {
            const double a = alpha[i];
            rdp[i] = sampled_bound(a, whole(a), kInfinity, q, Sampling::kFixedSize) + kLeastSampled;
        }
        return;
    }
    sampled_rdp(GaussianUnderQ(sigma), q, Sampling::kFixedSize, kInfinity, whole, alpha, rdp, n);
}

}  // namespace tightnoise
