// The support of a bounded Gaussian as a cell on which the output is continuous: the whole of the
// truncated mechanism, the inside of the rectified one.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "mechanisms/log_ratio.hpp"

namespace tightnoise {
namespace {

// The support seen from theta (P) and from theta + k sigma (Q). beta = alpha - 1 >= -1/2.
class ContinuousPart {
  public:
    ContinuousPart(const Interval& support, const Cell& cell, DoubleDouble k)
        : support_(support), cell_(cell), k_(k), kl_(cell.cumulant(k.hi)) {}

    // l of the support as a whole.
    DoubleDouble log_ratio() const { return tightnoise::log_ratio(cell_, support_, k_, kl_); }

    // D_alpha between the Gaussians conditioned on the support (the truncated mechanism). From
    // log dP/dQ = -k (Z - E Z) + K(k), an exponential family:
    //     D_alpha = K(k) + K(-beta k)/beta                     (alpha = 1: K(k))
    // two positive terms for alpha > 1. For alpha < 1 the second is negative, and where it cancels
    // more than half of the first the three log masses they stand for are subtracted instead.
    double divergence(double beta) const {
        if (beta == 0.0) return kl_;
        const double tilted = cell_.cumulant(-beta * k_.hi) / beta;
        if (tilted < -0.5 * kl_ && !cell_.is_small(k_.hi)) {
            return rounded(log_of_ratio(term(beta), cell_.mass()) - log_ratio() * beta) / beta;
        }
        return kl_ + tilted;
    }

    // The supremum of log dP/dQ, at the edge that theta moves away from.
    double max_divergence() const {
        return kl_ + (k_.hi > 0.0 ? k_.hi * cell_.from_lower() : -k_.hi * cell_.from_upper());
    }

    // The integral of p^alpha q^(1-alpha) over the support: completing the square,
    //     exp(alpha beta k^2/2) [Phi(v + beta k) - Phi(u + beta k)].
    Mass term(double beta) const {
        const DoubleDouble step = k_ * beta;
        const Mass mass = mass_of(seen_from(support_, -step));
        return {(step + k_) * step * 0.5 + mass.exponent, mass.factor};
    }

  private:
    const Interval& support_;
    const Cell& cell_;
    DoubleDouble k_;
    double kl_;
};

}  // namespace
}  // namespace tightnoise
