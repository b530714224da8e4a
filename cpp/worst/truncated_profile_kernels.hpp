// The hockey-stick divergence of two truncated Gaussians at the sensitivity's distance within the
// domain, and how it changes as the two values move.
//
// Units of sigma, measured from the lower bound: the domain is [0, w], M(s) has the density
//     p_s(y) = e^(s y - y^2/2 - A(s)) on [0, w],     A(s) = log integral_0^w e^(s y - y^2/2) dy,
// an exponential family with mean m(s) = A'(s) and variance V(s) = A''(s) <= 1 (Brascamp-Lieb).
// P = M(s), Q = M(s + k). The likelihood ratio p/q = e^(A(s+k) - A(s) - k y) falls with y, so with
// F = P(y <= x) and S = 1 - F
//     delta(s) = (F_s(x) - e^epsilon F_{s+k}(x))_+  at  x(s) = (A(s+k) - A(s) - epsilon)/k,
// where p_s(x) = e^epsilon p_{s+k}(x), and delta(s) = 0 where x(s) <= 0. For epsilon >= 0,
// x(s) < w. x rises with s: x' = (m(s+k) - m(s))/k is in [0, 1].
//
// The slope. At fixed x, dF_s/ds = p_s(0) S_s + p_s(w) F_s - p_s(x). The terms in p(x) cancel, the
// derivative by x is 0, and e^epsilon p_{s+k}(y) = p_s(y) e^(k (y - x)):
//     delta'(s) = rise - fall,
//     rise = p_s(0) S_s (1 - e^-X),                  e^-X = e^(-k x) S_{s+k}/S_s,
//     fall = e^epsilon p_{s+k}(w) F_{s+k} (1 - e^-Y),   e^-Y = e^(-k (w-x)) F_s/F_{s+k}.
// delta is continuously differentiable: where x <= 0, rise = fall = 0.
//
// Along x(s), X rises with s from 0 and Y falls to 0, so that rise and fall are >= 0. Proof: with
// the mean b(s) above x, and the hazard h_s = p_s(x)/S_s,
//     X  = epsilon + 2 k x - log E_s[e^(k y) | y > x],
//     X' = 2 k x' - [b(s+k) - b(s)] - x' (h_s - h_{s+k}).
// For a log-concave density the hazard rises with x, hence S(x) (b - x) = integral_x S <= S(x)/h:
// (i) h (b - x) <= 1, which says too that b - x falls with x, and therefore (ii) E[(y-x)^2 | y > x]
// = 2 integral_x S(y) (b(y) - y) dy/S(x) <= 2 (b - x)^2: Var[y | y > x] <= (b - x)^2, which is
// equivalent to Var[y | y > x] falling with x. By (ii) the first bracket, an integral of Var[y | y
// > x], is at most that of V, m(s+k) - m(s) = k x'. As dh/ds = -h (b - x), by (i) the second is at
// most k. So X' >= 0. Both brackets are >= 0: X' <= 2 k x'. Where x(s) = 0 (for s -> -inf if
// epsilon = 0; nothing here needs s >= 0), X = 0. The mirror image y -> w - y, with -epsilon for
// epsilon, gives the same for
//     Y = k (w - 2 x) + log E_s[e^(k y) | y < x] - epsilon,   Y' in [-2 k x', 0],   Y(inf) = 0,
// for as s grows x goes to w - epsilon/k, and y < x to x.
//
// So on a cell s0 <= s <= s1 both parts have simple bounds, made of the monotone factors. p_s(0)
// falls with s, p_{s+k}(w) rises, S_s(x) rises with s and falls with x, F_{s+k}(x) the other way:
//     p_{s1}(0) S_{s0}(x1) (1 - e^-X(s0)) <= rise <= p_{s0}(0) S_{s1}(x0) (1 - e^-X(s1))
// and likewise fall. They are off by a fraction of the order of the cell's width, however small
// rise and fall are: in a wide domain they are e^-(s^2/2) and delta is flat, in a narrow one, or
// for close values, everything shrinks alike.
#pragma once

#include "runtime/simd_level.hpp"

namespace tightnoise {

// A domain and two values in it, as numbers of any unit; epsilon >= 0, 0 < sensitivity <= width.
struct TruncatedProblem {
    double sigma;
    double width;
    double sensitivity;
    double epsilon;
};

// A pair of values: the greater one is `room` sigma below the upper bound, s = w - k - room.
struct TruncatedPair {
    double room;
    double s, s_low;               // hi + lo
    double x, x_low;               // the threshold, at least 0
    double log_delta;              // -inf where delta = 0
    double log_rest;               // log(1 - delta), with its own digits
    double log_mass;               // log P(N(s, 1) in the domain)
    double log_mass_shifted;       // the same of s + k
    double least_gain, most_gain;  // bounds of 1 - e^-X, and of 1 - e^-Y
    double least_loss, most_loss;
    double log_rise, log_fall;  // inf and -inf where delta = 0: it rises
};

// Bounds of the slope of delta by s, in units of e^log_unit, all over the cell between two pairs.
struct SlopeBounds {
    double least, most;
};

struct TruncatedProfileKernels {
    // Range: w = width/sigma up to 1e150, room in [0, w - k]. delta is that of an epsilon which is
    // lower by what rounding may do to the threshold, so that it is not below the truth for that;
    // beyond it the relative error of delta, and of 1 - delta, is below 2e-12. No NaN.
    TruncatedPair (*pair)(const TruncatedProblem& problem, double room);
    SlopeBounds (*slopes)(const TruncatedProblem& problem, const TruncatedPair& lower,
                          const TruncatedPair& upper, double log_unit);
};
TIGHTNOISE_KERNEL_TABLE(TruncatedProfileKernels, truncated_profile_kernels)

}  // namespace tightnoise
