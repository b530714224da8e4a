// The sampled Gaussian as a pair of distributions, and its Renyi divergence as an expectation.
//
// With Q = N(0, s^2), P = (1 - q) Q + q N(1, s^2), a >= 1 the order and b = a - 1,
//     b D_a(P || Q) = log E_Q[(1 + u)^a],
//     1 + u = dP/dQ = 1 - q + q e^l,  l = z / s - 1 / (2 s^2),  z standard normal under Q.
// Of the two directions it is the larger one (Mironov, Talwar, Zhang 2019, "Renyi Differential
// Privacy of the Sampled Gaussian Mechanism", arXiv 1908.10530, Theorem 5).
//
// E_Q[u] = 0, so b D = log(1 + b X) with b X = E_Q[(1 + u)^a - 1 - a u]. With L = log(1 + u),
//     (1 + u)^a - 1 - a u = e^L (expm1mx(b L) + b expm1mx(-L)):
// both terms are >= 0. Nothing cancels, however small q or b is, and at b = 0, X is the
// Kullback-Leibler divergence.
#pragma once

#include "cost/sampled_excess.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// The pair, with what no order changes. 0 < q < 1; 1 / s^2 must not overflow.
struct SampledGaussianModel {
    double sigma, q;
    double inverse_sigma, half_precision;  // 1 / s, 1 / (2 s^2)
    double log_q, log_rest;                // log q, log(1 - q)
    double middle;                         // 1 / (2 s): the z with l = 0
    double crossing;                       // the z with q e^l = 1 - q

    SampledGaussianModel(double noise_multiplier, double sampling_rate)
        : sigma(noise_multiplier),
          q(sampling_rate > kLeastSamplingRate ? sampling_rate : kLeastSamplingRate),
          inverse_sigma(1.0 / sigma),
          half_precision(0.5 * inverse_sigma * inverse_sigma),
          log_q(log(q)),
          log_rest(log1p(-q)),
          middle(0.5 * inverse_sigma),
          crossing(middle + sigma * (log_rest - log_q)) {}

    // q e^l / (1 - q + q e^l), the slope of log(1 + u) in l.
    double weight(double z) const { return 1.0 / (1.0 + exp((crossing - z) * inverse_sigma)); }
    // a log(1 + u) - z^2 / 2, with errors of a few units of the last place of both.
    double exponent(double alpha, double z) const {
        const double x = (z - crossing) * inverse_sigma;
        const double log_ratio = log_rest + (x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x)));
        return alpha * log_ratio - 0.5 * z * z;
    }
};

// The part of X from the z where 1 + u is q e^l, if these carry all of E[e^(a l)]:
//     b X = q^a e^(a b / (2 s^2)) - a q = q (expm1mx(y) + y - b),  y = b (log q + a / (2 s^2)).
struct SampledPart {
    double b, q, log_q, slope, y;

    SampledPart(const SampledGaussianModel& m, double alpha)
        : b(alpha - 1.0),
          q(m.q),
          log_q(m.log_q),
          slope(m.log_q + alpha * m.half_precision),
          y(b * slope) {}

    double exponent() const { return log_q + y; }  // log(q^a e^(a b / (2 s^2)))
    double scaled(double reference) const {
        if (y > 40.0) return exp(exponent() - reference) / b;
        return q * ((b > 0.0 ? expm1mx(y) / b : 0.0) + (slope - 1.0)) * exp(-reference);
    }
};

}  // namespace
}  // namespace tightnoise
