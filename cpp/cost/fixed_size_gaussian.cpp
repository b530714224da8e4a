#include "cost/fixed_size_gaussian.hpp"

#include <cmath>

#include "cost/sampled_loss.hpp"

namespace tightnoise {
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
