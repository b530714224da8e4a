// Discrete outputs: the nearest of `levels` equally spaced letters of [lower, upper], and the sign.
// Both see a Gaussian only through which cell of a partition of the line it falls into;
// "Privacy Amplification for the Gaussian Mechanism via Bounded Support", Appendix F ("k-bit" there
// means k intervals, k + 1 letters). Kernel-side header: internal linkage, one copy a level.
//
// With p_i, q_i the masses of the cells: D_alpha = log(sum p_i^alpha q_i^(1-alpha))/(alpha - 1),
// and sigma^2 eta^2 = sum p_i E[Z | cell i]^2 (Appendix F's second display misses the square).
//
// Card: as in rectified.hpp; levels from 2 to 1024.
#pragma once

#include "mechanisms/lane.hpp"
#include "mechanisms/log_ratio.hpp"
#include "mechanisms/tail.hpp"

namespace tightnoise {
namespace {

constexpr int kMaxLevels = 1024;

// levels cells of the line: thresholds half-way between neighbouring letters.
class Partition {
  public:
    Partition(const Interval& support, int levels)
        : levels_(levels),
          width_(support.width / (levels - 1.0)),
          first_(support.lower),
          step_((support.upper - support.lower) / DoubleDouble{levels - 1.0, 0.0}) {}

    int count() const { return levels_; }

    Interval cell(int i) const {
        if (i == 0) return left_half_line(threshold(0));
        if (i == levels_ - 1) return right_half_line(threshold(levels_ - 2));
        return {threshold(i - 1), threshold(i), width_};
    }

    // The end cells.
    Tail left() const { return {threshold(0), -1.0}; }
    Tail right() const { return {threshold(levels_ - 2), 1.0}; }

    DoubleDouble threshold(int i) const { return first_ + step_ * (i + 0.5); }

  private:
    int levels_;
    double width_;  // of a cell: above 0 where theta is so far away that step_ is lost
    DoubleDouble first_, step_;
};

// An upper bound on the standard deviation of Z given a cell at a distance x from 0: that of the
// uniform law, of Z itself and, outside, the mean excess.
inline double largest_sd(double x, double width) {
    const double uniform = 0.2887 * width;
    const double outside = x > 1.0 ? 1.0 / x : 1.0;
    return uniform < outside ? uniform : outside;
}

// Letters lower + i (upper - lower)/(levels - 1), the last one exactly upper. The output is the
// index of the cell.
class Quantized {
  public:
    Quantized(const Interval& support, int levels) : partition_(support, levels) {}

    double fisher_information() const {
        double sum = partition_.left().information() + partition_.right().information();
        for (int i = 1; i < partition_.count() - 1; ++i) {
            sum += squared_mean_mass(partition_.cell(i));
        }
        return sum;
    }

    class Pair {
      public:
        Pair(const Quantized& base, DoubleDouble k) : count_(base.partition_.count()), k_(k) {
            const Partition& partition = base.partition_;
            cells_[0] = ratio_of(partition.left(), k);
            for (int i = 1; i < count_ - 1; ++i) cells_[i] = ratio_of(partition.cell(i), k);
            cells_[count_ - 1] = ratio_of(partition.right(), k);
            resolve_dominant(cells_, count_, most_probable(cells_, count_),
                             [this](int i) { return cells_[i].log_ratio; });
        }

        double renyi(double beta) const { return renyi_of_cells(cells_, count_, beta); }
        double kl() const { return kl_of_cells(cells_, count_); }

        // p/q is monotone in the output: its supremum is at an end.
        double max_divergence() const {
            return rounded(cells_[k_.hi > 0.0 ? 0 : count_ - 1].log_ratio);
        }

        double hockey_stick(double epsilon) const {
            double sum = 0.0;
            for (int i = 0; i < count_; ++i) sum += hockey_stick_term(cells_[i], epsilon);
            return sum;
        }

      private:
        static CellRatio ratio_of(const Tail& tail, DoubleDouble k) {
            return {tail.mass(), tail.log_ratio(k)};
        }
        // Where k is not small the moments of the cell are not needed.
        static CellRatio ratio_of(const Interval& interval, DoubleDouble k) {
            const double sd = largest_sd(reflect(interval).near.hi, interval.width);
            if (std::fabs(k.hi) * sd < 0.25) {
                const Cell cell(interval);
                return {cell.mass(), log_ratio(cell, interval, k, cell.cumulant(k.hi))};
            }
            const Mass mass = mass_of(interval);
            return {mass, log_of_ratio(mass, mass_of(seen_from(interval, k)))};
        }

        int count_;
        DoubleDouble k_;
        CellRatio cells_[kMaxLevels];
    };

    static Interval partition(const Lane& lane) { return standardised_support(lane); }

    static double letter(int i, const Lane& lane) {
        if (i == lane.levels - 1) return lane.upper;
        return lane.lower + i * step(lane);
    }

    // The letter nearest to theta, and the mean's distance from it: where nearly all the mass is on
    // one letter, that keeps its digits, and so does the variance.
    static double mean(const Lane& lane) {
        const int centre = nearest_letter(lane);
        return letter(centre, lane) + step(lane) * mean_steps(centre, lane);
    }

    static double variance(const Lane& lane) {
        const int centre = nearest_letter(lane);
        const double mean = mean_steps(centre, lane);
        const Partition partition(standardised_support(lane), lane.levels);
        double sum = 0.0;
        for (int i = 0; i < lane.levels; ++i) {
            const double distance = (i - centre) - mean;
            sum += exp(log_mass(partition.cell(i))) * distance * distance;
        }
        return step(lane) * step(lane) * sum;
    }

    // Log of the mass of the letter nearest to x, which must be within a thousandth of a step of it
    // (so letters that were rounded to float32 are known again); else -inf.
    static double log_pdf(double x, const Lane& lane) {
        const double position = (x - lane.lower) / (lane.upper - lane.lower) * (lane.levels - 1.0);
        const double nearest = std::floor(position + 0.5);
        if (!(std::fabs(position - nearest) <= 1e-3)) return -kInfinity;
        if (nearest < 0.0 || nearest > lane.levels - 1.0) return -kInfinity;
        const Partition partition(standardised_support(lane), lane.levels);
        return rounded(log_mass(partition.cell(static_cast<int>(nearest))));
    }

    static double cdf(double x, const Lane& lane) {
        if (x < lane.lower) return 0.0;
        if (x >= lane.upper) return 1.0;
        return below(last_letter(x, lane), lane);
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        if (x < lane.lower) return -kInfinity;
        if (x >= lane.upper) return 0.0;
        const Partition partition(standardised_support(lane), lane.levels);
        return rounded(log_mass(left_half_line(partition.threshold(last_letter(x, lane)))));
    }
    static double log_above(double x, const Lane& lane) {
        if (x < lane.lower) return 0.0;
        if (x >= lane.upper) return -kInfinity;
        return rounded(log_above_letter(last_letter(x, lane), lane));
    }

    // The smallest letter with cdf >= q.
    static double quantile(double q, const Lane& lane) {
        return first_letter(lane, [&](int i) { return below(i, lane) >= q; });
    }
    // The smallest letter with P(output > letter) <= q.
    static double upper_quantile(double q, const Lane& lane) {
        return first_letter(lane, [&](int i) {
            return i == lane.levels - 1 || exp(log_above_letter(i, lane)) <= q;
        });
    }

  private:
    // For which `enough` holds, which does for all from there on, the last one among them.
    template <class Enough>
    static double first_letter(const Lane& lane, Enough enough) {
        int low = 0, high = lane.levels - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (enough(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return letter(low, lane);
    }

    // The last letter that is not above x, lower <= x < upper.
    static int last_letter(double x, const Lane& lane) {
        int i = 0;
        while (i + 1 < lane.levels && letter(i + 1, lane) <= x) ++i;
        return i;
    }

    static DoubleDouble log_above_letter(int i, const Lane& lane) {
        const Partition partition(standardised_support(lane), lane.levels);
        return log_mass(right_half_line(partition.threshold(i)));
    }

    // P(letter <= letter i).
    static double below(int i, const Lane& lane) {
        if (i >= lane.levels - 1) return 1.0;
        const Partition partition(standardised_support(lane), lane.levels);
        return exp(log_mass(left_half_line(partition.threshold(i))));
    }

    static double step(const Lane& lane) { return (lane.upper - lane.lower) / (lane.levels - 1.0); }

    static int nearest_letter(const Lane& lane) {
        const double position = (lane.theta - lane.lower) / step(lane) + 0.5;
        if (!(position > 0.0)) return 0;
        return position < lane.levels ? static_cast<int>(position) : lane.levels - 1;
    }

    // E[letter index] - centre.
    static double mean_steps(int centre, const Lane& lane) {
        const Partition partition(standardised_support(lane), lane.levels);
        double sum = 0.0;
        for (int i = 0; i < lane.levels; ++i) {
            sum += exp(log_mass(partition.cell(i))) * (i - centre);
        }
        return sum;
    }

    Partition partition_;
};

// sign(N(theta, sigma^2)): two cells that meet at the threshold 0, here the "support". The less
// probable one, of mass p, is a tail beyond t >= 0; the other one is what remains.
class StochasticSign {
  public:
    explicit StochasticSign(const Interval& support, int = 0)
        : threshold_(support.lower),
          minor_sign_(threshold_.hi >= 0.0 ? 1.0 : -1.0),
          minor_(threshold_, minor_sign_) {}

    // p hazard(t)^2 + (1 - p) (p hazard(t)/(1 - p))^2.
    double fisher_information() const {
        return minor_.information() / (1.0 - minor_.mass().value());
    }

    class Pair {
      public:
        Pair(const StochasticSign& base, DoubleDouble k) {
            cells_[kMinor] = {base.minor_.mass(), base.minor_.log_ratio(k)};
            cells_[kMajor] = {Mass{{0.0, 0.0}, 1.0 - cells_[kMinor].p}, {0.0, 0.0}};
            resolve_dominant(cells_, kCells, kMajor, [&](int) {
                return Tail(base.threshold_, -base.minor_sign_).log_ratio(k);
            });
            farther_ = (k.hi > 0.0) == (base.minor_sign_ < 0.0) ? kMinor : kMajor;
        }

        double renyi(double beta) const { return renyi_of_cells(cells_, kCells, beta); }
        double kl() const { return kl_of_cells(cells_, kCells); }
        double max_divergence() const { return rounded(cells_[farther_].log_ratio); }

        double hockey_stick(double epsilon) const {
            return hockey_stick_term(cells_[kMinor], epsilon) +
                   hockey_stick_term(cells_[kMajor], epsilon);
        }

      private:
        enum { kMinor, kMajor, kCells };
        int farther_;  // the cell that theta moves away from
        CellRatio cells_[kCells];
    };

    static Interval partition(const Lane& lane) {
        const DoubleDouble threshold = standardised(0.0, lane);
        return {threshold, threshold, 0.0};
    }

    // P(+1) - P(-1) = P(|Z| < |theta|/sigma) up to the sign, and 1 minus its square.
    static double mean(const Lane& lane) {
        const double z = std::fabs(lane.theta / lane.sigma);
        return std::copysign(mass_around_zero(-z, z), lane.theta);
    }

    static double variance(const Lane& lane) {
        const DoubleDouble z = standardised(0.0, lane);
        return 4.0 * exp(log_mass(left_half_line(z)) + log_mass(right_half_line(z)));
    }

    static double log_pdf(double x, const Lane& lane) {
        const DoubleDouble z = standardised(0.0, lane);
        if (x == -1.0) return rounded(log_mass(left_half_line(z)));
        if (x == 1.0) return rounded(log_mass(right_half_line(z)));
        return -kInfinity;
    }

    static double cdf(double x, const Lane& lane) {
        if (x < -1.0) return 0.0;
        if (x >= 1.0) return 1.0;
        return exp(log_mass(left_half_line(standardised(0.0, lane))));
    }

    // log P(output <= x), log P(output > x).
    static double log_below(double x, const Lane& lane) {
        if (x < -1.0) return -kInfinity;
        return x >= 1.0 ? 0.0 : log_pdf(-1.0, lane);
    }
    static double log_above(double x, const Lane& lane) {
        if (x < -1.0) return 0.0;
        return x >= 1.0 ? -kInfinity : log_pdf(1.0, lane);
    }

    static double quantile(double q, const Lane& lane) { return cdf(-1.0, lane) >= q ? -1.0 : 1.0; }
    static double upper_quantile(double q, const Lane& lane) {
        return exp(log_above(-1.0, lane)) <= q ? -1.0 : 1.0;
    }

  private:
    DoubleDouble threshold_;
    double minor_sign_;  // of the half line: 1 beyond the threshold
    Tail minor_;
};

}  // namespace
}  // namespace tightnoise
