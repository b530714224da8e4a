// Staircase noise, also truncated: with the sensitivity for which it is made as unit, a density
// that is constant for |x| < gamma and on each [gamma + n, gamma + n + 1), e^-epsilon times the one
// before, and 0 beyond the bound. Without one,
//
//     f(x) = a e^(-epsilon max(0, floor(|x| - gamma) + 1)),
//     a = (1 - e^-epsilon)/(2 (gamma + (1 - gamma) e^-epsilon)).
//
// Geng, Kairouz, Oh and Viswanath 2015, "The Staircase Mechanism in Differential Privacy",
// Definition 1 (a step at every k + gamma). With gamma = 1/2, discrete Laplace plus uniform noise:
// Tulap(0, e^-epsilon, 0), and truncated Tulap(0, e^-epsilon, q) for the q that is cut off (Awan
// and Slavkovic 2020, "Differentially Private Inference for Binomial Data").
#pragma once

#include "numeric/double_double.hpp"

namespace tightnoise {

class StaircaseLaw {
  public:
    // More steps have no fractions; with epsilon >= 1e-9 they are losses of more than 1e6.
    static constexpr double kMostSteps = 0x1p50;

    // epsilon in [1e-9, 700], normal step > 0, gamma in [0, 1]; bound > 0, infinite for none.
    StaircaseLaw(double epsilon, double step, double gamma, double bound);

    // For finite x, q in [0, 1]. Relative error: 1e-13 where above 1e-300 (cdf: of the smaller
    // tail), for |x|/step as it is rounded; log density: absolute.
    double log_density(double x) const;
    double distribution(double x) const;
    double mass(double from, double to) const;  // of an interval, from <= to finite
    // log P(noise > x) for x >= 0, also where that is no float. Absolute error: 1e-13, and what the
    // roundings of x and of the result make.
    double log_tail(double x) const;
    double quantile(double q) const;
    double mean_abs() const;
    double variance() const;

    // For shift in steps, epsilon >= 0.
    double divergence(double shift, double epsilon) const;
    // Whether that is above 0, decided exactly.
    bool diverges(double shift, double epsilon) const;
    // The greatest finite loss, rounded up.
    double greatest_loss(double shift) const;
    // shift / step, rounded down or up by less than a unit of the last place; down to kMostSteps.
    double in_steps(double shift) const;
    double in_steps_upper(double shift) const;

  private:
    // Masses are those of a density of 1 on the first step outside gamma (n = 0), which keeps all
    // of them within range.
    double level(double n) const;                  // of step n
    double levels(double from, double to) const;   // of the steps from <= n < to
    double tail(double distance) const;            // beyond that distance, on one side
    double between(double from, double to) const;  // of two distances, on one side
    double outermost(double width) const;          // next to the end, on one side
    double reach(double width) const;              // of that into the centre: width - end + inner
    DoubleDouble further(double width) const;      // of that beyond the end's step: width - rest
    double centre(double from, double to) const;   // of |x| < gamma, between two points

    double epsilon_;
    double step_;
    double gamma_;
    double bound_;
    double end_;      // the bound in steps
    double end_low_;  // and what that is rounded by: where little is left of a step, all there is
    double inner_;    // min(gamma, end)
    double steps_;    // whole steps between gamma and the end
    double part_;     // what is left of the end's step, but for end_low_: in [0, 1]
    double rest_;     // both, rounded
    double outside_;  // the mass beyond gamma, on one side
    double half_mass_;
};

// The divergence of the law and itself, shifted: for any finite epsilon, shift >= 0.
// Relative error: 1e-12 where above 1e-300.
double hockey_stick(const StaircaseLaw& law, double shift, double epsilon);

}  // namespace tightnoise
