// The epsilon that a shift costs at a given delta, and how it changes with every parameter of a
// mixture of Gaussians: what a search for a better mixture needs. Fast and smooth, but not proven;
// what such a search finds, worst_shift certifies.
#pragma once

#include <cstddef>

namespace tightnoise {

// A symmetric mixture: pair j is Gaussians at locations[j] and -locations[j] that have half the
// weight each. The weights sum to 1.
struct GaussianPairs {
    std::size_t pairs;
    const double* locations;
    const double* weights;
    const double* sigmas;
};

// Of each shift, the epsilon with D_epsilon(shift) = delta, at least 0, and its derivatives: by the
// shift, and (rows of pairs) by the locations, the logarithms of the weights (which stay divided by
// their sum), and those of the sigmas. Where the shift costs less than delta at epsilon = 0, all
// are 0.
struct ShiftEpsilons {
    double* epsilon;
    double* by_shift;
    double* by_location;
    double* by_log_weight;
    double* by_log_sigma;
};

// Each search starts at `near` > 0.
// Range: shifts > 0, 1e-300 <= delta < 1. Error: about 1e-9, where no root of
// log f(x + shift) - log f(x) - epsilon is missed: two may be that are closer than about half the
// sigma of the component next to them.
void shift_epsilons(const GaussianPairs& mixture, const double* shifts, std::size_t count,
                    double delta, double near, const ShiftEpsilons& out);

}  // namespace tightnoise
