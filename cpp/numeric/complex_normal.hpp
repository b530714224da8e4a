// The normal distribution at complex arguments near the real axis: scaled erfc, tails, intervals.
//
// Not a kernel: it serves proofs about analytic functions (sketch/ANALYTIC_BOUND.md), where
// some 10^4 values are needed and a relative error of 1e-12 is ample.
#pragma once

#include <cmath>
#include <complex>

#include "numeric/elementary.hpp"

namespace tightnoise {

using Complex = std::complex<double>;

// The nodes of the rules below and their weights, made as the core is loaded: a child forked while
// the first call makes them would wait for them for ever.
struct ErfcxNodes {
    static constexpr int kTerms = 12;
    double step = std::sqrt(3.14159265358979323846 / kTerms);
    double square[2][kTerms], weight[2][kTerms];

    ErfcxNodes() {
        for (int k = 0; k < kTerms; ++k) {
            const double midpoint = (k + 0.5) * step, integer = (k + 1) * step;
            square[0][k] = midpoint * midpoint;
            square[1][k] = integer * integer;
            weight[0][k] = std::exp(-square[0][k]);
            weight[1][k] = std::exp(-square[1][k]);
        }
    }
};
inline const ErfcxNodes kErfcxNodes;

// erfcx(x) = exp(x^2) erfc(x) for Re x >= 0.
//
// w(z) = erfcx(-iz) by the trapezoidal rules of Al Azah & Chandler-Wilde, "Computation of the
// Complex Error Function using Modified Trapezoidal Rules" (SIAM J. Numer. Anal. 59, 2021),
// N = 11, h = sqrt(pi / 12): midpoint nodes (k + 1/2) h, or nodes k h when z is near a midpoint
// node, each with the residue 2 exp(-z^2) / (1 +- exp(-2 i pi z / h)) of the pole at z.
// Valid: Re x >= 0, |Im x| <= 2. Relative error <= 1e-13.
inline Complex erfcx_right_half_plane(Complex x) {
    constexpr int kTerms = ErfcxNodes::kTerms;
    const ErfcxNodes& nodes = kErfcxNodes;
    const double step = nodes.step;

    const double re = std::fabs(x.imag()), im = x.real();  // z in the first quadrant
    const Complex z(re, im), z2(re * re - im * im, 2 * re * im);
    const double offset = re / step - std::floor(re / step);
    const int rule = im < re && offset >= 0.25 && offset <= 0.75;
    double sum_re = 0, sum_im = 0;
    for (int k = 0; k < kTerms - rule; ++k) {
        const double d = z2.real() - nodes.square[rule][k];
        const double scale = nodes.weight[rule][k] / (d * d + z2.imag() * z2.imag());
        sum_re += scale * d;
        sum_im -= scale * z2.imag();
    }
    Complex w = Complex(0, 2 * step / kPi) * z * Complex(sum_re, sum_im);
    if (rule == 1) w += Complex(0, step / kPi) / z;
    if (im < kPi / step) {
        const Complex turn = std::exp(Complex(2 * kPi * im / step, -2 * kPi * re / step));
        w += 2.0 * std::exp(-z2) / (rule == 1 ? 1.0 - turn : 1.0 + turn);
    }
    return x.imag() > 0 ? std::conj(w) : w;
}

// The upper tail Q(t) = P(Z > t): its logarithm and its hazard phi(t) / Q(t) = -(log Q)'(t).
// Valid: |Im t| <= 1.8, where Q has no zero and log is the branch that is real on the real axis
// (ANALYTIC_BOUND.md, Lemma 2).
struct NormalTail {
    Complex log;
    Complex hazard;
};

inline NormalTail normal_tail(Complex t) {
    constexpr double kSqrtHalf = 0.70710678118654752440, kInvSqrt2Pi = 0.39894228040143267794;
    if (t.real() >= 0) {
        const Complex half = 0.5 * erfcx_right_half_plane(t * kSqrtHalf);
        return {std::log(half) - 0.5 * t * t, kInvSqrt2Pi / half};
    }
    const Complex density = std::exp(-0.5 * t * t);
    const Complex tail = 1.0 - 0.5 * density * erfcx_right_half_plane(-t * kSqrtHalf);
    return {std::log(tail), kInvSqrt2Pi * density / tail};
}

// The mass d = Q(u) - Q(u + width) of an interval: its logarithm (the branch that is real on the
// real axis where ANALYTIC_BOUND.md, Lemma 2, says so) and
// -(log d)'(u) = (phi(u) - phi(u + width)) / d, the mean of the normal law on the interval.
// Loses about 1e-15 / width of relative accuracy.
struct NormalInterval {
    Complex log;
    Complex mean;
};

inline NormalInterval normal_interval(Complex u, double width) {
    constexpr double kSqrtHalf = 0.70710678118654752440, kInvSqrt2Pi = 0.39894228040143267794;
    const bool reflect = u.real() + 0.5 * width < 0;
    const Complex lo = reflect ? -u - width : u, hi = lo + width;  // midpoint on the right
    const Complex hi_tail = 0.5 * erfcx_right_half_plane(hi * kSqrtHalf);
    NormalInterval out;
    if (lo.real() >= 0) {  // everything in units of exp(-lo^2 / 2)
        const Complex ratio = std::exp(-width * (lo + 0.5 * width));
        const Complex mass = 0.5 * erfcx_right_half_plane(lo * kSqrtHalf) - ratio * hi_tail;
        out = {std::log(mass) - 0.5 * lo * lo, kInvSqrt2Pi * (1.0 - ratio) / mass};
    } else {
        const Complex at_lo = std::exp(-0.5 * lo * lo), at_hi = std::exp(-0.5 * hi * hi);
        const Complex mass =
            1.0 - 0.5 * at_lo * erfcx_right_half_plane(-lo * kSqrtHalf) - at_hi * hi_tail;
        out = {std::log(mass), kInvSqrt2Pi * (at_lo - at_hi) / mass};
    }
    if (reflect) out.mean = -out.mean;
    return out;
}

}  // namespace tightnoise
