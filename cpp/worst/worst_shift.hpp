// The privacy cost of additive noise: the greatest hockey-stick divergence over all shifts from 0
// to the sensitivity, rounded upwards.
//
// LaplaceLaw and StaircaseLaw have one mode, at 0, so that it is the divergence at the sensitivity;
// so it is for MultiGaussianLaw and ScaleMixtureLaw where their density is proven to have one
// (unimodal.hpp). Else, and always for QuasiGaussianLaw, whose density has a dip at 0, it is found
// by branch and bound (shift_search.hpp).
//
// Law is one of these. Arguments: finite epsilon (any, also negative; >= 0 for LaplaceLaw and
// StaircaseLaw), finite sensitivity >= 0; delta in [0, 1].
//
// Costs are rounded upwards: by 1e-11 of themselves, for divergences are exact to 1e-12, and by
// 1e-306, for smaller ones may be lost to underflow while the truth is not 0. Those of mixtures are
// of an epsilon that is less by 16 units of the last place, for losses are rounded.
#pragma once

#include <cstddef>

namespace tightnoise {

// Why no shift costs more than the one that was found.
//   unimodal:   the density decreases on both sides of 0, so the greatest shift is the worst.
//   semiconvex: log f + x^2 / (2 sigma^2) is convex, which bounds the cost between two shifts by
//               the costs at both, and the whole range was covered by such pairs.
enum class Proof { unimodal, semiconvex };

// delta: an upper bound of the greatest divergence over all shifts in [0, sensitivity], at most a
// fraction 1e-9 above it. shift: where it is attained, or nearly.
struct WorstShift {
    double delta;
    double shift;
    Proof proof;
};

// Mixtures: within 3e-10 of the truth, never below. The search takes some 50 to 200 divergences,
// and two for every 1.5 sigma of the sensitivity. It is bounded: where the sensitivity is beyond
// about 2e4 sigma and the cost is not next to 1, the result may be far above the truth (never
// below). So it may be where f(x + shift) / f(x) is e^epsilon, or nearly, all along a flank, which
// leaves the sign of their difference open: for a multi-Gaussian of sigma above 0.85 spacings,
// where epsilon is the law's own epsilon times shift / spacing, to many digits, and that is not one
// spacing.
//
// LaplaceLaw and StaircaseLaw: 0 only where that is exact, for unbounded noise: with sensitivity <=
// epsilon scale, and up to as many steps as epsilon is times the law's own.
template <class Law>
WorstShift worst_shift(const Law& law, double epsilon, double sensitivity);

// The divergence at one shift, rounded upwards in the same way: at most a fraction 2e-11 above the
// truth at an epsilon that is less by 32 units and twice error_of_places(law). NaN where it cannot
// be told that closely, as the sign of the difference is left open.
template <class Law>
double cost_of_shift(const Law& law, double epsilon, double shift);

// The costs at n epsilons, each at most a fraction `tolerance` (1e-9 or more) above the truth.
template <class Law>
void worst_shift_curve(const Law& law, double sensitivity, const double* epsilon, std::size_t n,
                       double tolerance, double* out);

// The smallest epsilon >= 0 found at which worst_shift is at most delta; infinite if there is none.
// Mixtures: at any smaller one it is above delta (1 - 1e-9); infinite where delta is below 2e-306.
template <class Law>
double epsilon_at(const Law& law, double delta, double sensitivity);

// Whether no shift costs more than delta, and worst_shift says so: `holds` only with proof. Else a
// shift, with its divergence, that does, or that comes so close (a fraction 1e-9) that there is no
// proof; it is nearly the worst. Of mixtures. Faster than worst_shift.
struct ShiftCheck {
    bool holds;
    double divergence;
    double shift;
};
template <class Law>
ShiftCheck certify_at_most(const Law& law, double epsilon, double sensitivity, double delta);

}  // namespace tightnoise
