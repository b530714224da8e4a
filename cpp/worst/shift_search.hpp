// The greatest hockey-stick divergence over a range of shifts, bounded from above by branch and
// bound. Only for .cpp files: containers.
//
// Semiconvexity. Let log f + x^2 / (2 sigma^2) be convex: so it is for every mixture of Gaussians
// of standard deviation sigma or more, and for the quasi-Gaussian mixture. Take two shifts a < b,
// h = b - a, a shift c = (1 - l) a + l b between them, and k(l) = l (1 - l) h^2 / (2 sigma^2).
// Convexity at x + c, which lies between x + a and x + b, says
//     f(x + c) <= e^k(l) f(x + a)^(1 - l) f(x + b)^l <= e^k(l) [(1 - l) f(x + a) + l f(x + b)],
// and (.)_+ is convex, hence with the raised divergence
//     R(s, k) = e^k D_(epsilon - k)(s) = integral (e^k f(x + s) - e^epsilon f(x))_+ dx
//     D(c) <= (1 - l) R(a, k(l)) + l R(b, k(l)).
// R is convex in k and R(s, 0) = D(s): for 0 <= k <= K
//     R(s, k) <= D(s) + (k / K) excess(s, K),   excess(s, K) = R(s, K) - D(s).
// So with kappa = h^2 / (8 sigma^2), k(l) = 4 l (1 - l) kappa, and E the larger excess of a and b
// at kappa,
//     D(c) <= (1 - l) D(a) + l D(b) + 4 l (1 - l) E,
// a parabola in l. Its maximum is that of D(a), D(b) where |D(b) - D(a)| >= 4 E, and otherwise
// (D(a) + D(b)) / 2 + E + (D(b) - D(a))^2 / (16 E). The gap to the truth is of second order in h,
// and the excess known at one kappa bounds it at every smaller one: a cell cut in two needs
// divergences at the cut only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "mechanisms/shift_divergence.hpp"
#include "numeric/roots.hpp"

namespace tightnoise {

// What the search knows when it ends: every divergence is at most `upper`; the greatest one found
// is `found`, at `shift`.
struct ShiftSearchResult {
    double upper;
    double found;
    double shift;
};

// When the search may end: as soon as all divergences are proven to be at most `acceptable`, or at
// most a fraction `tolerance` above the greatest one found, or one above `refuted` is found and
// none is much greater.
struct ShiftSearchGoal {
    double tolerance;
    double acceptable = 0.0;
    double refuted = std::numeric_limits<double>::infinity();
};

// One search over the shifts in [0, sensitivity], for a law of which log f + x^2 / (2 sigma^2) is
// convex. Best first: the cell with the greatest bound is cut next, at the local maximum inside it
// if the slopes at its ends tell of one that may be a new record, else in the middle.
template <class Law>
class ShiftSearch {
  public:
    ShiftSearch(const Law& law, double sigma, double epsilon, double sensitivity)
        : law_(law), sigma_(sigma), epsilon_(epsilon), sensitivity_(sensitivity) {}

    ShiftSearchResult run(const ShiftSearchGoal& goal) {
        if (!(sensitivity_ > 0.0)) {
            const double at_0 = node(0.0).delta;
            return {at_0, at_0, 0.0};
        }
        if (first_cells(goal)) return {1.0, found_, shift_};
        while (!ended(goal)) {
            const Cell cell = cells_.top();
            cells_.pop();
            cut(cell, goal);
        }
        return {std::max(found_, cells_.top().bound), found_, shift_};
    }

  private:
    struct Node {
        double shift;
        double delta;
        double slope;  // of delta by the shift, 0 at a maximum that was searched for
        double kappa;  // and the excess at it
        double excess;
    };
    struct Cell {
        Node left, right;
        double bound;
        bool operator<(const Cell& other) const { return bound < other.bound; }
    };

    // A divergence is exact to a fraction 1e-12: a difference of two may be this much too small.
    static constexpr double kDivergenceError = 2e-12;
    // What refutes is to be nearly the worst: the next guess starts from there.
    static constexpr double kNearlyWorst = 1.2;
    // The first cells are at most this many sigma wide, as long as they are no more than so many.
    static constexpr double kFirstWidth = 1.5;
    static constexpr double kMostFirstCells = 16384.0;
    // Divergences, in addition to those of the first cells, after which the search gives up.
    static constexpr long kMostDivergences = 20000;

    double level(const ShiftSearchGoal& goal) const {
        return std::max(found_ * (1.0 + goal.tolerance), goal.acceptable);
    }

    bool ended(const ShiftSearchGoal& goal) const {
        const Cell& worst = cells_.top();
        return worst.bound <= level(goal) || budget_ <= 0 ||
               (found_ > goal.refuted && worst.bound <= kNearlyWorst * found_) ||
               worst.right.shift - worst.left.shift <= 0x1p-48 * sensitivity_;
    }

    double kappa_of(double width) const {
        const double ratio = width / sigma_;
        return ratio * ratio / 8.0;
    }

    Node node(double shift) {
        --budget_;
        if (shift == 0.0) {
            return {0.0, epsilon_ >= 0.0 ? 0.0 : -std::expm1(epsilon_), 0.0, 0.0, 0.0};
        }
        const ShiftDivergence at = shift_divergence_upper(law_, shift, epsilon_);
        if (at.at_most() > found_) {
            found_ = at.at_most();
            shift_ = shift;
        }
        return {shift, at.at_most(), at.d_shift, 0.0, 0.0};
    }

    // Sets the excess of a node for cells that are at most `width` wide.
    void raise(Node& at, double width) {
        at.kappa = kappa_of(width);
        at.excess = std::numeric_limits<double>::infinity();
        if (at.kappa > 600.0) return;  // e^kappa times any divergence says nothing
        const double lowered = epsilon_ - at.kappa;
        double divergence = lowered >= 0.0 ? 0.0 : -std::expm1(lowered);
        if (at.shift > 0.0) {
            --budget_;
            divergence = shift_divergence_upper(law_, at.shift, lowered).at_most();
        }
        const double raised = std::exp(at.kappa) * divergence;
        at.excess = std::max(raised - at.delta, 0.0) + kDivergenceError * (raised + at.delta);
    }

    static double excess_at(const Node& at, double kappa) {
        return at.excess * std::min(kappa / at.kappa, 1.0);
    }

    Cell cell_of(const Node& left, const Node& right) const {
        const double kappa = kappa_of(right.shift - left.shift);
        const double excess = std::max(excess_at(left, kappa), excess_at(right, kappa));
        const double rise = std::fabs(right.delta - left.delta);
        double bound = std::max(left.delta, right.delta);
        if (rise < 4.0 * excess) {
            const double mean = 0.5 * left.delta + 0.5 * right.delta;
            bound = std::max(bound, mean + excess + rise * (rise / (16.0 * excess)));
        }
        return {left, right, std::min(bound, 1.0)};
    }

    // A cell whose excess was found for a wider one, and is much more than `typical`, is looked at
    // again before it joins the others.
    void add(Cell cell, double typical, const ShiftSearchGoal& goal) {
        const double width = cell.right.shift - cell.left.shift;
        const double kappa = kappa_of(width);
        for (Node* end : {&cell.left, &cell.right}) {
            if (cell.bound <= level(goal)) break;
            if (end->kappa > 2.0 * kappa && excess_at(*end, kappa) > 1.3 * typical) {
                raise(*end, width);
                cell = cell_of(cell.left, cell.right);
            }
        }
        cells_.push(cell);
    }

    // Covers the range. True if a divergence of practically 1 was met: no bound can say more.
    bool first_cells(const ShiftSearchGoal& goal) {
        const double cells =
            std::clamp(std::ceil(sensitivity_ / (kFirstWidth * sigma_)), 1.0, kMostFirstCells);
        const double width = sensitivity_ / cells;
        Node last = node(sensitivity_);
        budget_ += 2 * static_cast<long>(cells);
        if (found_ * (1.0 + goal.tolerance) >= 1.0) return true;
        raise(last, width);
        Node left = node(0.0);
        raise(left, width);
        for (double i = 1.0; i <= cells; i += 1.0) {
            Node right = last;
            if (i < cells) {
                right = node(width * i);
                if (found_ * (1.0 + goal.tolerance) >= 1.0) return true;
                raise(right, width);
            }
            cells_.push(cell_of(left, right));
            left = right;
        }
        return false;
    }

    void cut(const Cell& cell, const ShiftSearchGoal& goal) {
        const double left = cell.left.shift, right = cell.right.shift;
        Node between = hides_a_record(cell) ? local_maximum(cell.left, cell.right, goal.tolerance)
                                            : node(0.5 * (left + right));
        raise(between, std::max(between.shift - left, right - between.shift));
        add(cell_of(cell.left, between), excess_at(between, kappa_of(between.shift - left)), goal);
        add(cell_of(between, cell.right), excess_at(between, kappa_of(right - between.shift)),
            goal);
    }

    // The slopes point inwards and the tangents meet above the greatest divergence found.
    bool hides_a_record(const Cell& cell) const {
        const Node &left = cell.left, &right = cell.right;
        if (!(left.slope > 0.0 && right.slope < 0.0)) return false;
        const double width = right.shift - left.shift;
        const double meet =
            (right.delta - left.delta - right.slope * width) / (left.slope - right.slope);
        return left.delta + left.slope * meet > found_;
    }

    // The root of the slope between two nodes, until the maximum can be no more than a tenth of the
    // tolerance above the greatest divergence met.
    Node local_maximum(const Node& left, const Node& right, double tolerance) {
        FalsePosition root(left.shift, left.slope, right.shift, right.slope);
        Node best = left.delta > right.delta ? left : right;
        for (int step = 0; step < 60; ++step) {
            const Node here = node(root.next());
            if (step == 0 || here.delta >= best.delta) best = here;
            if (std::fabs(here.slope) * root.width() <= 0.1 * tolerance * here.delta ||
                root.width() <= 1e-9 * sigma_) {
                break;
            }
            root.narrow(here.shift, here.slope);
        }
        best.slope = 0.0;
        return best;
    }

    const Law& law_;
    const double sigma_;
    const double epsilon_;
    const double sensitivity_;
    double found_ = 0.0;
    double shift_ = 0.0;
    long budget_ = kMostDivergences;
    std::priority_queue<Cell> cells_;
};

}  // namespace tightnoise
