// Two independent privacy losses, each of finitely many values, composed: their sums are brought
// back to a given grid in place of being told apart, from above or from below. No transform: all
// terms are positive, so that rare losses keep their digits beside frequent ones.
#pragma once

#include <cstddef>

namespace tightnoise {

// Losses that rise, with their probabilities under P; under Q they are e^-loss as large.
struct LossAtoms {
    const double* losses;
    const double* masses;
    std::size_t size;
};

// Infinite losses: with P, and with Q in its place.
struct InfiniteLosses {
    double losses, swapped;
};

// Adds to mass[k] what the sums of both have at grid[k]: a sum between two points is split into
// both, with the same probabilities under P and Q. Of one beyond the last, Q's probability goes to
// that point, and the rest of P's is infinite; of one below the first, P's, and the rest of Q's is.
InfiniteLosses split_product(const LossAtoms& a, const LossAtoms& b, const double* grid,
                             std::size_t size, double* mass);

// Adds to mass[k] the probability of the sums from grid[k] to the next point, or to infinity, and
// to less[k] that times the mean of 1 - e^(grid[k] - sum), rounded down: as one, they have the loss
// grid[k] - log(1 - less/mass). Sums below the first point are left out.
void merged_product(const LossAtoms& a, const LossAtoms& b, const double* grid, std::size_t size,
                    double* mass, double* less);

}  // namespace tightnoise
