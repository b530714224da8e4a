// The pair of values whose truncated Gaussians are the least private, by branch and bound. Only for
// .cpp files: containers.
//
// Values farther apart are less private (Karlin and Rubin: the family has a monotone likelihood
// ratio, so the best tests of s against s + k are the best of s against s' > s + k too, and more
// powerful there; Blackwell's order gives all divergences), and the mirror image y -> w - y turns a
// pair around. So the worst pair is (s, s + k) for some s in [0, w - k], and delta is the greatest
// delta(s) of truncated_profile_kernels.hpp.
//
// In every case tried delta(s) rises to one maximum and falls: rise/fall falls with s. For epsilon
// = 0 the maximum is in the middle, by symmetry; as epsilon grows it moves up, and from some
// epsilon below the loss on it is at the end, (w - k, w), where the loss is attained. None of this
// is proven, and the bound does not rest on it. The kernels give, with proof, bounds of the slope
// all over a cell [s0, s1]: least <= delta' <= most. Hence
//     delta(s) <= delta(s0) + most (s - s0)   and   delta(s) <= delta(s1) - least (s1 - s),
// which is delta(s1) if least >= 0, delta(s0) if most <= 0, and else at most where the lines cross,
// above the greater of delta(s0) and delta(s1) by no more than (most - least) (s1 - s0)/4: of
// second order, and of the size of rise and fall.
//
// Where x is small beside w, as it is for epsilon near the loss, rise and fall are nearly the same
// in a narrow domain, and another bound is better. From p_s - e^epsilon p_{s+k} = p_s (1 - e^(k (y
// - x))), with the mean E of y under that measure,
//     (log delta)' = E - m(s) + x' k E_s[e^(k (y - x)); y < x]/delta >= x' k/(e^(k x) - 1) - m(s),
// for e^(k (y - x))/(1 - e^(k (y - x))) is least at y = 0. m(s) <= w, and k x' = m(s+k) - m(s) >= k
// e^(-w^2/2) w^2/12: V is at least the least density, which is e^(-w^2/2)/w or more, times the
// integral of (y - w/2)^2. So delta rises with s as long as e^(k x) - 1 <= k e^(-w^2/2) w/12.
//
// Cells are cut until their bound is within the tolerance of the greatest delta found, as a
// fraction of delta or of 1 - delta, whichever is less.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/roots.hpp"
#include "runtime/interruption.hpp"
#include "worst/ordinary_lengths.hpp"
#include "worst/truncated_profile_kernels.hpp"

namespace tightnoise {

class TruncatedSearch {
  public:
    explicit TruncatedSearch(const TruncatedProblem& problem)
        : problem_(with_ordinary_lengths(problem)),
          kernels_(truncated_profile_kernels()),
          // Rounded up: to start below the domain does no harm.
          most_room_((problem_.width - problem_.sensitivity) / problem_.sigma * (1.0 + 0x1p-51)) {
        const double w = problem_.width / problem_.sigma;
        k_ = problem_.sensitivity / problem_.sigma;
        rising_ = k_ * std::exp(-0.5 * w * w) * w / 12.0 * (1.0 - 1e-12);
    }

    // The greatest delta(s) if there is one maximum: the pair where rise = fall, or an end.
    TruncatedPair peak() const {
        const TruncatedPair first = pair(0.0);
        if (excess_of_fall(first) <= 0.0 || !(most_room_ > 0.0)) return first;
        const TruncatedPair last = pair(most_room_);
        if (excess_of_fall(last) >= 0.0) return last;
        TruncatedPair best = first.log_delta >= last.log_delta ? first : last;
        // Logarithms are nearly straight.
        FalsePosition root(0.0, excess_of_fall(first), most_room_, excess_of_fall(last));
        for (int step = 0; step < 100 && root.width() > 0x1p-50 * root.high(); ++step) {
            const TruncatedPair here = pair(root.next());
            const double excess = excess_of_fall(here);
            if (here.log_delta >= best.log_delta) best = here;
            if (std::fabs(slope(here)) * root.width() <= kFlat || excess == 0.0) break;
            root.narrow(here.room, excess);
        }
        return best;
    }

    // How far above delta of `top` that of any pair may be, as a fraction of delta or 1 - delta of
    // `top`, whichever is less: at most `tolerance` above the greatest one found, or more if that
    // takes more than kMostPairs.
    double most_excess(const TruncatedPair& top, double tolerance) const {
        double found = 0.0, most = 0.0;
        std::vector<Cell> cells;
        if (top.room < most_room_) cells.push_back({pair(most_room_), top});
        if (top.room > 0.0) cells.push_back({top, pair(0.0)});
        for (int pairs = 0; !cells.empty();) {
            poll();
            const Cell cell = cells.back();
            cells.pop_back();
            const double bound = bound_of(cell, top);
            const double middle = 0.5 * cell.lower.room + 0.5 * cell.upper.room;
            const bool is_least = !(middle < cell.lower.room && middle > cell.upper.room);
            if (bound <= found + tolerance || is_least || pairs >= kMostPairs) {
                most = std::max(most, bound);
                continue;
            }
            ++pairs;
            const TruncatedPair between = pair(middle);
            found = std::max(found, excess(between, top));
            cells.push_back({cell.lower, between});
            cells.push_back({between, cell.upper});
        }
        return most;
    }

  private:
    struct Cell {
        TruncatedPair lower, upper;
    };

    // What is not worth another step towards the peak: a fraction of delta or 1 - delta.
    static constexpr double kFlat = 1e-12;
    static constexpr int kMostPairs = 5000;

    static TruncatedProblem with_ordinary_lengths(const TruncatedProblem& problem) {
        const Lengths in = ordinary_lengths(problem.sigma, problem.width, problem.sensitivity);
        return {in.sigma, in.width, in.sensitivity, problem.epsilon};
    }

    TruncatedPair pair(double room) const { return kernels_.pair(problem_, room); }

    // log(fall/rise).
    static double excess_of_fall(const TruncatedPair& at) { return at.log_fall - at.log_rise; }

    // delta' in units of delta or 1 - delta.
    static double slope(const TruncatedPair& at) {
        const double log_unit = std::min(at.log_delta, at.log_rest);
        return std::exp(at.log_rise - log_unit) - std::exp(at.log_fall - log_unit);
    }

    // delta less that of `top`, as a fraction.
    static double excess(const TruncatedPair& at, const TruncatedPair& top) {
        return top.log_rest < top.log_delta ? -std::expm1(at.log_rest - top.log_rest)
                                            : std::expm1(at.log_delta - top.log_delta);
    }

    // The bound of that all over a cell.
    double bound_of(const Cell& cell, const TruncatedPair& top) const {
        if (!(cell.upper.x > 0.0)) return -1.0;
        const double log_unit = std::min(top.log_delta, top.log_rest);
        const double at_lower = excess(cell.lower, top), at_upper = excess(cell.upper, top);
        if (std::expm1(k_ * cell.upper.x) <= rising_) return at_upper;
        const SlopeBounds slope = kernels_.slopes(problem_, cell.lower, cell.upper, log_unit);
        if (slope.least >= 0.0) return at_upper;
        if (slope.most <= 0.0) return at_lower;
        const double width = cell.lower.room - cell.upper.room;
        const double place =
            (at_upper - at_lower - slope.least * width) / (slope.most - slope.least);
        return std::max(
            {at_lower, at_upper, at_lower + slope.most * std::clamp(place, 0.0, width)});
    }

    TruncatedProblem problem_;
    const TruncatedProfileKernels& kernels_;
    double most_room_;
    double k_;
    double rising_;  // delta rises with s as long as e^(k x) - 1 is at most this
};

}  // namespace tightnoise
