// What the sampled Gaussian's bounds share: section 5 of CONTOUR.md.
#pragma once

namespace tightnoise::contour {

constexpr double kWidest = 14.0;    // shifts of Im z beyond gain nothing
constexpr double kOutside = 1e-26;  // of M: what lies beyond the nodes, section 5.3

}  // namespace tightnoise::contour
