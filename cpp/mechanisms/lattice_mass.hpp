// Probabilities of intervals under a multi-Gaussian law, in units of the lattice.
#pragma once

#include <algorithm>
#include <cmath>

#include "mechanisms/lattice_sum.hpp"
#include "mechanisms/normal_mass.hpp"

namespace tightnoise {
namespace {

// e^-(first) + ... + e^-(last) with steps of epsilon, for integers first <= last.
inline double geometric_sum(double epsilon, double first, double last) {
    const double n = last - first + 1.0;
    return std::exp(-first * epsilon) * (std::expm1(-n * epsilon) / std::expm1(-epsilon));
}

// sum over k from `first` to `last` of e^(-|k| epsilon).
inline double sum_of_weights(double epsilon, double first, double last) {
    if (first > last) return 0.0;
    if (first >= 0.0) return geometric_sum(epsilon, first, last);
    if (last < 0.0) return geometric_sum(epsilon, -last, -first);
    return geometric_sum(epsilon, 0.0, last) + geometric_sum(epsilon, 1.0, -first);
}

// e^scale times the integral of sum_k e^(-|k| epsilon) N(x; k, s^2) over [node + a, node + b],
// a and b finite.
// Components far outside count nothing beside the dominant ones, those far inside their weight.
inline double lattice_mass(const Lattice& lattice, double scale, double node, double a, double b) {
    const double s = lattice.s(), epsilon = lattice.epsilon(), modes = lattice.modes();
    // T_k / T_dominant = e^-((k - y)^2 - (dominant - y)^2) / (2 s^2), y within 1/2 of dominant.
    const double reach = 9.5 * s + 1.0;
    const double least = lattice.dominant(node, a), greatest = lattice.dominant(node, b);
    const double first = std::max(std::ceil(least - reach), -modes - node);
    const double last = std::min(std::floor(greatest + reach), modes - node);
    const double inside = std::max(std::ceil(a + kNormalReach * s), first);
    const double inside_end = std::min(std::floor(b - kNormalReach * s), last);
    double sum = 0.0;
    const auto add = [&](double from, double to) {
        for (double j = from; j <= to; j += 1.0) {
            const double weight = scale - std::fabs(node + j) * epsilon;
            sum += scaled_normal_mass(weight, (a - j) / s, (b - j) / s);
        }
    };
    if (inside_end - inside < 3.0) {
        add(first, last);
    } else {
        add(first, inside - 1.0);
        sum += std::exp(scale) * sum_of_weights(epsilon, node + inside, node + inside_end);
        add(inside_end + 1.0, last);
    }
    return sum;
}

}  // namespace
}  // namespace tightnoise
