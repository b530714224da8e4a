// The hockey-stick divergence of a privacy loss that lives on a lattice, from its tilted masses.
#pragma once

#include <cstddef>

namespace tightnoise {

// The privacy loss L_m = first + m spacing, m = 0, ..., size - 1, with the probability
//     P(m) <= (mass[m] + extra) e^(log_scale - tilt (L_m - first)),    mass, extra, tilt >= 0,
// and beyond the last point no more than beyond e^(log_scale - tilt (L_(size-1) - first)).
struct LatticeLoss {
    const double* mass;
    std::size_t size;
    double extra, beyond;
    double first, spacing;
    double tilt, log_scale;
};

// The smallest epsilon at which the hockey-stick divergence is at most e^log_delta; NaN if that is
// below the first point. Solves the bounds above exactly but for rounding: 1e-15 size in delta.
double lattice_epsilon(const LatticeLoss& loss, double log_delta);

// The logarithm of the divergence at epsilon; of what lies above the first point if that is higher.
double lattice_log_delta(const LatticeLoss& loss, double epsilon);

// The same at n epsilons that rise, in one go.
void lattice_log_deltas(const LatticeLoss& loss, const double* epsilons, std::size_t n,
                        double* log_deltas);

}  // namespace tightnoise
