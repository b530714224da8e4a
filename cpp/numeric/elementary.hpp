// Elementary functions. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>

namespace tightnoise {
namespace {

inline double exp(double x) {
    return std::exp(x);
}
inline double log(double x) {
    return std::log(x);
}
inline double log1p(double x) {
    return std::log1p(x);
}
inline double expm1(double x) {
    return std::expm1(x);
}

// e^x - 1 - x >= 0 with full relative accuracy.
inline double expm1mx(double x) {
    if (std::fabs(x) > 0.6) return std::expm1(x) - x;
    double sum = 0.0;
    for (int k = 20; k >= 2; --k) sum = (sum + 1.0) * x / k;
    return sum * x;
}

}  // namespace
}  // namespace tightnoise
