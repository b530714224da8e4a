// The hockey-stick divergence between a law of additive noise and itself, shifted.
#pragma once

#include <algorithm>
#include <cmath>

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

// Whether the signs of f(x + shift) - e^epsilon f(x) are known without log(f(x + shift) / f(x)).
template <class Law>
bool has_known_signs(const Law&, double, double) {
    return false;
}

// By how much rounded positions may change that logarithm, beside a part of itself.
template <class Law>
double error_of_places(const Law&) {
    return 0.0;
}

// The same, of which at_most() is no less than the truth but for a fraction 1e-12. The logarithm of
// f(x + shift) / f(x) is known to 16 units of the last place of epsilon and of places, which are no
// small part of D where it is next to epsilon wherever it is above: such a smaller epsilon has no
// smaller D.
template <class Law>
ShiftDivergence shift_divergence_upper(const Law& law, double shift, double epsilon) {
    constexpr double kLogError = 0x1p-49;
    if (has_known_signs(law, shift, epsilon)) return shift_divergence(law, shift, epsilon);
    const double error = kLogError * std::fabs(epsilon) + error_of_places(law);
    return shift_divergence(law, shift, epsilon - error);
}

// Of laws with those derivatives.
template <class Law>
double hockey_stick(const Law& law, double shift, double epsilon) {
    return shift_divergence(law, shift, epsilon).delta;
}

}  // namespace tightnoise
