// The Gaussian pair N(0, 1), N(mu, 1): all that the contour asks has a closed form.
#pragma once

#include "cost/contour/law.hpp"

namespace tightnoise::contour {

class GaussianLaw : public Law {
  public:
    // mu may be a rounded number: `error` is its relative error in units u.
    explicit GaussianLaw(double mu, double error = 0.0) : mu_(mu), error_(error) {}

    Moment moment(double t) const override;
    double log_swapped_moment(double t) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;
    std::optional<double> gaussian() const override { return mu_; }

  private:
    double mu_, error_;
};

// delta(x) of the pair for x >= 0; a bound of the relative error is added on both sides.
Interval gaussian_profile_bounds(double mu, double x);

}  // namespace tightnoise::contour
