// A Renyi divergence from what E_Q[(dP/dQ)^a] has above 1.
#pragma once

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// Smaller sampling rates q are taken as this, so that q times a likelihood ratio is in range where
// it matters.
constexpr double kLeastSamplingRate = 1e-300;

// X = (E_Q[(dP/dQ)^a] - 1) / (a - 1) as e^reference times a number; reference >= 0, and 0 where X
// cannot overflow. For a = 1, X is the Kullback-Leibler divergence.
struct ScaledExcess {
    double scaled, reference;
};

inline double reference_for(double exponent) {
    return exponent > 30.0 ? exponent : 0.0;
}

// D from X and b = a - 1: log(1 + b X) / b. Order 1 has reference 0.
inline double divergence(ScaledExcess x, double b) {
    if (b == 0.0) return x.scaled;
    if (x.reference == 0.0) return log1p(b * x.scaled) / b;
    return (x.reference + log(b * x.scaled + exp(-x.reference))) / b;
}

}  // namespace
}  // namespace tightnoise
