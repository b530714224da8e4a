// The standard normal family. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// exp(x^2) erfc(x)
inline double erfcx(double x) {
    if (x < 25.0) return std::exp(x * x) * std::erfc(x);
    return 0.56418958354775628695 / (x + 0.5 / (x + 1.0 / (x + 1.5 / (x + 2.0 / x))));
}

// Phi(x)
inline double ndtr(double x) {
    return 0.5 * std::erfc(-x * 0.70710678118654752440);
}

// log Phi(x)
inline double log_ndtr(double x) {
    if (x > 0.0) return std::log1p(-0.5 * std::erfc(x * 0.70710678118654752440));
    return -0.5 * x * x + std::log(0.5 * erfcx(-x * 0.70710678118654752440));
}

}  // namespace
}  // namespace tightnoise
