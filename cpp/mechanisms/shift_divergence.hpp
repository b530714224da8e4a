// The hockey-stick divergence between a law of additive noise and itself, shifted.
#pragma once

#include <algorithm>

namespace tightnoise {

// D_epsilon(shift) = integral (f(x + shift) - e^epsilon f(x))_+ dx, for shift >= 0 and any finite
// epsilon, negative ones too, and its derivatives by the shift and by the scale sigma that all of
// the law has in common (NaN where there is none).
struct ShiftDivergence {
    double delta;
    double d_shift;
    double d_scale;
    double unsettled = 0.0;  // the truth is at most so much above delta, but for rounding

    double at_most() const { return std::min(delta + unsettled, 1.0); }
};

// What a certificate asks of a density: log f(x), and m = x + s^2 (log f)'(x), which does not
// decrease, s the law's `least_sigma`.
struct DensityPoint {
    double log_density;
    double m;
};

// Of laws with those derivatives.
template <class Law>
double hockey_stick(const Law& law, double shift, double epsilon) {
    return shift_divergence(law, shift, epsilon).delta;
}

}  // namespace tightnoise
