// The exponent f(d) of the law of a von Mises-Fisher loss: see vmf_loss_law.hpp. Branch-free for
// each VmfSphere. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>

#include "mechanisms/vmf_loss_kernels.hpp"
#include "numeric/bessel.hpp"
#include "numeric/log1p_remainder.hpp"

namespace tightnoise {
namespace {

// E = e^(-2 d) and e = E - 1, both with all their digits.
struct Decay {
    double e, E;
};

inline Decay decay(double d) {
    const double rise = expm1(2.0 * std::fabs(d));
    const double power = 1.0 + rise;
    const double inverse = 1.0 / power;
    return d > 0.0 ? Decay{-rise * inverse, inverse} : Decay{rise, power};
}

// log A(z) less the leading part of Debye's expansion and a constant; H = hypot(n, z). Where the
// expansion has not settled, all that matters is that this is not large.
template <VmfSphere Sphere>
inline double sphere_rest(double n, double H) {
    if constexpr (Sphere == VmfSphere::kCircle) return log1p(exp(-2.0 * H));
    const double settled = H > kDebyeOrder ? H : kDebyeOrder;
    const double v = 1.0 / settled;
    const double t = n * v;
    return debye_sum(kDebye, t * t, v) - 0.5 * log_positive(settled);
}

// log A(z* / q) - log A(z*), but for what is a multiple of log q; w = q^-2 - 1.
template <VmfSphere Sphere>
inline __attribute__((always_inline)) double sphere_part(const VmfLossShape& s, double w,
                                                         double one_plus_w) {
    const double n = s.order;
    if constexpr (Sphere == VmfSphere::kRecurrence) {
        const double z = std::sqrt(s.z_square);
        return log_sphere_mean_rise(n, z, z * z * (w > -1.0 ? w : -1.0));
    }
    const double H = std::sqrt(n * n + s.z_square * one_plus_w);
    const double upper = s.H + n;
    const double lower = s.z_square / upper;  // H* - n
    const double x = w * (upper / (s.H + H));
    const double y = x * (lower / upper);
    const double ratio = (H + n) / upper;
    return 0.5 * (lower * log1p_remainder(x, one_plus_w / ratio) +
                  upper * log1p_remainder(y, ratio)) +
           (sphere_rest<Sphere>(n, H) - s.rest);
}

// log density of v* + d, less that of v*: never above a rounding error.
template <VmfSphere Sphere>
inline __attribute__((always_inline)) double exponent(const VmfLossShape& s, double d) {
    const auto [e, E] = decay(d);
    const double inverse = 1.0 / (2.0 + s.U * e);
    const double S = -e * inverse;
    const double log_cosh = 0.5 * log1p(0.25 * e * (e / E));
    const double f =
        S * s.along_S - s.M * (log1p_remainder(-s.T * S, (2.0 + e) * inverse) + log_cosh);
    if constexpr (Sphere == VmfSphere::kNone) return f;
    const double w = e * inverse * ((4.0 * s.T - s.U * s.U * e) * inverse);  // q^-2 - 1
    const double one_plus_w = 4.0 * (E * inverse) * inverse;
    const double log_q = -0.5 * (w > -0.5 ? log1p(w) : log_positive(one_plus_w));
    return f + (log_q * s.along_log_q + sphere_part<Sphere>(s, w, one_plus_w));
}

inline double loss_rise(const VmfLossRise& l, double r) {
    const double fall = expm1(-2.0 * r);
    return l.base - l.gain * fall / (l.D + l.UE * fall);
}

}  // namespace
}  // namespace tightnoise
