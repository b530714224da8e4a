// The multi-Gaussian law: normal densities of one sigma at the points of a lattice,
//
//     f(x) = sum_(|k| <= K) w_k N(x; k sensitivity, sigma^2),   w_k = e^(-|k| epsilon) / W.
//
// Arguments: finite sigma, epsilon and sensitivity > 0; modes K from 0 to 2^31. sigma / sensitivity
// from 1e-3 to 1e6 is what the tests cover.
#pragma once

#include "mechanisms/lattice_sum.hpp"
#include "mechanisms/shift_divergence.hpp"

namespace tightnoise {

class MultiGaussianLaw {
  public:
    MultiGaussianLaw(double sigma, double epsilon, double sensitivity, double modes);

    double sigma() const { return sigma_; }
    double epsilon() const { return epsilon_; }
    double sensitivity() const { return sensitivity_; }  // the spacing of the lattice
    double modes() const { return modes_; }
    double least_sigma() const { return sigma_; }

    // Absolute error: 1e-15 plus 3e-16 |log f|.
    double log_density(double x) const;
    DensityPoint density_point(double x) const;

    // Relative error: 1e-13, also of the lower tail down to 1e-300.
    double distribution(double x) const;
    double mass(double from, double to) const;  // of an interval, from <= to finite
    // log P(noise > x) for x >= 0, also where that is no float. Absolute error: 1e-13, and what the
    // roundings of x and of the result make.
    double log_tail(double x) const;
    // The quantile of q, and of 1 - q as its opposite. To within what the digits of q determine.
    double quantile(double q) const;

    double mean_abs() const;
    double variance() const;

    // log(e^0 + 2 e^-epsilon + ... + 2 e^(-K epsilon)), so that w_k = e^(-|k| epsilon - log_total).
    double log_total() const { return log_total_; }
    // The law in units of the lattice, less its normaliser.
    const Lattice& lattice() const { return lattice_; }

  private:
    double sigma_, epsilon_, sensitivity_, modes_;
    Lattice lattice_;
    double log_total_;
    double log_normaliser_;  // of the density in units of x
};

// Of a step of the lattice: all that cancels is left out.
bool has_known_signs(const MultiGaussianLaw& law, double shift, double epsilon);

// Relative error: 1e-12 of delta above 1e-300, of d_shift and d_scale where no sum cancels.
ShiftDivergence shift_divergence(const MultiGaussianLaw& law, double shift, double epsilon);

}  // namespace tightnoise
