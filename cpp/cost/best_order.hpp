// The best real order of a Renyi-DP curve: the one that proves the smallest epsilon, or delta.
//
// Any order proves something true, so that the search can only err upwards; it is exact to 1e-10
// of epsilon or delta where the proof below holds and bounds are that smooth, so that other
// searches can be made over it.
//
// With h = alpha - 1, K = h D (convex in alpha, van Erven and Harremoes 2014, Corollary 2; sums of
// curves and suprema over neighbours too) and g = h log h - alpha log alpha, or 0 for classic,
//     epsilon = (K + g - log delta)/h,    log delta = K + g - h epsilon
// are the classic and canonne conversions (cost/conversion.hpp). g'' = 1/h - 1/alpha > 0, so
// K + g is convex. Then {alpha : epsilon <= t} = {alpha : K + g - log delta - t h <= 0} is an
// interval for every t: epsilon is quasi-convex in alpha, log delta convex, and neither has a local
// minimum that is not the least value. For closed_form and optimal, which are between canonne and
//     epsilon >= (log(e^K - 1) + g - log delta)/h       (the same for log delta)
// where alpha delta < 1, every order of the first scan that could still be the best is tried.
#pragma once

#include <cstddef>
#include <functional>

#include "cost/conversion.hpp"

namespace tightnoise {

// Writes upper bounds of the Renyi divergence at n increasing, finite orders above 1: not negative,
// infinity where there is none.
using RdpFunction = std::function<void(const double* alpha, double* rdp, std::size_t n)>;

struct BestOrder {
    double value;  // an upper bound: what the conversion says of the order
    double alpha;
    bool at_edge;  // the order ends the range that is searched, and the value is finite, not 0
};

// The range of the search: alpha - 1 from kLeastSearched to kGreatestSearched.
constexpr double kLeastSearched = 1e-9;
constexpr double kGreatestSearched = 1e9;

// delta in (0, 1); epsilon >= 0 and finite. Some 40 to 70 orders in four to seven calls of the
// function, up to 250 where its graph has corners. Throws std::invalid_argument if a bound is NaN
// or negative, or if no Renyi-DP curve has such bounds (cost/curve_growth.hpp).
BestOrder best_epsilon(const RdpFunction& function, Conversion conversion, double delta);
BestOrder best_delta(const RdpFunction& function, Conversion conversion, double epsilon);

}  // namespace tightnoise
