// The Gaussian mechanism N(theta, sigma^2), what the bounded mechanisms are compared with.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>

#include "mechanisms/lane.hpp"
#include "mechanisms/log_ratio.hpp"
#include "numeric/normal_quantile.hpp"

namespace tightnoise {
namespace {

class Gaussian {
  public:
    explicit Gaussian(const Interval&, int = 0) {}

    static Interval partition(const Lane&) { return {{0.0, 0.0}, {0.0, 0.0}, 0.0}; }

    double fisher_information() const { return 1.0; }

    class Pair {
      public:
        Pair(const Gaussian&, DoubleDouble k) : k_(k) {}

        // alpha k^2/2.
        double renyi(double beta) const { return (1.0 + beta) * kl(); }
        double kl() const { return 0.5 * k_.hi * k_.hi; }
        double max_divergence() const { return kInfinity; }

        // k > 0: Phi(t) - e^epsilon Phi(t - k), t = k/2 - epsilon/k, as one cell.
        double hockey_stick(double epsilon) const {
            const DoubleDouble t = k_ * 0.5 - DoubleDouble{epsilon, 0.0} / k_;
            const BestTest test = best_test(left_half_line(t), k_, t);
            return exp(test.log_p) * test.advantage;
        }

      private:
        DoubleDouble k_;
    };

    static double mean(const Lane& lane) { return lane.theta; }
    static double variance(const Lane& lane) { return lane.sigma * lane.sigma; }

    static double log_pdf(double x, const Lane& lane) {
        const double far = (x - lane.theta) / lane.sigma;
        if (std::fabs(far) > kSquares) return -0.5 * far * far - log(lane.sigma);
        const DoubleDouble z = standardised(x, lane);
        return rounded(z * z * -0.5 - kLogSqrtTwoPiWide) - log(lane.sigma);
    }

    static double cdf(double x, const Lane& lane) {
        const double far = (x - lane.theta) / lane.sigma;
        if (std::fabs(far) > kSquares) return far > 0.0 ? 1.0 : 0.0;
        return exp(log_mass(left_half_line(standardised(x, lane))));
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        const double far = (x - lane.theta) / lane.sigma;
        if (std::fabs(far) > kSquares) return far > 0.0 ? 0.0 : -0.5 * far * far;
        return rounded(log_mass(left_half_line(standardised(x, lane))));
    }
    static double log_above(double x, const Lane& lane) { return log_below(-x, mirrored(lane)); }

    static double quantile(double q, const Lane& lane) {
        return lane.theta + lane.sigma * ndtri(q);
    }
    static double upper_quantile(double q, const Lane& lane) {
        return lane.theta - lane.sigma * ndtri(q);
    }

  private:
    // Squares of numbers of up to this size are finite, in double-double, too.
    static constexpr double kSquares = 1e150;
};

}  // namespace
}  // namespace tightnoise
