// The Renyi divergence between two von Mises-Fisher distributions of one concentration kappa, whose
// mean directions x and x' are at an angle theta. Branch-free. Kernel-side header: internal
// linkage, one copy a level.
//
// With L = log_sphere_mean, nu = dim/2 - 1 and s = sin(theta/2), the integral of p^a q^(1-a) is
// that of e^(kappa (a x + (1 - a) x') . y), over the normaliser:
//
//     D_a = (L(c kappa) - L(kappa)) / (a - 1),   c = |a x + (1 - a) x'|
//     c^2 = 1 + 4 a (a - 1) s^2 = cos(theta/2)^2 + (2 a - 1)^2 s^2
//
// (Kitagawa and Rowley 2022, "von Mises-Fisher distributions and their statistical divergence",
// arXiv 2202.05192, Proposition 3.1; Biswas et al. 2025, "Comparing privacy notions for protection
// against reconstruction attacks in machine learning", Proposition 1, for opposite directions). The
// squares of the arguments differ by 4 a (a - 1) s^2 kappa^2. So with z = s kappa, and the slope S
// of the secant of L as a function of the square,
//
//     D_a = 4 a z^2 S,   S = (L(x1) - L(x0)) / (x1^2 - x0^2),
//
// x0 the smaller of kappa and c kappa: no difference is left that could cancel.
#pragma once

#include "numeric/bessel.hpp"

namespace tightnoise {
namespace {

struct VmfPair {
    double nu;           // dim/2 - 1
    double kappa;        // of both
    double half_chord;   // s = |x - x'| / 2
    double half_cosine;  // cos(theta/2)
};

// D_alpha(P || Q), the same as D_alpha(Q || P).
// Range: 0 <= nu <= 1e100, 0 <= kappa <= 1e100, 0 <= half_chord <= 1, alpha > 0: 1 is the
// Kullback-Leibler divergence, inf the max-divergence 2 z. Relative error: 1.5e-15, if the result
// is above 1e-300.
// NaN and what is out of range give NaN or nonsense, alpha <= 0 NaN. Never above 2 z.
inline __attribute__((always_inline)) double vmf_renyi(const VmfPair& pair, double alpha) {
    const double z = pair.half_chord * pair.kappa;
    const double distance = std::fabs(alpha - 1.0);
    const double along = (2.0 * alpha - 1.0) * pair.half_chord;
    const double other =
        std::sqrt(pair.half_cosine * pair.half_cosine + along * along) * pair.kappa;
    // A little more, for its square to be in range. With j the zeros of J_nu, the slope of L is the
    // sum of 1/(j^2 + x^2), so |d log S / d x0| <= 2 x0/(j^2 + x0^2) for the first, less than 1/2.
    const double x0 = (other < pair.kappa ? other : pair.kappa) + 0x1p-60;
    // The secant over less than this part of x0^2 is the tangent to 19 digits; at alpha = 1 it is
    // the tangent.
    const double least = 0x1p-64 * (x0 * x0);
    const double product = 4.0 * z * alpha;
    const double width = product * (distance * z);
    double used = width < least ? least : width;
    used = used > 1e300 ? 1e300 : used;
    const double result = product * z * (log_sphere_mean_rise(pair.nu, x0, used) / used);
    // An interval of more than 1e300 needs alpha z > 5e149, so that L(x1) = x1 and D = 2 z to 45
    // digits.
    const bool is_far = (width > 1e300) | (alpha == kInfinity);
    const double bounded = ((result > 2.0 * z) | is_far) ? 2.0 * z : result;
    return alpha > 0.0 ? bounded : kNaN;
}

}  // namespace
}  // namespace tightnoise
