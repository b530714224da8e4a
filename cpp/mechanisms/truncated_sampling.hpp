// Sampling N(theta, sigma^2) conditioned on [lower, upper] by inverting its distribution function:
// one uniform a sample, no rejection, any theta. Kernel-side header: internal linkage, one copy a
// level.
//
// Standardised and, if need be, mirrored so that the edge nearest to theta is the lower one, the
// density of t is proportional to phi(t) on [x, x + w] with w = (upper - lower) / sigma and
// x >= -w / 2: x < 0 is theta inside the support, x > 0 the distance to it. Write V for the
// uniform share of the mass that lies above the sample. Three regions, chosen for every element by
// (x, w) alone, each inverting a function in which nothing cancels:
//
//   narrow   w <= 1/16 and x w <= 1/16   the density hardly varies: Taylor series
//   centre   x < 2, not narrow             Phi^-1 of the smaller of the masses below and above
//   tail     x >= 2, not narrow            Halley's method on the logarithm of the mass above
//
// Each returns the sample with an absolute error of a few units of the last place of the support's
// width or of theta, whichever is less; the caller clips.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mechanisms/truncated_inside.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"
#include "numeric/normal_quantile.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace truncated {

// The mass above and below the sample, as shares of the whole.
using uniform::Shares;
using uniform::shares;

struct Standard {
    double x;
    double w;
    bool mirrored;
};

inline Standard standardise(double theta, double sigma, double lower, double upper) {
    constexpr double kLargest = 0x1.fffffffffffffp1023;
    const double inverse = 1.0 / sigma;
    const double scale = inverse < kLargest ? inverse : kLargest;  // 0 * scale must stay 0
    const double below = (lower - theta) * scale;
    const double above = (theta - upper) * scale;
    const double x = above > below ? above : below;
    // The square of x must not overflow; beyond 1e150 the sample is the edge.
    return {x < 1e150 ? x : 1e150, (upper - lower) * scale, above > below};
}

constexpr double kNarrow = 1.0 / 16;
constexpr double kTail = 2.0;

inline bool is_narrow(const Standard& s) {
    return s.w <= kNarrow && s.x * s.w <= kNarrow;
}

// exp(-a t - b t^2 / 2) at t = 1, and its mean over 0 < t < 1, from the Taylor coefficients e_k:
// k e_k = -(a e_(k-1) + b e_(k-2)).
// Range: |a| <= 1/16, 0 <= b <= 1/256. Relative error: 3e-16.
struct Decay {
    double end;
    double mean;
};

inline Decay decay(double a, double b) {
    constexpr double kInverse[] = {0,       1.0,     1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5,
                                   1.0 / 6, 1.0 / 7, 1.0 / 8, 1.0 / 9, 1.0 / 10};
    double before = 1.0;
    double term = -a;
    double end = 1.0 - a;
    double mean = 1.0 - 0.5 * a;
#pragma GCC unroll 16
    for (int k = 2; k <= 9; ++k) {
        const double next = -(a * term + b * before) * kInverse[k];
        before = term;
        term = next;
        end += term;
        mean += term * kInverse[k + 1];
    }
    return {end, mean};
}

// y = w s where s solves s mean(a s, b s^2) = T, T = below * mean(a, b), a = x w, b = w^2. The
// start inverts s - a s^2 / 2 + (a^2 - b) s^3 / 6 = T up to T^3 and is right to 1e-4; Halley's step
// cubes that, times less than 1e-3.
inline double narrow(double theta, double sigma, double lower, double upper, std::uint64_t bits) {
    const Standard standard = standardise(theta, sigma, lower, upper);
    const double a = standard.x * standard.w;
    const double b = standard.w * standard.w;
    const double target = shares(bits).below * decay(a, b).mean;
    const double start =
        target * (1.0 + target * (0.5 * a + target * ((1.0 / 3) * a * a + (1.0 / 6) * b)));
    const Decay here = decay(a * start, b * start * start);
    const double newton = (start * here.mean - target) / here.end;
    const double s = start - newton / (1.0 + 0.5 * newton * (a + b * start));
    const double offset = (upper - lower) * s;
    return standard.mirrored ? upper - offset : lower + offset;
}

// The normal quantile that a sample is: Phi^-1(smaller), negated if need be. Q(t) = 1 - Phi(t) of
// the sample lies between those of the edges; p is the mass of N(0, 1) beyond the nearer edge, on
// the far side of 0, and q the mass beyond the farther one.
inline void centre(double theta, double sigma, double lower, double upper, std::uint64_t bits,
                   double& smaller, double& sign) {
    const Standard standard = standardise(theta, sigma, lower, upper);
    const Shares share = shares(bits);
    // Beyond 20 there is nothing beside a share of at least 2^-65; subnormals would cost time.
    const double near = std::fabs(standard.x);
    const double far = standard.x + standard.w;
    const double p = ndtr(near < 20.0 ? -near : -20.0);
    const double q = ndtr(far < 20.0 ? -far : -20.0);
    const double inside = (0.5 - p) + (0.5 - q);
    const double mass = standard.x < 0.0 ? inside : p - q;
    const double above = q + share.above * mass;
    const double below = standard.x < 0.0 ? p + share.below * mass : 1.0;
    smaller = below < above ? below : above;
    sign = (below < above) == standard.mirrored ? -1.0 : 1.0;
}

// With the Mills ratio m and hazard h = 1 / m, the share of the mass of N(0, 1) beyond x that lies
// beyond x + y is S(y) = exp(-x y - y^2 / 2) m(x + y) / m(x). The sample solves S(y) = 1 - Q with
// Q = below (1 - S(w)); that is, F(y) = -log S(y) = L. F' = h(x + y), F'' = h (h - x - y).
// The start solves F(0) + F'(0) y + F''(0) y^2 / 2 = L; after two steps of Halley's method its
// error of 3 % (x = 2) is 3e-18.
inline void tail(double theta, double sigma, double lower, double upper, std::uint64_t bits,
                 double& distance, double& hazard_there, double& target) {
    const Standard standard = standardise(theta, sigma, lower, upper);
    const Shares share = shares(bits);
    const double x = standard.x;
    const double w = standard.w;
    const double h0 = 1.0 / mills_positive(x);
    const double exponent = -w * (x + 0.5 * w);
    // Below e^-100 it is nothing beside a share of at least 2^-65; a subnormal would cost time.
    const double decay_to_end = exp(exponent > -100.0 ? exponent : -100.0);
    const double rest = decay_to_end * mills_positive(x + w) * h0;
    // 1 - Q, as a sum of two doubles where it is near 1 and of positive terms where it is not.
    const double q = share.below * (1.0 - rest);
    const double complement = 1.0 - q;
    const double survival = q < 0.5 ? complement : share.above + share.below * rest;
    distance = x;
    hazard_there = h0;
    target = -log_of_sum(survival, q < 0.5 ? (1.0 - complement) - q : 0.0);
}

inline double tail_start(double x, double h0, double target) {
    return 2.0 * target / (std::sqrt(h0 * h0 + 2.0 * target * h0 * (h0 - x)) + h0);
}

inline double tail_step(double x, double h0, double target, double y) {
    const double t = x + y;
    const double m = mills_positive(t);
    const double newton = (y * (x + 0.5 * y) - log_positive(m * h0) - target) * m;
    return y - newton / (1.0 - 0.5 * newton * (1.0 / m - t));
}

constexpr std::size_t kCapacity = 128;  // elements of one keystream batch

// out[i] = sample(i) where region[i] == which.
template <class Sample>
inline void fill(double which, const double* region, double* out, std::size_t n, Sample&& sample) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double x = sample(i);
        out[i] = region[i] == which ? x : out[i];
    }
}

inline void clip(const double* lower, const double* upper, double* out, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double x = out[i] < lower[i] ? lower[i] : out[i];
        out[i] = x > upper[i] ? upper[i] : x;
    }
}

// Samples n <= kCapacity elements from one keystream batch; `inside`, where usable, takes those
// that it contains. Which function an element goes through depends on nothing but its own
// parameters; a function costs time only if some element of the batch needs it.
inline void sample_batch(const std::uint64_t* words, const Inside& inside, const double* theta,
                         const double* sigma, const double* lower, const double* upper, double* out,
                         std::size_t n) {
    std::memcpy(out, theta, n * sizeof *out);
    if (inside.usable()) {
        double count = 0.0;
#pragma omp simd reduction(+ : count)
        for (std::size_t i = 0; i < n; ++i) count += inside.contains(theta[i]) ? 1.0 : 0.0;
        if (count > 0.0) {
            const Inside local = inside;  // of which the compiler knows that out is no part
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) out[i] = local.sample(theta[i], words[i]);
        }
        if (count == static_cast<double>(n)) return clip(lower, upper, out, n);
    }

    constexpr double kIsInside = 0.0;
    constexpr double kIsNarrow = 1.0;
    constexpr double kIsCentre = 2.0;
    constexpr double kIsTail = 3.0;
    const bool takes_inside = inside.usable();
    alignas(64) double region[kCapacity];
    double narrow_count = 0.0;
    double centre_count = 0.0;
    double tail_count = 0.0;
#pragma omp simd reduction(+ : narrow_count, centre_count, tail_count)
    for (std::size_t i = 0; i < n; ++i) {
        const Standard standard = standardise(theta[i], sigma[i], lower[i], upper[i]);
        double which = standard.x < kTail ? kIsCentre : kIsTail;
        which = is_narrow(standard) ? kIsNarrow : which;
        which = takes_inside && inside.contains(theta[i]) ? kIsInside : which;
        narrow_count += which == kIsNarrow ? 1.0 : 0.0;
        centre_count += which == kIsCentre ? 1.0 : 0.0;
        tail_count += which == kIsTail ? 1.0 : 0.0;
        region[i] = which;
    }
    if (narrow_count > 0.0) {
        fill(kIsNarrow, region, out, n, [&](std::size_t i) {
            return narrow(theta[i], sigma[i], lower[i], upper[i], words[i]);
        });
    }
    // In stages: short loops, so that the processor works on several elements at once.
    if (centre_count > 0.0) {
        alignas(64) double smaller[kCapacity];
        alignas(64) double sign[kCapacity];
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            centre(theta[i], sigma[i], lower[i], upper[i], words[i], smaller[i], sign[i]);
        }
        fill(kIsCentre, region, out, n,
             [&](std::size_t i) { return theta[i] + sigma[i] * (sign[i] * ndtri(smaller[i])); });
    }
    if (tail_count > 0.0) {
        alignas(64) double x[kCapacity];
        alignas(64) double h0[kCapacity];
        alignas(64) double target[kCapacity];
        alignas(64) double y[kCapacity];
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            tail(theta[i], sigma[i], lower[i], upper[i], words[i], x[i], h0[i], target[i]);
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) y[i] = tail_start(x[i], h0[i], target[i]);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) y[i] = tail_step(x[i], h0[i], target[i], y[i]);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) y[i] = tail_step(x[i], h0[i], target[i], y[i]);
        fill(kIsTail, region, out, n, [&](std::size_t i) {
            const bool mirrored = theta[i] - upper[i] > lower[i] - theta[i];
            return mirrored ? upper[i] - sigma[i] * y[i] : lower[i] + sigma[i] * y[i];
        });
    }
    clip(lower, upper, out, n);
}

}  // namespace truncated
}  // namespace
}  // namespace tightnoise
