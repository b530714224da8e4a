// The pairs of two-point distributions that have the largest delta at their epsilon, for a given
// Renyi divergence: what the optimal conversion is made of.
//
// P = (p, 1-p), Q = (q, 1-q). With h = alpha - 1 and F(p, q) = p^alpha q^(-h) + (1-p)^alpha
// (1-q)^(-h), D = log(F)/h. F is jointly convex, so the largest delta = p - e^eps q with F <= M,
// the smallest eps with p - e^eps q <= delta, and the smallest F with p - e^eps q >= delta are all
// where the gradient of F is normal to the line: e^eps = -F_q/F_p. Let u = log(p/q) >= 0,
// v = -log((1-p)/(1-q)) >= 0 and w = u + v. Then
//     p = (1 - e^-v)/(1 - e^-w),   q = e^-u p,
//     1 - q = (1 - e^-u)/(1 - e^-w),   1 - p = e^-v (1 - q),
//     F_p = alpha e^(hu) (1 - e^(-hw)),   F_q = -h e^(alpha u) (1 - e^(-alpha w)),
//     eps = u + psi(w),   psi(w) = log[(h/alpha) (1 - e^(-alpha w))/(1 - e^(-hw))] < 0,
//     delta = p (1 - e^psi(w)) = (1 - e^-v) K(w),   K(w) = (1 - e^psi(w))/(1 - e^-w).
// K runs from 1/2 at w = 0 to 1/alpha at infinity, so delta < 1/alpha unless v = infinity (p = 1).
// eps alone fixes u + psi(w), delta alone (1 - e^-v) K(w): each search is for one number.
//
// Nothing cancels: with lead(t) = 1 - (1 + t) e^-t and below(t) = e^-t - 1 + t, both positive,
//     1 - e^psi(w) = [lead(hw) + h e^(-hw) below(w)]/(alpha (1 - e^(-hw))),
//     psi'(w) = -e^(-hw) [h lead(w) + e^-w below(hw)]/((1 - e^(-alpha w)) (1 - e^(-hw))),
//     (F - 1) e^(-hu) = p [lead(hu) + h e^(-hu) below(u)]
//                       + (1 - p) e^(-hu) [below(hv) + h e^v lead(v)],
// the last because F - 1 = E_P[e^(hL) - 1 - hL] + h E_P[e^-L - 1 + L] for L = log(P/Q).
//
// A point near the optimum is as good: along the curve D = D(eps, delta),
//     dD = F_p/(hF) (ddelta + p e^psi deps),
// and by convexity the error of the linear step is of second order.
#pragma once

#include <algorithm>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// e^-t and what is missing from it, for t >= 0; each to a few units in the last place.
struct Decay {
    explicit Decay(double t) {
        if (t <= 1.0) {
            below = t * t * polynomial_in_halves(kExpm1mx, -t);
            gone = t - below;
            rest = 1.0 - gone;
            lead = t * gone - below;
        } else {
            rest = exp(-t);
            gone = 1.0 - rest;
            below = t - gone;
            lead = gone - t * rest;
        }
    }

    double rest;   // e^-t
    double gone;   // 1 - e^-t
    double below;  // e^-t - 1 + t
    double lead;   // 1 - (1 + t) e^-t
};

// The functions of w alone.
struct Slope {
    Slope(double alpha, double log_ratio)
        : w(log_ratio), once(w), often((alpha - 1.0) * w), scale((alpha - 1.0) / often.gone) {
        const double both_gone = often.gone + often.rest * once.gone;  // 1 - e^(-alpha w)
        loss = (often.lead / often.gone + scale * often.rest * once.below) / alpha;
        if (loss < 0.5) {
            kept = 1.0 - loss;
            psi = log1p(-loss);
        } else {
            kept = scale * both_gone / alpha;
            psi = log(kept);
        }
        psi_slope =
            -often.rest * (scale * once.lead + once.rest * often.below / often.gone) / both_gone;
        k = loss / once.gone;
        log_k_slope = -kept * psi_slope / loss - once.rest / once.gone;
    }

    double w;
    Decay once, often;  // of w and of (alpha - 1) w
    double scale;       // (alpha - 1)/(1 - e^(-(alpha - 1) w)), about 1/w for small w
    double loss, kept;  // 1 - e^psi and e^psi
    double psi, psi_slope;
    double k, log_k_slope;  // K and (log K)'
};

// The pair with the log ratios u > 0 and v > 0; slope is that of w = u + v.
struct ExtremalPair {
    ExtremalPair(double alpha, const Slope& slope, double log_ratio, double other_log_ratio)
        : u(log_ratio), v(other_log_ratio) {
        const double h = alpha - 1.0;
        const Decay at_u(u), at_hu(h * u), at_v(v), at_hv(h * v);
        const double p = at_v.gone / slope.once.gone;
        const double one_minus_q = at_u.gone / slope.once.gone;
        epsilon = u + slope.psi;
        delta = at_v.gone * slope.k;
        excess = p * (at_hu.lead / h + at_hu.rest * at_u.below) +
                 one_minus_q * at_hu.rest * (at_v.rest * at_hv.below / h + at_v.lead);
        rest = at_hu.rest;
        full = rest + h * excess;
        slack = h * excess / (alpha * slope.often.gone);
        per_rdp = h * full / (alpha * slope.often.gone);
        per_epsilon = p * slope.kept;
        complement = at_v.rest * one_minus_q + per_epsilon;
        log_delta_slope = at_v.rest / at_v.gone;
        rdp = divergence(h);
    }

    // target - delta, to a few units in the last place of 1 - target where that is small.
    double delta_short_of(double target) const {
        return target < 0.5 ? target - delta : complement - (1.0 - target);
    }

    double u, v;
    double epsilon, delta, rdp;
    double complement;       // 1 - delta = 1 - p + e^eps q
    double excess;           // (F - 1) e^(-hu)/h
    double rest;             // e^(-hu)
    double full;             // F e^(-hu)
    double slack;            // (F - 1)/F_p
    double per_rdp;          // hF/F_p: what delta gains by a unit of divergence
    double per_epsilon;      // p e^psi = e^eps q: what delta loses by a unit of epsilon
    double log_delta_slope;  // of log(1 - e^-v)

  private:
    // log(F)/h. F - 1 may be small also where e^(hu) is huge, for p can be as small as delta.
    double divergence(double h) const {
        if (h * u < 600.0) {
            const double f_minus_1 = h * excess / rest;
            return f_minus_1 > 1e-16 ? log1p(f_minus_1) / h : excess / rest;
        }
        const double log_f_minus_1 = h * u + log(h * excess);
        return log_f_minus_1 < 40.0 ? log1p(exp(log_f_minus_1)) / h : u + log(full) / h;
    }
};

}  // namespace
}  // namespace tightnoise
