// The worst change within a ball, coordinate by coordinate: BALL.md beside this file.
#pragma once

#include <cstddef>

namespace tightnoise {

// What is known of places (coordinates, or intervals of them). For a change of s in [0, reach]:
// at the nodes s_k = reach * steps[k] (0 = steps[0] < ... <= 1) the cost is at most values[k], and
// cost + bend s^2 is convex between neighbouring nodes. values[0] is taken for 0.
struct BallProblem {
    std::size_t places, nodes;
    const double* steps;   // (nodes)
    const double* reach;   // (places), greater than 0
    const double* bend;    // (places), at least 0
    const double* values;  // (places, nodes), finite, at least 0
};

// About the least price at which nothing beyond the first node pays, for each place. (Prices may be
// any numbers: this one is only a good choice.)
void ball_rates(const BallProblem& problem, double* rates);

// Upper bounds of max_s (cost - price s^2), rounded upwards: (prices, places).
// The prices increase and are at least 0.
void ball_excesses(const BallProblem& problem, const double* prices, std::size_t count, float* out);

// The least of price * budget + sum over places of counts * excess, up to rounding (1e-12); that of
// some price, if rounding misleads the search.
double ball_least(const double* prices, std::size_t count, const float* excesses,
                  const double* counts, std::size_t places, double budget);

}  // namespace tightnoise
