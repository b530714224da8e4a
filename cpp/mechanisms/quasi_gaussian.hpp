// The quasi-Gaussian law: a normal density at 0 and one at +-sensitivity, whichever is on the side
// of x,
//
//     f(x) = w_0 N(x; 0, sigma^2) + w_1 N(|x|; sensitivity, sigma^2),
//     w_1 = e^-epsilon w_0 = 1 / (e^epsilon + 2 Phi(sensitivity / sigma)).
//
// It has a kink at 0. Arguments: finite sigma, epsilon and sensitivity > 0.
#pragma once

#include "mechanisms/shift_divergence.hpp"

namespace tightnoise {

class QuasiGaussianLaw {
  public:
    QuasiGaussianLaw(double sigma, double epsilon, double sensitivity);

    double sigma() const { return sigma_; }
    double epsilon() const { return epsilon_; }
    double sensitivity() const { return sensitivity_; }
    double least_sigma() const { return sigma_; }

    // Absolute error: 1e-15 plus 3e-16 |log f|.
    double log_density(double x) const;

    // Relative error: 1e-13, also of the lower tail down to 1e-300.
    double distribution(double x) const;
    double mass(double from, double to) const;  // of an interval, from <= to finite
    // log P(noise > x) for x >= 0, also where that is no float. Absolute error: 1e-13, and what the
    // roundings of x and of the result make.
    double log_tail(double x) const;
    double quantile(double q) const;

    double mean_abs() const;
    double variance() const;

    double log_centre_weight() const { return log_centre_weight_; }  // log w_0

  private:
    double sigma_, epsilon_, sensitivity_;
    double log_centre_weight_;
};

// Relative error: 1e-12 of delta above 1e-300.
ShiftDivergence shift_divergence(const QuasiGaussianLaw& law, double shift, double epsilon);

}  // namespace tightnoise
