// The log-likelihood ratios of the cells of a partition of the real line, between N(0, 1) = P and
// N(k, 1) = Q, and the divergences of the partition (of a clipped or quantised Gaussian).
// Kernel-side header: internal linkage, one copy a level.
//
// Notation: p, q the masses of a cell, l = log p - log q, beta = alpha - 1, h(t) = e^t - 1 - t.
#pragma once

#include <cmath>

#include "mechanisms/cell.hpp"

namespace tightnoise {
namespace {

struct CellRatio {
    CellRatio() = default;
    CellRatio(const Mass& mass, DoubleDouble l) : mass_p(mass), p(mass.value()), log_ratio(l) {}

    Mass mass_p;  // p in two parts
    double p;
    DoubleDouble log_ratio;  // l
    double bend;             // h(-l) where |l| <= 1
    double gain;             // q - p, with relative accuracy

    // p^alpha q^(1 - alpha) = p e^(beta l).
    Mass term(double beta) const { return {mass_p.exponent + log_ratio * beta, mass_p.factor}; }

    // The last two from l, without overflow of e^(-l) beside a tiny p.
    void complete() {
        const double l = log_ratio.hi;
        bend = std::fabs(l) <= 1.0 ? expm1mx_of_one(-l) : 0.0;
        gain = std::fabs(l) <= 1.0 ? p * (bend - l)
               : l > 0.0           ? p * expm1(-l)
                                   : -term(-1.0).value() * expm1(l);
    }
};

// From exp(k Z - k^2/2) = dQ/dP: q/p = E[exp(k Z - k^2/2) | cell], so
//     l = k (k/2 - E[Z]) - K(k),
// accurate while k is small; outside, E[Z] = near + from_near, and the part with the large edge is
// kept in double-double. For larger k, log P minus log Q.
inline DoubleDouble log_ratio(const Cell& cell, const Interval& interval, DoubleDouble k,
                              double cumulant_of_k) {
    if (!cell.is_small(k.hi)) return log_of_ratio(cell.mass(), mass_of(seen_from(interval, k)));
    if (cell.outside) {
        const DoubleDouble s = k * cell.sign;
        return s * (s * 0.5 - cell.near) + -(s.hi * cell.from_near + cumulant_of_k);
    }
    return two_sum(k.hi * (0.5 * k.hi - cell.mean), -cumulant_of_k);
}

// Completes the cells, and sets the l of the cell that holds nearly all the mass: that is tiny, the
// difference of two logarithms near 0. Since all p sum to 1 and all q too, it is also that of what
// the other cells gain:
//     l_j = -log(1 - sum_{i != j} (q_i - p_i)/p_j).
// Where no cell is so dominant, log_ratio_of(j) gives l_j.
template <class LogRatioOf>
void resolve_dominant(CellRatio* cells, int count, int dominant, LogRatioOf log_ratio_of) {
    double gained = 0.0, others = 0.0;
    for (int i = 0; i < count; ++i) {
        if (i == dominant) continue;
        cells[i].complete();
        gained += cells[i].gain;
        others += cells[i].p + cells[i].gain;
    }
    CellRatio& cell = cells[dominant];
    if (cell.p < 0.5 || others >= 0.5) {
        cell.log_ratio = log_ratio_of(dominant);
    } else {
        cell.log_ratio = {-log1p_of_one(-gained / cell.p), 0.0};
    }
    cell.complete();
}

inline int most_probable(const CellRatio* cells, int count) {
    int largest = 0;
    for (int i = 1; i < count; ++i) {
        if (cells[i].p > cells[largest].p) largest = i;
    }
    return largest;
}

// [p^alpha q^(1-alpha) - p]/beta + q - p = p [h(beta l)/beta + h(-l)] >= 0. The first form where l
// is not small, without overflow of e^(beta l) or e^(-l) beside a tiny p.
inline double renyi_gap(const CellRatio& cell, double beta) {
    const double l = cell.log_ratio.hi, tilt = beta * l;
    if (std::fabs(l) > 1.0) {
        const double tilted =
            tilt < 1.0 ? cell.p * expm1(tilt) : cell.term(beta).value() * -expm1(-tilt);
        return tilted / beta + cell.gain;
    }
    const double tilted = tilt < 1.0
                              ? cell.p * expm1mx_of_one(tilt)
                              : cell.term(beta).value() * (-expm1(-tilt) - tilt * exp(-tilt));
    return tilted / beta + cell.p * cell.bend;
}

// p l + q - p = p h(-l) >= 0: the gap at beta = 0.
inline double kl_gap(const CellRatio& cell) {
    const double l = cell.log_ratio.hi;
    return std::fabs(l) > 1.0 ? cell.p * l + cell.gain : cell.p * cell.bend;
}

// A cell on which the output is not constant but continuous (the inside of the support of a
// rectified Gaussian): its term is larger by the factor exp(G) than that of the cell as a whole,
// G = beta D_alpha(P given the cell || Q given the cell).
struct ContinuousCell {
    int index;  // -1: there is none
    double exponent;
};

// D_alpha = log(S)/beta, S = sum of the terms. Where S is near 1,
//     (S - 1)/beta = sum of the gaps + (the continuous cell's e^G - 1)/beta,
// a sum of positive terms (of small differences of them when alpha < 1); else log-sum-exp, with the
// exponents in double-double. alpha >= 1/2, alpha != 1. The continuous cell's term is
// continuous_term() where G is large.
template <class ContinuousTerm>
double renyi_of_cells(const CellRatio* cells, int count, double beta,
                      const ContinuousCell& continuous, ContinuousTerm continuous_term) {
    const double g = continuous.exponent;
    auto term = [&](int i) -> Mass {
        if (i != continuous.index) return cells[i].term(beta);
        if (std::fabs(g) >= 1.0) return continuous_term();
        const Mass flat = cells[i].term(beta);
        return {flat.exponent + g, flat.factor};
    };
    double largest = term(0).logarithm_at_most();
    for (int i = 1; i < count; ++i) {
        const double next = term(i).logarithm_at_most();
        if (next > largest) largest = next;
    }
    if (largest <= 1.0) {
        double sum = 0.0;
        for (int i = 0; i < count; ++i) sum += renyi_gap(cells[i], beta);
        if (continuous.index >= 0) {
            sum += (g < 1.0 ? cells[continuous.index].term(beta).value() * expm1_of_one(g)
                            : term(continuous.index).value() * -expm1(-g)) /
                   beta;
        }
        if (beta * sum > -0.5) return log1p_of_one(beta * sum) / beta;
    }
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        const Mass m = term(i);
        sum += exp(m.exponent + -largest) * m.factor;
    }
    return (largest + log(sum)) / beta;
}

inline double renyi_of_cells(const CellRatio* cells, int count, double beta) {
    return renyi_of_cells(cells, count, beta, {-1, 0.0}, [] { return Mass{{0.0, 0.0}, 0.0}; });
}

inline double kl_of_cells(const CellRatio* cells, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += kl_gap(cells[i]);
    return sum;
}

// (p - e^epsilon q)_+ = p (1 - e^(epsilon - l))_+.
inline double hockey_stick_term(const CellRatio& cell, double epsilon) {
    const double excess = (cell.log_ratio.hi - epsilon) + cell.log_ratio.lo;
    return excess > 0.0 ? cell.p * -expm1(-excess) : 0.0;
}

// sup over A of P(A) - e^epsilon Q(A), for k > 0: the likelihood ratio p/q falls with z, so A is
// what lies below the point t = k/2 - epsilon/k where p/q = e^epsilon. With A as a cell,
//     P(A) - e^epsilon Q(A) = P(A) (1 - e^-x),   x = l_A - epsilon = k (t - E[Z|A]) - K_A(k) > 0,
// and t - E[Z|A] is measured from the edge t of A: no cancellation, not even when A is a far tail.
struct BestTest {
    DoubleDouble log_p;  // log P(A)
    double advantage;    // 1 - e^-x
    double excess;       // x
};

inline BestTest best_test(const Interval& below_t, DoubleDouble k, DoubleDouble t) {
    const Cell cell(below_t);
    const double excess = cell.is_small(k.hi)
                              ? k.hi * cell.from_upper() - cell.cumulant(k.hi)
                              : rounded(log_ratio(cell, below_t, k, 0.0) + (t - k * 0.5) * k);
    if (!(excess > 0.0)) return {cell.mass().logarithm(), 0.0, 0.0};
    return {cell.mass().logarithm(), -expm1(-excess), excess};
}

}  // namespace
}  // namespace tightnoise
