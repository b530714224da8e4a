// Laplace noise at its sensitivity, P and Q mirror images: losses epsilon with probability 1/2,
// -epsilon with e^-epsilon / 2, and between them the density e^((l - epsilon)/2) / 4.
#pragma once

#include "cost/contour/atoms_law.hpp"

namespace tightnoise::contour {

class LaplaceLaw : public Law {
  public:
    explicit LaplaceLaw(double epsilon) : epsilon_(epsilon) {}

    bool has_atoms() const override { return true; }
    Moment moment(double t) const override;
    double log_swapped_moment(double t) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;

  private:
    // With the density by Gauss-Legendre nodes that are exact to `error` for e^((t + iy) l),
    // |y| <= reach.
    std::optional<AtomsLaw> discretised(const LineRequest& request) const;

    double epsilon_;
};

}  // namespace tightnoise::contour
