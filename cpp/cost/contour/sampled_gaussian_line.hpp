// A sampled Gaussian law tilted, and a bound of |phi| for all larger y: section 5.4 of CONTOUR.md.
#pragma once

#include <vector>

#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class SampledGaussianLine : public NodeLine {
  public:
    struct Details {
        std::vector<double> share;  // p at the nodes
        double width = 0.0;         // of the trapezoidal rule
        double spread = 1.0;
        double left_out = 0.0;  // of the sums
    };
    SampledGaussianLine(TiltedNodes nodes, Moment moment, double sigma, double order,
                        Details details);

    double log_tail(double y) const override;

  private:
    double sum(double tau, double y) const;
    double of_power(double tau, double delta) const;
    double missing(double tau) const;

    double sigma_, order_;
    Details details_;
};

}  // namespace tightnoise::contour
