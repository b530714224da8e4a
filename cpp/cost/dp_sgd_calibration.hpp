// The three numbers of DP-SGD, one from the others: n steps of the sampled Gaussian mechanism with
// noise multiplier sigma and sampling rate q are to be (epsilon, delta)-DP, by the best order of
// their Renyi-DP.
//
// Let y be log(1/sigma), log q or n, cost(a, y) the Renyi divergence of order a of all steps,
// which increases with y, and budget(a) the largest that (epsilon, delta) allows. y is private if
// cost(a, y) <= budget(a) for some order a, so that the greatest private y is the greatest over a
// of the root y(a) of cost(a, y) = budget(a). The search starts from y(a) of the order that is best
// for plain Gaussians, and goes on to y(a') with a' the best order at y: that proves an
// epsilon that is smaller still, so that y(a') >= y. This is Newton's method for the function
// min_a log(cost/budget), and converges as fast; every y is private on the way.
//
// The answer is judged by best_epsilon itself (cost/best_order.hpp), as users call it: there
// the cost is at most epsilon, and at least epsilon (1 - 1e-9) unless the answer is within a part
// in 1e12 of one where it is above epsilon. (Where delta is so large that sigma hardly depends on
// epsilon, no double reaches epsilon closer.)
#pragma once

#include "cost/conversion.hpp"

namespace tightnoise {

// What is to be kept: epsilon > 0, finite, and delta in (0, 1).
struct Target {
    double epsilon;
    double delta;
    Conversion conversion;
};

// Ranges: sigma > 0, 0 < q <= 1, 1 <= steps <= 2^53.

// The smallest sigma; infinity if no order up to the last that is searched can prove the target,
// however large sigma is.
double smallest_noise_multiplier(const Target& target, double sampling_rate, double steps);

// The largest q; 0 if not even 1e-100 is small enough.
double largest_sampling_rate(const Target& target, double noise_multiplier, double steps);

// The largest number of steps up to 2^53; 0 if one is too many.
double most_steps(const Target& target, double noise_multiplier, double sampling_rate);

}  // namespace tightnoise
