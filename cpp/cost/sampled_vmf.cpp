#include "cost/sampled_vmf.hpp"

#include <algorithm>
#include <cmath>

#include "cost/sampled_loss.hpp"
#include "mechanisms/vmf_divergence.hpp"
#include "mechanisms/vmf_loss_law.hpp"

namespace tightnoise {
namespace {

// Below, divergences are next to underflow.
constexpr double kLeastAlong = 1e-150;

// The law of the loss under Q, for sampled_loss.hpp: v = artanh of the output's part along the
// difference of the mean directions. VmfLossLaw has it under P, where it is mirrored.
class VmfUnderQ {
  public:
    explicit VmfUnderQ(const SampledVmf& step)
        : law_(step.kappa, step.dim, step.half_chord),
          along_(step.kappa * step.half_chord),
          across_(step.kappa * std::sqrt((1.0 - step.half_chord) * (1.0 + step.half_chord))),
          half_(0.5 * (step.dim - 1.0)),
          mode_(-law_.mode()) {}

    double loss(double v) const { return -law_.loss(mode_ - v); }
    // n is at most that of the nodes of a panel.
    void log_densities(const double* v, std::size_t n, double* out) const {
        double d[LossPanel::kNodes];
        for (std::size_t i = 0; i < n; ++i) d[i] = mode_ - v[i];
        vmf_loss_kernels().exponents(law_.shape(), d, n, out);
        if (!law_.is_sure_near_mode_only()) return;
        for (std::size_t i = 0; i < n; ++i) {
            const double cosh = std::cosh(v[i]);
            if (across_ < kDebyeArgument * cosh) out[i] = far_log_density(v[i], cosh);
        }
    }

    // The density times e^(h l) is that of v for mean directions of which K = (2 h - 1) kappa s is
    // the part along v and kappa c that across it. For c = 0 its mode has
    // tanh v = K / (m + hypot(m, K)), m = (p - 1) / 2; for p << kappa, K / hypot(K, kappa c). This
    // has both limits.
    double mode(double h) const {
        if (h == 0.0) return mode_;
        const double k = (2.0 * h - 1.0) * along_;
        const double whole = half_ + hypotenuse(half_, hypotenuse(k, across_));
        return std::asinh(k / std::sqrt(2.0 * half_ * whole + across_ * across_));
    }
    double position(double l) const {
        const double share = l / law_.greatest_loss();
        if (!(std::fabs(share) < 1.0)) return l > 0.0 ? kInfinity : -kInfinity;
        return std::atanh(share);
    }
    double slope(double v) const {
        const double sech = 1.0 / std::cosh(v);
        return law_.greatest_loss() * sech * sech;
    }
    // A log density falls by 1 in no less than 1 / sqrt(2 (p - 1) + 2 kappa c sech v) to both sides
    // of a mode.
    double panel_width(double v) const {
        const double curvature = 4.0 * half_ + 2.0 * across_ / std::cosh(v);
        return std::fmin(kWidest, kWidth / std::sqrt(curvature));
    }

  private:
    static constexpr double kWidest = 1.0;  // the loss has its poles pi / 2 off the real line
    static constexpr double kWidth = 3.5;

    // The law as it is written down: below e^-900 these digits are enough, and what is farther out
    // matters to large orders.
    double far_log_density(double v, double cosh) const {
        const double cosh_mode = std::cosh(mode_);
        const double z = across_ / cosh, z_mode = across_ / cosh_mode;
        return -along_ * (std::tanh(v) - std::tanh(mode_)) - 2.0 * half_ * log(cosh / cosh_mode) +
               log_sphere_mean_rise(half_ - 1.0, z_mode, z * z - z_mode * z_mode);
    }

    VmfLossLaw law_;
    double along_, across_;
    double half_;
    double mode_;
};

double unsampled(const SampledVmf& step, double alpha) {
    const double half_cosine = std::sqrt((1.0 - step.half_chord) * (1.0 + step.half_chord));
    return vmf_renyi({0.5 * step.dim - 1.0, step.kappa, step.half_chord, half_cosine}, alpha);
}

// 2 kappa s, of which two roundings to the nearest are made up for.
double greatest_loss(const SampledVmf& step) {
    return 2.0 * step.kappa * step.half_chord * (1.0 + 0x1p-51);
}

}  // namespace

double sampled_vmf_max_divergence(const SampledVmf& step) {
    return amplified_epsilon_upper(step.sampling_rate, greatest_loss(step));
}

void sampled_vmf_rdp(const SampledVmf& step, const double* alpha, double* rdp, std::size_t n) {
    const double along = step.kappa * step.half_chord, q = step.sampling_rate;
    const Sampling sampling = step.is_fixed_size ? Sampling::kFixedSize : Sampling::kPoisson;
    const double most = greatest_loss(step);
    const auto whole = [&](double a) { return unsampled(step, a); };
    if (along == 0.0) {
        std::fill_n(rdp, n, 0.0);
    } else if (along < kLeastAlong || q == 1.0) {
        for (std::size_t i = 0; i < n; ++i) {
            rdp[i] = sampled_bound(alpha[i], whole(alpha[i]), most, q, sampling) + kLeastSampled;
        }
    } else {
        sampled_rdp(VmfUnderQ(step), q, sampling, most, whole, alpha, rdp, n);
    }
}

}  // namespace tightnoise
