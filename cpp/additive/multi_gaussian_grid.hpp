// The calibration of multi-Gaussian mixtures by Liu, Selvi and Wiesemann (2026), on a grid of
// shifts.
#pragma once

#include "additive/multi_gaussian_calibration.hpp"

namespace tightnoise {

// Algorithm 1 of the paper with Algorithm 2 done exactly: the smallest sigma for which no shift on
// the grid {0, b, 2 b, ..., sensitivity} has a divergence above (1 - eta) delta, where b is the
// largest fraction 1/n of the sensitivity up to sqrt(2 pi) eta sigma delta. Private by Theorem 3.2.
double multi_gaussian_sigma_on_grid(double epsilon, double delta, double sensitivity, double modes,
                                    double eta);

// The same, with the number of modes from 1 to 20 that has the least loss.
MultiGaussianChoice best_multi_gaussian_on_grid(double epsilon, double delta, double sensitivity,
                                                AdditiveLoss loss, double eta);

}  // namespace tightnoise
