// The least noise of the multi-Gaussian mixture that is (epsilon, delta)-DP.
//
// All answers are private by worst_shift(law, epsilon, sensitivity).delta <= delta, the cost that
// is accounted later, and within 1e-9 of the smallest such sigma; with more than 5000 modes that or
// one that makes hardly more noise. D's maximum over the shifts falls with sigma: more noise is
// post-processing (Lemma 3.4).
// Range: epsilon > 0 up to 700, delta in (0, 1) from 1e-300 on, sensitivity > 0, modes an integer
// from 0 to kMostModes. NaN where nothing private was found, infinite where sigma overflows.
#pragma once

namespace tightnoise {

// What MultiGaussianMixture takes.
constexpr double kMostModes = 1e6;

double multi_gaussian_sigma(double epsilon, double delta, double sensitivity, double modes);

// What additive noise is judged by. l1: the mean of |noise|; l2: its variance.
enum class AdditiveLoss { l1, l2 };

struct MultiGaussianChoice {
    double sigma;
    double modes;
};

// The number of modes with the least loss among 0, K - 1, ..., K + 3, where K is the least one
// whose outermost component weighs at most delta: beyond K the loss is flat, and sigma jumps below.
// In all of 180 settings that were searched within 3.2e-6 of the best number. Equal losses: fewer
// modes.
MultiGaussianChoice best_multi_gaussian(double epsilon, double delta, double sensitivity,
                                        AdditiveLoss loss);

}  // namespace tightnoise
