// The rectified Gaussian N^R(theta, sigma^2, [lower, upper]) = clip(N(theta, sigma^2), lower,
// upper); "Privacy Amplification for the Gaussian Mechanism via Bounded Support", section 3.
// Kernel-side header: internal linkage, one copy a level.
//
// With u = (lower - theta)/sigma, v = (upper - theta)/sigma: atoms Phi(u) at lower and Phi(-v) at
// upper, density phi((x - theta)/sigma)/sigma between. As a partition of the line into two half
// lines, seen only as a whole, and the support, seen in full:
//     S = Phi(u)^alpha Phi(u-k)^(1-alpha) + Phi(-v)^alpha Phi(k-v)^(1-alpha)
//         + e^(alpha (alpha-1) k^2/2) [Phi(v-(1-alpha)k) - Phi(u-(1-alpha)k)],
//     D_alpha(theta || theta + c) = log(S)/(alpha - 1),   k = c/sigma          (Eq. (5)).
//
// Card (all divergences and Fisher information): |u|, |v| <= 1e4, width/sigma from 1e-6 to 1e6,
// |k| from 1e-9 to 1e2, alpha from 1e-6 to 1e5: relative error below 1e-12 down to values of
// 1e-300, below which 0 may be returned. NaN in, NaN out.
#pragma once

#include "mechanisms/continuous_part.hpp"
#include "mechanisms/lane.hpp"
#include "mechanisms/tail.hpp"
#include "numeric/normal_quantile.hpp"

namespace tightnoise {
namespace {

class Rectified {
  public:
    explicit Rectified(const Interval& support, int = 0)
        : support_(support),
          left_(support.lower, -1.0),
          right_(support.upper, 1.0),
          inside_(support) {}

    static Interval partition(const Lane& lane) { return standardised_support(lane); }

    // sigma^2 eta^2 = phi(u)^2/Phi(u) + phi(v)^2/Phi(-v) + (phi(u) - phi(v))^2/d + d V: with E[Z] =
    // -phi(u)/Phi(u) and so on for the cells, the sum of p E[Z]^2, plus the variance within the
    // inside. All terms are positive (Eq. (4) as printed has a sign wrong and turns negative).
    double fisher_information() const {
        return left_.information() + right_.information() +
               inside_.mass().value() * (inside_.mean * inside_.mean + inside_.variance);
    }

    class Pair {
      public:
        Pair(const Rectified& base, DoubleDouble k)
            : base_(base), k_(k), part_(base.support_, base.inside_, k) {
            cells_[kLeft] = {base.left_.mass(), base.left_.log_ratio(k)};
            cells_[kRight] = {base.right_.mass(), base.right_.log_ratio(k)};
            cells_[kInside] = {base.inside_.mass(), part_.log_ratio()};
            resolve_dominant(cells_, kCells, most_probable(cells_, kCells),
                             [this](int i) { return cells_[i].log_ratio; });
        }

        double renyi(double beta) const {
            return renyi_of_cells(cells_, kCells, beta, {kInside, beta * part_.divergence(beta)},
                                  [&] { return part_.term(beta); });
        }

        // The cells as wholes, plus the divergence within the inside.
        double kl() const {
            return kl_of_cells(cells_, kCells) +
                   base_.inside_.mass().value() * part_.divergence(0.0);
        }

        // p/q is monotone in the output: its supremum is the atom that theta moves away from.
        double max_divergence() const {
            return rounded(cells_[k_.hi > 0.0 ? kLeft : kRight].log_ratio);
        }

        // k > 0: (p_a - e^eps q_a)_+ + (p_b - e^eps q_b)_+ + the best test within the support.
        double hockey_stick(double epsilon) const {
            const Interval& support = base_.support_;
            const double atoms = hockey_stick_term(cells_[kLeft], epsilon) +
                                 hockey_stick_term(cells_[kRight], epsilon);
            const DoubleDouble t = k_ * 0.5 - DoubleDouble{epsilon, 0.0} / k_;
            if ((t - support.upper).hi >= 0.0) {
                return atoms + hockey_stick_term(cells_[kInside], epsilon);
            }
            const DoubleDouble width = t - support.lower;
            if (!(width.hi > 0.0)) return atoms;
            const BestTest test = best_test({support.lower, t, width.hi}, k_, t);
            return atoms + exp(test.log_p) * test.advantage;
        }

      private:
        enum { kLeft, kRight, kInside, kCells };
        const Rectified& base_;
        DoubleDouble k_;
        ContinuousPart part_;
        CellRatio cells_[kCells];
    };

    // E[clip(Z, u, v)], from theta when it lies in the support, else from the nearer edge.
    static double mean(const Lane& lane) {
        const Rectified m(standardised_support(lane));
        const double u = m.support_.lower.hi, v = m.support_.upper.hi, w = m.support_.width;
        if (u > 0.0) return lane.lower + lane.sigma * m.mean_from_lower(w);
        if (v < 0.0) return lane.upper - lane.sigma * m.mean_from_upper(w);
        return lane.theta +
               lane.sigma * ((m.left_.mass().value() > 0.0 ? m.left_.mass().value() * u : 0.0) +
                             (m.right_.mass().value() > 0.0 ? m.right_.mass().value() * v : 0.0) +
                             m.inside_.mass().value() * m.inside_.mean);
    }

    // The spread of the three cells about the mean, plus that within the inside: positive terms.
    static double variance(const Lane& lane) {
        const Rectified m(standardised_support(lane));
        const double w = m.support_.width;
        const double below = m.mean_from_lower(w), above = m.mean_from_upper(w);
        const double inside = m.left_.mass().value() * m.inside_.from_lower() -
                              m.right_.mass().value() * m.inside_.from_upper();
        return lane.sigma * lane.sigma *
               (m.left_.mass().value() * below * below + m.right_.mass().value() * above * above +
                m.inside_.mass().value() * (inside * inside + m.inside_.variance));
    }

    // Between the bounds the log density, at a bound the log of the atom's mass, outside -inf.
    static double log_pdf(double x, const Lane& lane) {
        if (x < lane.lower || x > lane.upper) return -kInfinity;
        const Interval support = standardised_support(lane);
        if (x == lane.lower) return rounded(log_mass(left_half_line(support.lower)));
        if (x == lane.upper) return rounded(log_mass(right_half_line(support.upper)));
        const DoubleDouble z = standardised(x, lane);
        return rounded(z * z * -0.5 - kLogSqrtTwoPiWide) - log(lane.sigma);
    }

    // Flat: with calls in it, it takes a fifth longer.
    __attribute__((flatten)) static double cdf(double x, const Lane& lane) {
        if (x < lane.lower) return 0.0;
        if (x >= lane.upper) return 1.0;
        return exp(log_mass(left_half_line(standardised(x, lane))));
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        if (x < lane.lower) return -kInfinity;
        if (x >= lane.upper) return 0.0;
        return rounded(log_mass(left_half_line(standardised(x, lane))));
    }
    static double log_above(double x, const Lane& lane) {
        if (x < lane.lower) return 0.0;
        if (x >= lane.upper) return -kInfinity;
        return rounded(log_mass(right_half_line(standardised(x, lane))));
    }

    static double upper_quantile(double q, const Lane& lane) {
        return -quantile(q, mirrored(lane));
    }
    static double quantile(double q, const Lane& lane) {
        const double x = lane.theta + lane.sigma * ndtri(q);
        return x < lane.lower ? lane.lower : x > lane.upper ? lane.upper : x;
    }

  private:
    // Distance of the mean from a bound; (inside, far atom) are the parts not at that bound.
    double mean_from_lower(double w) const {
        return inside_.mass().value() * inside_.from_lower() + right_.mass().value() * w;
    }
    double mean_from_upper(double w) const {
        return inside_.mass().value() * inside_.from_upper() + left_.mass().value() * w;
    }

    Interval support_;
    Tail left_, right_;
    Cell inside_;
};

}  // namespace
}  // namespace tightnoise
