// The smooth share of smaller or larger losses beside the real axis: sections 4 and 5.5 of
// CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include "numeric/complex_normal.hpp"

namespace tightnoise::contour {

constexpr double kMostOfWidth = 1.7;  // of the distance from the axis: normal_tail is known so far
constexpr double kDeepInside = 9.0;   // in widths: it is 1 but for less than u/100

// 1 - Phi(way (z - middle)/width), way = 1 or -1, at z + i tau.
struct ComplexShare {
    double middle, width, way;

    std::complex<double> log(double z, double tau) const {
        if ((z - middle) * way < -kDeepInside * width) return 0.0;
        return normal_tail(std::complex<double>(z - middle, tau) * (way / width)).log;
    }
    // Whether that is told to so many units.
    bool is_known(double z, double tau) const {
        const double t = way * (middle - z), most = kMostOfWidth * width;
        const double deep = kDeepInside * width;
        return tau <= most || (t >= deep && (t - tau) * (t + tau) >= deep * deep - most * most);
    }
    // Of that, in units u.
    double error(double z) const {
        constexpr double kOfTail = 1000.0;  // of normal_tail
        const double t = way * (z - middle) / width;
        const double hazard = t < 0.0 ? 3.0 * std::exp(-0.5 * t * t) : 4.0 + t;
        return std::min(hazard, 1.0) * kOfTail +
               6.0 * hazard * (std::fabs(z) + std::fabs(middle)) / width;
    }
    // log of a bound of its modulus.
    double log_most(double z, double tau) const {
        const double t = std::max(way * (z - middle), 0.0);
        return -0.5 * (t - tau) * (t + tau) / (width * width);
    }
};

}  // namespace tightnoise::contour
