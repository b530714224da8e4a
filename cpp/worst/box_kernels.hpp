// Passes over the coordinates of a box: sums of losses, and one step towards the worst direction.
#pragma once

#include <cstddef>

#include "numeric/compensated_sum.hpp"
#include "runtime/operand.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

// Coordinates as groups of equal ones: width, and how many there are (one number: 1 for all).
struct BoxCoordinates {
    const double* width;
    Operand count;
};

// Where a search for the worst direction stands: c_i = sensitivity share_i, KKT slope_i = nu
// share_i or share_i at its limit.
struct BallStep {
    double scale;
    double sensitivity;
    double nu;
    double change;  // nu by that of the last pass; 1 if the shares are up to date
};

// Of each coordinate, kept from pass to pass.
struct BallState {
    double* share;       // after a Newton step at the multiplier of the last pass
    double* elasticity;  // -dlog share/dlog nu: 0 at the limit
};

// What a pass adds up, over the shares it was at.
struct BallSums {
    CompensatedSum loss;    // sum H
    CompensatedSum square;  // sum share^2
    double slope;           // sum slope share
    double excess;          // in units of t, what a best share may add to H - nu t share^2 / 2
    double moved_square;    // sum share^2 after the Newton step
    double moved_elastic;   // sum share^2 elasticity
};

struct BoxKernels {
    // One pass over coordinates begin, ..., begin + n - 1.
    using Pass = void (*)(const BallStep& step, const BoxCoordinates& box, const BallState& state,
                          std::size_t begin, std::size_t n, BallSums* out);
    // sum H(min(sensitivity_i, reach_i)/scale, width_i/scale).
    using Corner = CompensatedSum (*)(double scale, const Operand& sensitivity,
                                      const BoxCoordinates& box, std::size_t begin, std::size_t n);
    struct Family {
        Pass pass;
        Corner corner;
    };
    Family truncated, rectified, bounded_laplace, truncated_theorem;
};
TIGHTNOISE_KERNEL_TABLE(BoxKernels, box_kernels)

}  // namespace tightnoise
