// The bounded Laplace mechanism: the Laplace distribution about theta conditioned on [lower,
// upper]; Holohan, Antonatos, Braghin and Mac Aonghusa, "The Bounded Laplace Mechanism in
// Differential Privacy" (2018). Kernel-side header: internal linkage, one copy a level.
//
// Lengths in units of the scale. With p and r the distances of theta from lower and upper and
// F(t) = 1 - e^-t, the density is e^-|y|/Z at y from theta, Z = F(p) + F(r). For theta outside the
// support it is proportional to e^-(distance from the nearer bound): that of theta at this bound.
//
// Between P at theta and Q at theta + k, k > 0, both in the support (else seen mirrored, and cut
// off at the bounds), with p' = p + k, r' = r - k and Z' = F(p') + F(r'), the log ratio is
//     a             up to theta,      a = log(e^k Z'/Z) = log(1 + (e^k - 1) (F(r) + F(r'))/Z)
//     a - 2 x       at theta + x,     0 <= x <= k
//     -b = a - 2 k  from theta + k,   b = log(e^k Z/Z') = log(1 + (e^k - 1) (F(p) + F(p'))/Z'),
// and everything follows from the masses of the three pieces.
//
// The ratio falls with the output, for every pair: the family has a monotone likelihood ratio (the
// Laplace density is log-concave, and conditioning does not touch ratios), so every divergence, in
// both directions, does not decrease with the distance of the two values. Hence the worst neighbour
// is one as far away as may be: what the sums over coordinates rely on.
//
// Card (divergences and Fisher information): distances from 0 to 1e4, width from 1e-6 to 1e6, |k|
// from 1e-9 to 1e3, alpha from 1e-6 to 1e6: relative error below 1e-12. NaN in, NaN out.
#pragma once

#include "mechanisms/lane.hpp"
#include "mechanisms/log_ratio.hpp"

namespace tightnoise {
namespace {

// 1 - e^-t.
inline double lost(double t) {
    return -expm1(-t);
}

// integral_0^1 e^(t s) ds = (e^t - 1)/t.
inline double mean_exp(double t) {
    return t == 0.0 ? 1.0 : expm1(t) / t;
}

// Distances of theta, or of the bound nearest to it, from the bounds.
struct Peak {
    DoubleDouble below, above;
};

inline Peak peak_in(const Interval& support) {
    const DoubleDouble width = {support.width, 0.0}, none = {0.0, 0.0};
    if (!(support.lower.hi < 0.0)) return {none, width};
    if (!(support.upper.hi > 0.0)) return {width, none};
    return {-support.lower, support.upper};
}

// integral_0^t of x e^-x and of x^2 e^-x. Up to 4 by quadrature of positive terms, where the closed
// forms cancel. Relative error below 1e-15.
struct Moments {
    double first, second;
};
TIGHTNOISE_VECTOR_LOOP inline Moments small_moments(double t) {
    using Rule = GaussLegendre<16>;
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first, second)
    for (int i = 0; i < 16; ++i) {
        const double x = t * Rule::nodes[i];
        const double term = Rule::weights[i] * x * exp(-x);
        first += term;
        second += term * x;
    }
    return {t * first, t * second};
}
inline Moments moments_up_to(double t) {
    if (t <= 4.0) return small_moments(t);
    const double kept = t < 745.0 ? t * exp(-t) : 0.0;
    return {lost(t) - kept, 2.0 * lost(t) - (t + 2.0) * kept};
}

// integral_0^k e^-x [h(beta l)/beta + h(-l)] dx, l = a - 2 x, where |l| and |beta l| stay below 4.
TIGHTNOISE_VECTOR_LOOP inline double small_gap_between(double k, double a, double beta) {
    using Rule = GaussLegendre<16>;
    const double inverse = beta == 0.0 ? 0.0 : 1.0 / beta;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 16; ++i) {
        const double x = k * Rule::nodes[i];
        const double l = a - 2.0 * x;
        sum += Rule::weights[i] * exp(-x) * (expm1mx(beta * l) * inverse + expm1mx(-l));
    }
    return k * sum;
}

class BoundedLaplace {
  public:
    explicit BoundedLaplace(const Interval& support, int = 0) : support_(support) {}

    static Interval partition(const Lane& lane) { return standardised_support(lane); }

    // The score is the sign of y - theta less its mean, so its variance is 4 P(y < theta)
    // P(y > theta): 0 outside the support, where the output does not depend on theta.
    double fisher_information() const {
        const Peak peak = peak_in(support_);
        const double left = lost(rounded(peak.below)), right = lost(rounded(peak.above));
        return 4.0 * (left / (left + right)) * (right / (left + right));
    }

    class Pair {
      public:
        Pair(const BoundedLaplace& base, DoubleDouble k) {
            const bool up = k.hi > 0.0;
            const Interval support = up ? base.support_ : mirrored(base.support_);
            const Peak peak = peak_in(support);
            // The way up to the support changes nothing, nor does that beyond it.
            const DoubleDouble way = up ? k : -k;
            DoubleDouble step = support.lower.hi > 0.0 ? way - support.lower : way;
            if (!(step.hi > 0.0)) step = {0.0, 0.0};
            DoubleDouble rest = peak.above - step;
            if (!(rest.hi > 0.0)) {
                rest = {0.0, 0.0};
                step = peak.above;
            }
            k_ = rounded(step);
            const double below = lost(rounded(peak.below)), above = lost(rounded(peak.above));
            const double below_q = lost(rounded(peak.below + step)), above_q = lost(rounded(rest));
            const double mass_q = below_q + above_q;
            mass_ = below + above;
            step_ = lost(k_);
            left_ = below;
            right_ = above_q;
            log_of_masses_ = log1p_of_one(step_ * (above_q - below) / mass_);
            if (k_ < 1.0) {
                const double grown = expm1(k_);
                first_ = log1p_of_one(grown * ((above + above_q) / mass_));
                last_ = log1p_of_one(grown * ((below + below_q) / mass_q));
            } else {
                first_ = k_ + log_of_masses_;
                last_ = k_ - log_of_masses_;
            }
        }

        // S = integral of p^alpha q^(1 - alpha), with c = 2 alpha - 1 >= 0:
        //     S Z = e^(beta a) [F(p) + F(c k)/c + e^(-c k) F(r')].
        // Where S is near 1, (S - 1)/beta is the sum of the gaps of the three pieces, see
        // log_ratio.hpp.
        double renyi(double beta) const {
            const double c = 1.0 + 2.0 * beta;
            const double sum = left_ + k_ * mean_exp(-c * k_) + exp(-c * k_) * right_;
            const double log_s = beta * first_ + log(sum / mass_);
            if (!(log_s > -0.5 && log_s < 1.0)) return log_s / beta;
            const double gap =
                gap_between(beta) + renyi_gap(cell_below(), beta) + renyi_gap(cell_above(), beta);
            return log1p_of_one(beta * gap) / beta;
        }

        double kl() const { return gap_between(0.0) + kl_gap(cell_below()) + kl_gap(cell_above()); }

        double max_divergence() const { return first_; }

        // P(A) - e^epsilon Q(A) for A all below theta + x, where the log ratio is epsilon:
        // [F(p) F(2 x) + F(x)^2]/Z.
        double hockey_stick(double epsilon) const {
            const double excess = first_ - epsilon;
            if (!(excess > 0.0)) return 0.0;
            if (excess >= 2.0 * k_) return -expm1(epsilon);
            const double before = lost(0.5 * excess);
            return (left_ * lost(excess) + before * before) / mass_;
        }

      private:
        CellRatio cell_below() const {
            CellRatio cell({{0.0, 0.0}, left_ / mass_}, {first_, 0.0});
            cell.complete();
            return cell;
        }
        CellRatio cell_above() const {
            CellRatio cell({{-k_, 0.0}, right_ / mass_}, {-last_, 0.0});
            cell.complete();
            return cell;
        }

        // The gap between theta and theta + k. Where it is no small difference, from
        //     integral e^-x (e^(beta l) - 1)/beta dx = (e^(beta a) - 1)/beta F(c k)/c - W,
        //     W = integral e^-x (1 - e^(-2 beta x))/beta dx = [F(k) - F(c k)/c]/beta
        //       = 2/c [F(k) - e^-k F(2 beta k)/(2 beta)],
        //     integral e^-x (e^-l - 1) dx = F(k) (Z/Z' - 1).
        double gap_between(double beta) const {
            const double largest = std::fabs(beta) > 1.0 ? std::fabs(beta) : 1.0;
            if (k_ * largest <= 2.0) return small_gap_between(k_, first_, beta) / mass_;
            const double c = 1.0 + 2.0 * beta;
            const double rest = k_ * mean_exp(-c * k_);
            const double shortfall =
                std::fabs(beta) > 0.25 ? (step_ - rest) / beta : 2.0 / c * (step_ - decayed(beta));
            const double tilted = first_ * mean_exp(beta * first_) * rest - shortfall;
            return (tilted + step_ * expm1(-log_of_masses_)) / mass_;
        }

        // e^-k F(2 beta k)/(2 beta), without overflow where beta < 0.
        double decayed(double beta) const {
            const double t = 2.0 * beta * k_;
            return beta < 0.0 ? k_ * exp(-k_ - t) * mean_exp(t) : k_ * exp(-k_) * mean_exp(-t);
        }

        double k_;
        double left_, step_, right_;  // F(p), F(k), F(r')
        double mass_;                 // Z
        double log_of_masses_;        // log(Z'/Z)
        double first_, last_;         // a, b
    };

    static double mean(const Lane& lane) {
        return nearest(lane) + lane.sigma * Standard(lane).mean();
    }

    // E[y^2] - E[y]^2 about theta, which is the mode: less than 3/4 of the first cancels.
    static double variance(const Lane& lane) {
        const Standard law(lane);
        const double mean = law.mean();
        return lane.sigma * lane.sigma * (law.second_moment() - mean * mean);
    }

    // log density, -inf off the support.
    static double log_pdf(double x, const Lane& lane) {
        if (x < lane.lower || x > lane.upper) return -kInfinity;
        const double distance = std::fabs(x - nearest(lane)) / lane.sigma;
        return -distance - log(Standard(lane).mass) - log(lane.sigma);
    }

    static double cdf(double x, const Lane& lane) {
        if (x <= lane.lower) return 0.0;
        if (x >= lane.upper) return 1.0;
        const Standard law(lane);
        const DoubleDouble from_mode = two_sum(x, -nearest(lane)) / lane.sigma;
        if (from_mode.hi > 0.0) return (lost(law.below) + lost(from_mode.hi)) / law.mass;
        return exp(from_mode) * lost((x - lane.lower) / lane.sigma) / law.mass;
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        if (x <= lane.lower) return -kInfinity;
        if (x >= lane.upper) return 0.0;
        const Standard law(lane);
        const double from_mode = rounded(two_sum(x, -nearest(lane)) / lane.sigma);
        if (from_mode > 0.0) return log((lost(law.below) + lost(from_mode)) / law.mass);
        return from_mode + log(lost((x - lane.lower) / lane.sigma) / law.mass);
    }
    static double log_above(double x, const Lane& lane) { return log_below(-x, mirrored(lane)); }

    static double upper_quantile(double q, const Lane& lane) {
        return -quantile(q, mirrored(lane));
    }

    // The mass q Z below the sample is e^-p (e^t - 1) at t from lower, and that between the sample
    // and theta, at t from it, is F(t): whichever is not a small difference.
    static double quantile(double q, const Lane& lane) {
        if (q <= 0.0) return lane.lower;
        if (q >= 1.0) return lane.upper;
        const Standard law(lane);
        const double mode = nearest(lane);
        const double below = q * law.mass, above = (1.0 - q) * law.mass;
        const double up = below - lost(law.below);
        double x;
        if (up >= 0.0) {
            const FromEnds t = between(up, above, law.above);
            x = t.from_edge < t.from_mode ? lane.upper - lane.sigma * t.from_edge
                                          : mode + lane.sigma * t.from_mode;
        } else {
            const double down = above - lost(law.above);
            const FromEnds t = between(down > 0.0 ? down : 0.0, below, law.below);
            x = t.from_edge < t.from_mode ? lane.lower + lane.sigma * t.from_edge
                                          : mode - lane.sigma * t.from_mode;
        }
        return x < lane.lower ? lane.lower : x > lane.upper ? lane.upper : x;
    }

  private:
    static double nearest(const Lane& lane) {
        return lane.theta < lane.lower   ? lane.lower
               : lane.theta > lane.upper ? lane.upper
                                         : lane.theta;
    }

    // p, r and Z in double.
    struct Standard {
        explicit Standard(const Lane& lane) {
            const Peak peak = peak_in(standardised_support(lane));
            below = rounded(peak.below);
            above = rounded(peak.above);
            mass = lost(below) + lost(above);
        }
        double mean() const {
            return (moments_up_to(above).first - moments_up_to(below).first) / mass;
        }
        double second_moment() const {
            return (moments_up_to(above).second + moments_up_to(below).second) / mass;
        }
        double below, above, mass;
    };

    // A point with the mass `inner` between it and theta and `outer` between it and the bound at
    // the distance `edge` from theta.
    struct FromEnds {
        double from_mode, from_edge;
    };
    static FromEnds between(double inner, double outer, double edge) {
        return {inner < 0.5 ? -log1p(-inner) : -log(outer + exp(-edge)),
                edge < 700.0 ? log1p(outer * exp(edge)) : kInfinity};
    }

    Interval support_;
};

}  // namespace
}  // namespace tightnoise
