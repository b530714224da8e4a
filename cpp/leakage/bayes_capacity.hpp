// The Bayes capacity of a mechanism, C = integral over outputs of the largest density that any
// input gives them: the most by which a release multiplies the chance of any guess.
// "Comparing privacy notions for protection against reconstruction attacks in machine learning",
// section V, Definition 7. All functions give log C, which is C - 1 where that is small.
#pragma once

#include <cstddef>

#include "leakage/bayes_capacity_kernels.hpp"

namespace tightnoise {

// The Gaussian on a ball: N(x, sigma^2 I) in `dim` dimensions, |x| <= radius = reach sigma.
// Range: dim from 1 to 2^53, reach from 0 to 1e100. Relative error: 3e-15.
double log_ball_capacity(double dim, double reach);

// Von Mises-Fisher on a cap: density prop. to e^(kappa x.y) on the unit sphere of R^dim, the mean
// direction x anywhere within the angle half_angle <= pi/2 of a pole.
// Range: dim from 2 to 2^53, kappa from 0 to 1e100, 0 <= half_angle. Relative error: 1e-14.
double log_cap_capacity(double kappa, double dim, double half_angle);

// Gaussian noise on each of n coordinates, bounded or not, the true values in a box: the sum of
// log C over coordinates. `mechanism` is an entry of bayes_capacity_kernels().
double log_box_capacity(BayesCapacityKernels::Sum mechanism, const BoxOperands& box, std::size_t n);

}  // namespace tightnoise
