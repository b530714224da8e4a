// The privacy cost of additive noise: the greatest hockey-stick divergence over all shifts from 0 to
// the sensitivity, rounded upwards.
#pragma once

namespace tightnoise {

// Why no shift costs more than the one that was found.
//   unimodal:   the density decreases on both sides of 0, so the greatest shift is the worst.
//   semiconvex: log f + x^2 / (2 sigma^2) is convex, which bounds the cost between two shifts by the
//               costs at both, and the whole range was covered by such pairs.
enum class Proof { unimodal, semiconvex };

// delta: an upper bound of the greatest divergence over all shifts in [0, sensitivity], at most a
// fraction 1e-9 above it. shift: where it is attained, or nearly.
struct WorstShift {
    double delta;
    double shift;
    Proof proof;
};

}  // namespace tightnoise
