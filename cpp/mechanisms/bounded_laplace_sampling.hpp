// Sampling the Laplace distribution conditioned on [lower, upper] by inverting its distribution
// function: one uniform a sample, no rejection, any theta. Kernel-side header: internal linkage,
// one copy a level.
//
// Notation of bounded_laplace.hpp. With a share V of the mass below the sample, V Z - F(p) is the
// mass between theta and the sample, 1 - e^-t if it lies t above; so t = -log(1 - that), and where
// that is near 1 its complement is (1 - V) Z + e^-r: a sum of positive terms. Downwards likewise.
// The sample has an absolute error of a few units of the last place of the scale times t, of the
// support's width or of theta, whichever is least; near theta at a bound, or outside, t itself has
// full relative accuracy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/elementary.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace bounded_laplace_noise {

// e^-t and 1 - e^-t for t >= 0; beyond 700 those at 700. Relative error: 3e-16.
struct Decay {
    double kept, lost;
};
inline Decay decay(double t) {
    const ExpReduction e = reduce_exp(t < 700.0 ? -t : -700.0);
    const double power = power_of_two(e.k);
    const double rest = power * (e.r + e.r * e.r * polynomial_in_halves(kExp, e.r));
    return {power + rest, (1.0 - power) - rest};
}

inline double clip(double x, double lower, double upper) {
    const double above = x < lower ? lower : x;
    return above > upper ? upper : above;
}

constexpr std::size_t kCapacity = 128;  // elements of one keystream batch

// Samples n <= kCapacity elements. In two stages: short loops, so that the processor works on
// several elements at once.
template <class Real>
inline void sample_batch(const std::uint64_t* bits, const double* theta, const double* scale,
                         const double* inverse_scale, const double* lower, const double* upper,
                         Real* out, std::size_t n) {
    alignas(64) double complement[kCapacity];  // e^-t, as a sum
    alignas(64) double rest[kCapacity];
    alignas(64) double step[kCapacity];  // -scale upwards, scale downwards
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double mode = clip(theta[i], lower[i], upper[i]);
        const uniform::Shares share = uniform::shares(bits[i]);
        const Decay below = decay((mode - lower[i]) * inverse_scale[i]);
        const Decay above = decay((upper[i] - mode) * inverse_scale[i]);
        const double mass = below.lost + above.lost;
        const double mass_below = share.below * mass;
        const double mass_above = share.above * mass;
        // One of the two is positive, and exact to the last place where theta is at a bound.
        const double up = mass_below - below.lost;
        const double down = mass_above - above.lost;
        const double inner = up < 0.0 ? (down < 0.0 ? 0.0 : down) : up;
        const double outer = up < 0.0 ? mass_below + below.kept : mass_above + above.kept;
        const double less = 1.0 - inner;
        complement[i] = inner < 0.5 ? less : outer;
        rest[i] = inner < 0.5 ? (1.0 - less) - inner : 0.0;
        step[i] = up < 0.0 ? scale[i] : -scale[i];
    }
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double mode = clip(theta[i], lower[i], upper[i]);
        const double log_complement = log_of_sum(reduce_log_normal(complement[i]), rest[i]);
        const double x = clip(mode + step[i] * log_complement, lower[i], upper[i]);
        out[i] = static_cast<Real>(x);
    }
}

}  // namespace bounded_laplace_noise
}  // namespace
}  // namespace tightnoise
