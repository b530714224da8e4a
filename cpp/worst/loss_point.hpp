// The privacy loss of one coordinate of a bounded domain. Kernel-side header: internal linkage.
//
// A true value s lies in [lower, upper], of width L, and neighbours are at most c <= L apart. The
// loss is the largest log-ratio of densities (or of atoms) over all neighbours and all outputs.
// Noise of one scale sees k = c/scale and w = L/scale only, k <= w. A family of noise is a type
//
//     struct Family { static LossPoint at(double k, double w); };
//
// whose loss rises with k and is concave in it, and rises as scale falls with k/w fixed. Sums over
// coordinates are therefore greatest at the largest differences allowed, and one search along one
// multiplier finds the greatest over a ball.
#pragma once

namespace tightnoise {
namespace {

struct LossPoint {
    double loss;
    double slope;  // its derivative by k
};

}  // namespace
}  // namespace tightnoise
