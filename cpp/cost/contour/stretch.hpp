// A change of variables that is dense around 0: v = l asinh(r sinh(s/l)), 0 < r <= 1. Lines above
// the real axis of s are near the one of v around 0, and rise to where s was: section 8 of
// CONTOUR.md.
#pragma once

#include <complex>

namespace tightnoise::contour {

struct Stretch {
    double length, least;  // l, and r = dv/ds at 0

    double at(double s) const;
    double reaching(double v, double angle) const;  // s from which on Re v is more on that line
    double slope(double s) const;
    struct Point {
        double v, shift;
        std::complex<double> slope;  // dv/ds
    };
    // At s + i angle l, |angle| < pi/2.
    Point beside(double s, double angle) const;
    // Im v where that line has the real part v: it rises with |v|, to angle l.
    double shift_at(double v, double angle) const;

    // Relative errors of all of these, of s that are exact, in units u.
    static constexpr double kError = 24.0;
};

}  // namespace tightnoise::contour
