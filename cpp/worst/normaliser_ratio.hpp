// The normaliser of a truncated Gaussian against that of the worst case, its centre at an edge.
// Branch-free. Kernel-side header: internal linkage, one copy a level.
//
// With the support [0, w] in units of sigma and the centre at t, the mass of the Gaussian inside is
//     Z(t) = Phi(w - t) - Phi(-t),   Z(k) = N(k) + N(w - k),   N(x) = Phi(x) - 1/2.
#pragma once

#include "worst/central_mass.hpp"
#include "worst/narrow_mean.hpp"

namespace tightnoise {
namespace {

// Phi(w) - Phi(w - k) for k w < 1, k <= w, from the density at the middle m = w - k/2.
inline double narrow_mass_below(double k, double w) {
    const double m = w - 0.5 * k;
    return kInverseSqrtTwoPi * exp_minus_half_square(m) * k * narrow_mean(k, m);
}

constexpr double kSmallWidth = 1.25;

// Z(k) - Z(0) = N(k) + N(a) - N(w), a = w - k, divided by Z(0) = N(w), for w < 5/4. The series of
// N, of which the differences (w^j - k^j - a^j) / (k a w^(j - 2)) = u_j are positive and follow
// from
//     u_1 = 0,  u_3 = 3,  u_(j + 2) = 2 + x + (1 - 2 x) u_j - x^2 u_(j - 2),   x = k a / w^2.
// Relative error: 2e-15, however small k, a and w.
inline double small_normaliser_excess(double k, double w, double mass) {
    const double a = w - k;
    const double share = k / w;
    const double x = share * (1.0 - share);
    // Within [1e-16, 25/16]: smaller squares change nothing, but their powers would be subnormal.
    const double wider = w < kSmallWidth ? w * w : kSmallWidth * kSmallWidth;
    const double square = wider < 1e-16 ? 1e-16 : wider;
    double before = 0.0;
    double now = 3.0;
    double power = 1.0;
    double sum = 0.0;
#pragma GCC unroll 32
    for (int n = 1; n < 18; ++n) {
        sum -= kCentralMass[n] * power * now;
        const double next = (2.0 + x) + ((1.0 - 2.0 * x) * now - x * x * before);
        before = now;
        now = next;
        power *= square;
    }
    return k * a * sum * (kInverseSqrtTwoPi * w / mass);
}

// Z(k)/Z(0) - 1 >= 0, and Z(k), for 0 <= k <= w, w > 0.
// Range: w from 1e-150 to 1e150. Error of the excess: 2e-15 of itself for w < 5/4 or k <= w/2, and
// else 1e-15 k w. NaN gives NaN.
struct NormaliserRatio {
    double excess;
    double mass;
};

inline NormaliserRatio normaliser_ratio(double k, double w) {
    const double a = w - k;
    const double whole = central_mass(w);
    const double near = central_mass(k);
    const double far = central_mass(a);
    // Z(k) - Z(0) = N(k) - [N(w) - N(a)]: the second, smaller part is a difference of two numbers
    // near 1/2, which k w < 1 may leave no digits of.
    const double narrow = narrow_mass_below(k, w);
    const double wide = whole - far;
    const double below = k * w < 1.0 ? narrow : wide;
    const double large = (near - below) / whole;
    const double small = small_normaliser_excess(k, w, whole);
    const double excess = w < kSmallWidth ? small : large;
    return {excess > 0.0 ? excess : excess - excess, near + far};
}

// phi(w - k) - phi(k), negative for k < w/2. Relative error: 1e-15 (2e-16 w^2 more next to k = w/2,
// where it vanishes).
inline double density_difference(double k, double w) {
    const double a = w - k;
    const double nearer = k < a ? k : a;
    const double exponent = 0.5 * w * (k - a);
    const double fall = -expm1(exponent > 0.0 ? -exponent : exponent);
    const double difference = kInverseSqrtTwoPi * exp_minus_half_square(nearer) * fall;
    return exponent < 0.0 ? -difference : difference;
}

}  // namespace
}  // namespace tightnoise
