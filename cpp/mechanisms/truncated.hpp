// The truncated Gaussian N^T(theta, sigma^2, [lower, upper]): N(theta, sigma^2) conditioned on the
// support; "Privacy Amplification for the Gaussian Mechanism via Bounded Support", section 3.
// Kernel-side header: internal linkage, one copy a level.
//
// With u = (lower - theta)/sigma, v = (upper - theta)/sigma, d = Phi(v) - Phi(u), the density is
// phi((x - theta)/sigma)/(sigma d): an exponential family in theta, whose log-partition function
// gives every divergence (its Eq. (6) as printed is wrong: the exponent must be 1/(alpha - 1), the
// argument theta + (1 - alpha) c; the derivation in its Appendix B ends right).
//
// Card (all divergences and Fisher information): |u|, |v| <= 1e4, width/sigma from 1e-6 to 1e6,
// |k| from 1e-9 to 1e2, alpha from 1e-6 to 1e5: relative error below 1e-12. NaN in, NaN out.
#pragma once

#include "mechanisms/continuous_part.hpp"
#include "mechanisms/interval_quantile.hpp"
#include "mechanisms/lane.hpp"

namespace tightnoise {
namespace {

// log E[e^(tilt S)] for S on [0, 1] with density proportional to f(s) = e^(-slope s - square
// s^2/2); |slope| <= 1, 0 < tilt <= 1/2, square <= 1/4. With b_n the Taylor coefficients of f and
// d_n those of f (e^(tilt s) - 1), which are proportional to tilt,
//     (n + 1) b_(n+1) = -slope b_n - square b_(n-1),
//     (n + 1) d_(n+1) = -(slope - tilt) d_n - square d_(n-1) + tilt b_n,
// the mean less 1 is x = (integral of the latter)/(integral of the former), and log(1 + x) =
// 2 artanh(x/(2 + x)). Relative error below 1e-28.
inline DoubleDouble log_mean_tilt(DoubleDouble slope, DoubleDouble tilt, DoubleDouble square) {
    constexpr double kTerms = 40.0;
    const DoubleDouble zero = {0.0, 0.0};
    DoubleDouble b = {1.0, 0.0}, b_before = zero, mass = zero;
    DoubleDouble d = zero, d_before = zero, gain = zero;
    for (double n = 1.0; n <= kTerms; n += 1.0) {
        mass = mass + b / n;
        gain = gain + d / n;
        const DoubleDouble b_next = -(slope * b + square * b_before) / n;
        const DoubleDouble d_next = (tilt * b - (slope - tilt) * d - square * d_before) / n;
        b_before = b;
        d_before = d;
        b = b_next;
        d = d_next;
    }
    const DoubleDouble x = gain / mass;
    const DoubleDouble z = x / (x + 2.0), z_square = z * z;
    DoubleDouble sum = zero;
    for (double n = kTerms + 11.0; n > 0.0; n -= 2.0)
        sum = sum * z_square + DoubleDouble{1.0, 0.0} / n;
    return sum * z * 2.0;
}

class Truncated {
  public:
    explicit Truncated(const Interval& support, int = 0) : support_(support), cell_(support) {}

    static Interval partition(const Lane& lane) { return standardised_support(lane); }

    // sigma^2 eta^2 = Var[Z | support] (printed with the wrong sign in Eq. (4); App. F is right).
    double fisher_information() const { return cell_.variance; }

    class Pair {
      public:
        Pair(const Truncated& base, DoubleDouble k)
            : base_(base), k_(k), part_(base.support_, base.cell_, k) {}

        double renyi(double beta) const { return part_.divergence(beta); }
        double kl() const { return part_.divergence(0.0); }
        double max_divergence() const { return part_.max_divergence(); }

        // k > 0. log p/q falls from its greatest value at lower by k y at lower + y, so it is
        // epsilon at y = (greatest - epsilon)/k: measured from lower, where the support may be
        // narrow beside its distance from theta.
        double hockey_stick(double epsilon) const {
            const Interval& support = base_.support_;
            const DoubleDouble y = (greatest_loss() + -epsilon) / k_;
            if ((y - (support.upper - support.lower)).hi >= 0.0) return -expm1(epsilon);
            if (!(y.hi > 0.0)) return 0.0;
            const DoubleDouble t = support.lower + y;
            const BestTest test = best_test({support.lower, t, y.hi}, k_, t);
            return exp(test.log_p - base_.cell_.mass().logarithm()) * test.advantage;
        }

      private:
        // max_divergence(), k > 0. In double-double where support and losses are small, and epsilon
        // may be next to the greatest. With l the log ratio of the support's two masses it is
        // k (k/2 - lower) - l, which would cancel where the support is narrow and holds theta.
        DoubleDouble greatest_loss() const {
            const Interval& support = base_.support_;
            const DoubleDouble width = support.upper - support.lower;
            const DoubleDouble slope = support.lower * width, tilt = k_ * width;
            if (std::fabs(slope.hi) <= 1.0 && tilt.hi <= 0.5 && width.hi <= 0.5) {
                return log_mean_tilt(slope, tilt, width * width);
            }
            if (!base_.cell_.outside && width.hi <= 1.0) return {part_.max_divergence(), 0.0};
            return k_ * (k_ * 0.5 - support.lower) - part_.log_ratio();
        }

        const Truncated& base_;
        DoubleDouble k_;
        ContinuousPart part_;
    };

    static double mean(const Lane& lane) {
        const Cell cell(standardised_support(lane));
        if (!cell.outside) return lane.theta + lane.sigma * cell.mean;
        return cell.sign > 0.0 ? lane.lower + lane.sigma * cell.from_near
                               : lane.upper - lane.sigma * cell.from_near;
    }

    static double variance(const Lane& lane) {
        return lane.sigma * lane.sigma * Cell(standardised_support(lane)).variance;
    }

    // log density, -inf off the support.
    static double log_pdf(double x, const Lane& lane) {
        if (x < lane.lower || x > lane.upper) return -kInfinity;
        const DoubleDouble z = standardised(x, lane);
        const DoubleDouble log_mass_of_support = log_mass(standardised_support(lane));
        return rounded(z * z * -0.5 - kLogSqrtTwoPiWide - log_mass_of_support) - log(lane.sigma);
    }

    static double cdf(double x, const Lane& lane) {
        if (x <= lane.lower) return 0.0;
        if (x >= lane.upper) return 1.0;
        return exp(log_share(x, lane));
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        if (x <= lane.lower) return -kInfinity;
        if (x >= lane.upper) return 0.0;
        return rounded(log_share(x, lane));
    }
    static double log_above(double x, const Lane& lane) { return log_below(-x, mirrored(lane)); }

    static double upper_quantile(double q, const Lane& lane) {
        return -quantile(q, mirrored(lane));
    }

    static double quantile(double q, const Lane& lane) {
        if (q <= 0.0) return lane.lower;
        if (q >= 1.0) return lane.upper;
        const Quantile y = quantile_within(standardised_support(lane), q);
        const double x = y.from_lower ? lane.lower + lane.sigma * y.distance
                                      : lane.upper - lane.sigma * y.distance;
        return x < lane.lower ? lane.lower : x > lane.upper ? lane.upper : x;
    }

  private:
    // Of what is below x, between the bounds.
    static DoubleDouble log_share(double x, const Lane& lane) {
        const Interval support = standardised_support(lane);
        const DoubleDouble width = two_sum(x, -lane.lower) / DoubleDouble{lane.sigma, 0.0};
        const Interval below = {support.lower, standardised(x, lane), width.hi};
        return log_mass(below) - log_mass(support);
    }

    Interval support_;
    Cell cell_;
};

}  // namespace
}  // namespace tightnoise
