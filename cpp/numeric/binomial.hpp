#pragma once

#include <utility>

namespace tightnoise {

// What `successes` of `trials` say of their probability: each end is wrong with a probability of at
// most alpha (Clopper and Pearson 1934). 0 <= successes <= trials, trials >= 1, 0 < alpha < 1.
std::pair<double, double> binomial_bounds(double successes, double trials, double alpha);

}  // namespace tightnoise
