// Finitely many losses with their masses under P, and an infinite one apart. Sums are finite: no
// strips, no quadrature. Any profile known at points becomes such a law, one that dominates it by
// connected dots and one that it dominates by merged cells.
#pragma once

#include <vector>

#include "cost/contour/law.hpp"
#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class AtomsLaw : public Law {
  public:
    // Finite losses, their masses and the logarithms of these (-inf: none), of which one is exact:
    // the other is its rounded exponential or logarithm. infinite_mass in [0, 1].
    enum class Exact { masses, log_masses };
    AtomsLaw(const std::vector<double>& losses, const std::vector<double>& masses,
             const std::vector<double>& log_masses, double infinite_mass, Exact exact);

    double infinite_mass() const override { return infinite_; }
    bool has_atoms() const override { return true; }
    Interval finite_mass() const override;
    Moment moment(double t) const override;
    double log_swapped_moment(double t) const override;
    Interval swapped_mass() const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;

    // Tilted by e^(t L); atoms below any notice are left out, and counted.
    TiltedNodes nodes(double t) const;

  private:
    struct Tilted {
        std::vector<double> weight;
        double log_sum, error;  // K as log-sum-exp, and its error
    };
    Tilted tilted(double t) const;
    Moment careful_moment(double t, const Moment& plain) const;

    std::vector<double> loss_, mass_, log_mass_;  // losses rise
    double infinite_;
    double excess_;          // of the finite masses over 1
    double rounding_ = 0.0;  // of their sum, in units u
    double largest_ = 0.0;   // |loss|
};

}  // namespace tightnoise::contour
