// The Renyi divergence between Laplace noise and itself, shifted.
#pragma once

#include <cmath>

#include "numeric/elementary.hpp"

namespace tightnoise {

// Of order alpha >= 1, for a shift of t >= 0 scales (Mironov 2017, "Renyi Differential Privacy",
// Proposition 6 and Table II):
//
//     D = log( alpha/(2 alpha - 1) e^((alpha - 1) t) + (alpha - 1)/(2 alpha - 1) e^(-alpha t) )
//         / (alpha - 1),
//
// at 1 the limit t + e^-t - 1, at infinity t. With E(u) = e^u - 1 - u >= 0 the argument of the
// logarithm is 1 + (alpha E((alpha - 1) t) + (alpha - 1) E(-alpha t))/(2 alpha - 1): the first
// orders cancel. Relative error: 2e-15 where above 1e-300.
inline double laplace_renyi(double t, double alpha) {
    if (alpha == kInfinity || t == 0.0) return t;
    const double above = alpha - 1.0;
    if (above == 0.0) return expm1mx(-t);
    const double width = alpha + above;
    if (above * t <= 1.0) {
        const double excess =
            (alpha / width) * expm1mx(above * t) + (above / width) * expm1mx(-alpha * t);
        return std::log1p(excess) / above;
    }
    const double rest = (above / width) * std::exp(-width * t);
    return t + std::log(alpha / width + rest) / above;
}

}  // namespace tightnoise
