// A sampled direction law tilted, and a bound of |phi| for all larger y: section 8 of CONTOUR.md.
#pragma once

#include <vector>

#include "cost/contour/direction_density.hpp"
#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class SampledDirectionLine : public NodeLine {
  public:
    struct Details {
        DirectionDensity density;
        double rate, order, tilt;
        double width;                                       // of the trapezoidal rule
        double widest;                                      // shift of Im v
        double spread = 0.0;                                // of the share of large losses
        double top_spread = 0.0;                            // of the share that is the law itself
        double left_out = 0.0, large_left_out = 0.0;        // of the sums
        std::vector<double> tanh{}, sech_square{}, loss{};  // at the nodes
    };
    SampledDirectionLine(TiltedNodes nodes, Moment moment, Details details);

    double log_tail(double y) const override;
    double log_large_tail(double y) const override;

  private:
    double least_bound(double y, const std::vector<double>& weight, double spread,
                       double left_out) const;
    double sum(double tau, double y, const std::vector<double>& weight) const;
    // log of what |density w^u| grows at Im v = d, and of what its integral does.
    double growth_at(double d) const;
    double mean_growth_at(double d) const;
    double missing(double tau, double spread) const;

    Details of_;
    double rising_;  // arg w rises with Im v up to here
};

}  // namespace tightnoise::contour
