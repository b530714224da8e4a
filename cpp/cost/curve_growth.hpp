// Whether bounds at some orders can be those of a Renyi-DP curve.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "numeric/elementary.hpp"

namespace tightnoise {

// (alpha - 1) D_alpha = log E_Q (P/Q)^alpha is convex in alpha and 0 at alpha = 1 (van Erven and
// Harremoes 2014, Corollary 2) and not negative beyond, so it does not decrease from alpha = 1 on;
// the bounds of whoever claims otherwise are wrong at the later of the two orders, or useless at
// the earlier.
constexpr double kGrowthSlack = 1e-9;  // relative: what rounding may take away

// The index of the first bound that is below what an earlier order says, by more than the slack;
// n if there is none. Orders increase and may begin below 1 and end at infinity, where the product
// is infinite unless the bound is 0. Bounds are not negative; infinite ones are products of
// infinity (order 1: of 0), which nothing finite may follow.
inline std::size_t first_decrease(const double* alpha, const double* rdp, std::size_t n) {
    double greatest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!(alpha[i] > 1.0)) continue;
        const double product =
            rdp[i] == 0.0 ? 0.0 : (std::isinf(alpha[i]) ? kInfinity : (alpha[i] - 1.0) * rdp[i]);
        if (product < greatest * (1.0 - kGrowthSlack) &&
            greatest > std::numeric_limits<double>::min()) {
            return i;
        }
        greatest = product > greatest ? product : greatest;
    }
    return n;
}

}  // namespace tightnoise
