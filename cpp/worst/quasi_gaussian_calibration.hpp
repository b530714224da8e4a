// The least noise of the quasi-Gaussian mixture that is (epsilon, delta)-DP.
// Range: epsilon > 0 up to 700, delta in (0, 1) from 1e-300 on, sensitivity > 0. NaN where nothing
// private was found, infinite where sigma overflows.
#pragma once

namespace tightnoise {

// Private by worst_shift(law, epsilon, sensitivity).delta <= delta, the cost that is accounted
// later, and less by a part in 1e9 is not. Nobody has proven that the cost falls with sigma, so
// that a far smaller sigma might be private, too.
double quasi_gaussian_sigma(double epsilon, double delta, double sensitivity);

// The larger one of the paper's sigma_1 and sigma_2 (Theorem 4.2, Algorithms 3 and 4), or as much
// more as the same proof takes.
double quasi_gaussian_sigma_of_paper(double epsilon, double delta, double sensitivity);

}  // namespace tightnoise
