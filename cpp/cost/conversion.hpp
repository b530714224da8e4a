// What one Renyi-DP guarantee says as (epsilon, delta): four bounds, each read three ways.
//
// Let tau bound the Renyi divergence of order alpha > 1 of P from Q. Then P(S) <= e^epsilon Q(S) +
// delta for every set S, with h = alpha - 1 and
//
// - classic (Mironov 2017, "Renyi Differential Privacy", Proposition 3):
//       epsilon = tau + log(1/delta)/h
// - canonne (Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy",
//   Proposition 12; the same bound is Theorem 21 of Balle et al. 2020, "Hypothesis Testing
//   Interpretations and Renyi Differential Privacy"):
//       epsilon = tau + log(1 - 1/alpha) - (log delta + log alpha)/h
// - closed_form (Asoodeh, Liao, Calmon, Kosut and Sankar 2020, "A Better Bound Gives a Hundred
//   Rounds: Enhanced Privacy Guarantees via f-Divergences", Lemma 1): the smaller of canonne and
//       epsilon = log(1 + (e^(h tau) - 1)/(alpha delta))/h      if alpha delta <= 1,
//       epsilon = tau + log(1 - delta)                          if alpha delta > 1 (exact)
// - optimal (Theorem 3 of the same paper): the smallest epsilon >= 0 for which every pair with this
//   divergence of order alpha keeps the inequality; cost/extremal_pair.hpp.
//
// At alpha = infinity tau bounds log(P/Q) itself and all four give the exact epsilon = tau +
// log(1 - delta). All are at least 0, and 0 at tau = 0.
//
// Each is right for the direction (P, Q) alone, which is all that it uses: with tau a bound both
// ways, a smaller delta than the optimal one may be true, though only where alpha delta is not
// small.
//
// Card: alpha in (1, infinity], tau in [0, infinity], delta in (0, 1), epsilon in [0, infinity).
// tau = infinity gives epsilon = infinity and delta = 1. NaN gives NaN, else nothing is NaN. What
// is returned is on the safe side of the truth:
// - classic, canonne: epsilon, tau and log(delta) by at most 5e-15 times the sum of the magnitudes
//   of the terms; the second branch of closed_form by 5e-15 (tau + epsilon), and log(delta) by
//   5e-15 (1 + h (tau + epsilon));
// - optimal, for alpha from 1 + 1e-12 to 1e6, tau from 1e-12 to 1e4, epsilon up to 1e4, delta from
//   1e-300 to 1 - 1e-9, with u = epsilon + log(alpha/h): epsilon by 1e-14 u, delta by the factor
//   1 + 1e-14 (1 + h u), and tau by 1e-14 (tau + u min(h tau, 1)). Beyond that range, at worst by
//   what separates closed_form from it.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"

namespace tightnoise {

enum class Conversion { classic, canonne, closed_form, optimal };

double epsilon_upper(Conversion conversion, double alpha, double rdp, double delta);
double delta_upper(Conversion conversion, double alpha, double rdp, double epsilon);

// The largest divergence that (epsilon, delta) allows, rounded down.
double rdp_lower(Conversion conversion, double alpha, double epsilon, double delta);

// out[i] = function(conversion, x[i], y[i], z[i]) for one of the three, on several threads.
using ConversionFunction = double (*)(Conversion, double, double, double);
void convert_array(ConversionFunction function, Conversion conversion, const Operand& x,
                   const Operand& y, const Operand& z, double* out, std::size_t n);

}  // namespace tightnoise
