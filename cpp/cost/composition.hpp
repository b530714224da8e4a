// Composition of (epsilon, delta)-DP releases: P. Kairouz, S. Oh and P. Viswanath, "The Composition
// Theorem for Differential Privacy", IEEE Transactions on Information Theory 63(6), 2017 (KOV).
//
// A release that is (e, d)-DP can be simulated from randomised response with e that fails, and
// tells all, with probability d (KOV, section 6): so the worst case of many adaptively chosen
// releases is a product of such mechanisms. One of them fails with probability
//     failure = 1 - (1 - d_1) ... (1 - d_N),
// and if none does, what counts is the hockey-stick divergence of the product of the randomised
// responses, here called `slack`:
//     total_delta = failure + (1 - failure) slack.
#pragma once

#include <cstddef>

namespace tightnoise {

// count[i] releases, each (epsilon[i], delta[i])-DP. Everywhere 0 <= epsilon < inf, 0 <= delta <=
// 1, counts are integers from 0 to 2^53.
struct Releases {
    const double* epsilon;
    const double* delta;
    const double* count;
    std::size_t size;
};

// Up to how many releases the exact functions take: their time grows like the square root.
constexpr double kMaxExactCount = 0x1p36;

// The probability of a failure. In [truth, truth (1 + 1e-14)], at most 1.
double failure_upper(const Releases& releases);

// The closed form (KOV Theorem 3.5; 3.4 if all releases are alike). With the slack of total_delta,
// A = sum e tanh(e/2) and V = sum e^2 over all releases:
//     epsilon = min{sum e, A + sqrt(2 V log(exp(1) + sqrt(V)/slack)), A + sqrt(2 V log(1/slack))}.
// Erratum: some later papers print A as tanh(e/2) for N equal releases, without the factor N e,
// which proves nothing (e = 1/2, N = 100: at the epsilon it gives for delta 1e-5, delta is 3.5e-3).
// Infinity if total_delta is below failure. In [formula, formula (1 + 1e-12)].
double closed_form_epsilon_upper(const Releases& releases, double total_delta);

// The same read the other way: the smallest total delta that the closed form proves at epsilon.
// The exponent (epsilon - A)^2/(2 V) is what it has to be told: relative error 1e-14 times that.
double closed_form_delta_upper(const Releases& releases, double epsilon);

// The exact answer for releases of one epsilon (KOV Theorem 3.3, and between the points that it
// lists): epsilons are equal or 0, deltas may differ, counts add up to at most kMaxExactCount.
// The smallest epsilon at total_delta, infinity if that is below failure; and the smallest total
// delta at epsilon.
// Card: epsilon 0 or from 1e-200, total_delta from 0 to 1. Both in [truth, truth (1 + 1e-12)],
// a delta below 1e-300 plus 1e-323, an epsilon for a total_delta smaller by up to 1e-20 of itself
// (next to epsilon = 0, and where total_delta is next to 1, that can be more).
double exact_epsilon_upper(const Releases& releases, double total_delta);
double exact_delta_upper(const Releases& releases, double epsilon);

}  // namespace tightnoise
