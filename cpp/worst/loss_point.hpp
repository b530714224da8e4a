// The privacy loss of one coordinate of a bounded domain. Kernel-side header: internal linkage.
//
// A true value s lies in [lower, upper], of width L, and neighbours are at most c <= L apart. The
// loss is the largest log-ratio of densities (or of atoms) over all neighbours and all outputs.
// Noise of one scale sees k = c/scale and w = L/scale only, k <= w. A family of noise is a type
//
//     struct Family {
//         static LossPoint at(double k, double w);
//         static double curvature(double k, double w, double slope);
//         static constexpr double reach, slope_error;
//     };
//
// whose loss rises with k and is concave in it, and rises as scale falls with k/w fixed. Sums over
// coordinates are therefore greatest at the largest differences allowed, and one search along one
// multiplier finds the greatest over a ball.
//
// `curvature` is -H'', for the steps of a Newton iteration only: a few digits, no card. `reach` is
// the part of the width up to which the loss rises, `slope_error` that error of the slope which is
// not relative, in widths.
#pragma once

namespace tightnoise {
namespace {

struct LossPoint {
    double loss;
    double slope;  // its derivative by k
};

}  // namespace
}  // namespace tightnoise
