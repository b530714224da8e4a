// A symmetric mixture of normal densities with sigmas of their own,
//
//     f(x) = sum_j w_j (N(x; c_j, sigma_j^2) + N(x; -c_j, sigma_j^2)) / 2 / sum_j w_j.
//
// A list that is symmetric itself means what it says.
// Arguments: as many finite locations, weights > 0 and sigmas > 0, at least one.
#pragma once

#include <vector>

#include "mechanisms/shift_divergence.hpp"

namespace tightnoise {

class ScaleMixtureLaw {
  public:
    // log weight / sigma is without the factor 1 / sqrt(2 pi).
    struct Component {
        double location, sigma, weight, log_factor;
    };

    ScaleMixtureLaw(const std::vector<double>& locations, const std::vector<double>& weights,
                    const std::vector<double>& sigmas);

    // Both of +-c_j, by location; weights that sum to 1.
    const std::vector<Component>& components() const { return components_; }
    double least_sigma() const { return least_sigma_; }
    double greatest_sigma() const { return greatest_sigma_; }
    double greatest_location() const { return components_.back().location; }

    // Absolute error: 1e-15 plus 3e-16 |log f|.
    double log_density(double x) const;
    DensityPoint density_point(double x) const;

    // Relative error: 1e-13, also of the lower tail down to 1e-300.
    double distribution(double x) const;
    double mass(double from, double to) const;  // of an interval, from <= to finite
    // log P(noise > x) for x >= 0, also where that is no float. Absolute error: 1e-13, and what the
    // roundings of x and of the result make.
    double log_tail(double x) const;
    double quantile(double q) const;

    double mean_abs() const;
    double variance() const;

  private:
    std::vector<Component> components_;
    double least_sigma_, greatest_sigma_;
};

// Where modes are far from 0: the slope of log f is 40 of the least sigma at most where f counts.
double error_of_places(const ScaleMixtureLaw& law);

// Relative error: 1e-12 of delta above 1e-300. d_scale is NaN unless all sigmas are equal. Where
// f(x + shift) / f(x) stays next to e^epsilon on many sigmas, as on the flank of a lattice, the
// search for its roots gives up, and delta is an upper bound, up to the probability that is left.
ShiftDivergence shift_divergence(const ScaleMixtureLaw& law, double shift, double epsilon);

}  // namespace tightnoise
