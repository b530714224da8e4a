// The exact privacy profile of two von Mises-Fisher distributions of one concentration: delta at an
// epsilon, and epsilon at a delta. Both are rounded upwards.
//
// delta(epsilon) = E_P[(1 - e^(epsilon - l))_+] is the same in both directions: a reflection swaps
// P and Q. It increases with the half chord, so that of a greatest half chord holds for all.
//
// Arguments: finite kappa from 0 to 1e100, dim from 2 to 2^53, half_chord (of which there are n, or
// one for all) from 0 to 1. Equal half chords that follow each other share work.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"

namespace tightnoise {

// delta at finite epsilon >= 0 (n of them, or one): at most a fraction 1e-10 and 1e-289 above the
// exact one, 0 from epsilon = 2 kappa half_chord on, at most 1.
// Where the loss spreads by less than 1e-14 of itself (kappa beyond 1e28), it is 1 up to 1e-8 above
// its mode and next to 0 beyond.
void vmf_delta_upper(double kappa, double dim, const Operand& half_chord, const Operand& epsilon,
                     std::size_t n, double* out);

// The smallest epsilon >= 0 found for delta in [0, 1] (n of them, or one): vmf_delta_upper of it is
// at most delta. It is within a few units of the last place of the least such double, and never
// above the least double that is at least 2 kappa half_chord.
void vmf_epsilon_upper(double kappa, double dim, const Operand& half_chord, const Operand& delta,
                       std::size_t n, double* out);

}  // namespace tightnoise
