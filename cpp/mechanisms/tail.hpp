// One tail of a standard normal Z, a half line: its probability, its hazard, and how its
// probability changes with the mean. The end cells of a clipped or quantised Gaussian, which are
// seen only as wholes. Kernel-side header: internal linkage, one copy a level.
//
// A left half line Z < x is turned over: it is the tail beyond t = -x. With phi/Q the hazard of
// Q(t) = P(Z > t) and g(x) = phi(x)/Q(x) - x the mean excess,
//     Q(t) = phi(t)/(t + g(t)),
//     l = log Q(t) - log Q(t - s) = -integral of the hazard over [t - s, t]
//       = -s (t - s/2) - s integral_0^1 g(t - s y) dy,
// where the first term, which is large in a far tail, is exact in double-double.
#pragma once

#include <cmath>

#include "mechanisms/cell.hpp"

namespace tightnoise {
namespace {

// Where g is available.
constexpr double kLeastExcess = -0.5;

// The longest step over which 8 nodes integrate g, from the smaller of its two ends: g is analytic
// but for poles at -1.92 +- 2.82i and farther out, and the rule's relative error is below 3e-16.
inline double longest_step(double end) {
    return 0.5 + 0.5 * (end > 0.0 ? end : 0.0);
}

// integral_0^1 g(t - s y) dy.
TIGHTNOISE_VECTOR_LOOP inline double average_mean_excess(double t, double s) {
    using Rule = GaussLegendre<8>;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 8; ++i) sum += Rule::weights[i] * mean_excess(t - s * Rule::nodes[i]);
    return sum;
}

class Tail {
  public:
    // sign = 1: Z > edge, sign = -1: Z < edge.
    Tail(DoubleDouble edge, double sign) : sign_(sign), t_(edge * sign) {
        is_minor_ = t_.hi >= kLeastExcess;
        excess_ = is_minor_ ? mean_excess(t_.hi) : 0.0;
    }

    Mass mass() const {
        if (!is_minor_) return {{0.0, 0.0}, ndtr(-t_.hi)};
        return {t_ * t_ * -0.5, kInverseSqrtTwoPi / (t_.hi + excess_)};
    }

    // p E[Z | tail]^2 = phi(t) hazard(t): this cell's part of the Fisher information.
    double information() const {
        if (!is_minor_) return density() * density() / ndtr(-t_.hi);
        return density() * (t_.hi + excess_);
    }

    // l for a step of the mean by k: where that is long, the integral of g is
    // log(t + g(t)) - log(t - s + g(t - s)). Relative error 2e-15, if short, else absolute error
    // 1e-15 beside the exact product. Where both tails hold more than half (and the log masses are
    // subtracted), resolve_dominant() knows better.
    DoubleDouble log_ratio(DoubleDouble k) const {
        const DoubleDouble s = k * sign_;
        const double moved = t_.hi - s.hi;
        if (!is_minor_ || !(moved >= kLeastExcess)) {
            return log_of_ratio(mass(), Tail(t_ - s, 1.0).mass());
        }
        const double end = moved < t_.hi ? moved : t_.hi;
        const double integral = std::fabs(s.hi) <= longest_step(end)
                                    ? s.hi * average_mean_excess(t_.hi, s.hi)
                                    : log((t_.hi + excess_) / (moved + mean_excess(moved)));
        return s * (s * 0.5 - t_) + -integral;
    }

  private:
    double density() const { return kInverseSqrtTwoPi * exp(t_ * t_ * -0.5); }

    double sign_;
    DoubleDouble t_;  // the tail is Z > t, after turning
    bool is_minor_;   // its probability is less than 0.7
    double excess_;   // g(t)
};

}  // namespace
}  // namespace tightnoise
