// The parameters of one coordinate, and their standardised form.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include "mechanisms/cell.hpp"

namespace tightnoise {
namespace {

struct Lane {
    double theta, sigma, lower, upper;
    int levels;
};

// (x - theta)/sigma.
inline DoubleDouble standardised(double x, const Lane& lane) {
    return two_sum(x, -lane.theta) / lane.sigma;
}

// k = shift/sigma.
inline DoubleDouble standardised_shift(double shift, const Lane& lane) {
    return DoubleDouble{shift, 0.0} / lane.sigma;
}

// [lower, upper] in units of sigma seen from theta.
inline Interval standardised_support(const Lane& lane) {
    const double width = (lane.upper - lane.lower) / lane.sigma;
    return {standardised(lane.lower, lane), standardised(lane.upper, lane), width};
}

// The mirror image: what a step towards -infinity is, a step towards +infinity becomes.
inline Interval mirrored(const Interval& interval) {
    return {-interval.upper, -interval.lower, interval.width};
}

// The law of minus the output: that of the same noise at -theta between -upper and -lower.
inline Lane mirrored(const Lane& lane) {
    return {-lane.theta, lane.sigma, -lane.upper, -lane.lower, lane.levels};
}

}  // namespace
}  // namespace tightnoise
