// What the sampled Gaussian's bounds share: section 5 of CONTOUR.md.
#pragma once

#include <cmath>

namespace tightnoise::contour {

constexpr double kRange = 12.5;     // of z, beyond the outermost modes
constexpr double kWidest = 14.0;    // shifts of Im z beyond gain nothing
constexpr double kOutside = 1e-26;  // of M: what lies beyond the nodes, section 5.3

// total e^largest += e^term
inline void add_exponential(double term, double& largest, double& total) {
    if (term > largest) {
        total = total * std::exp(largest - term) + 1.0;
        largest = term;
    } else {
        total += std::exp(term - largest);
    }
}

}  // namespace tightnoise::contour
