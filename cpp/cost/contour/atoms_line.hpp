// A tilted law of atoms. Where they lie close to each other its characteristic function is as small
// as that of a density, up to frequencies that tell one from the next: section 7.1 of CONTOUR.md.
#pragma once

#include <utility>
#include <vector>

#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class AtomsLine : public NodeLine {
  public:
    // Nodes with rising losses.
    AtomsLine(TiltedNodes nodes, Moment moment);

    double log_tail_until(double y, double end) const override;
    bool has_far_tail() const override { return true; }

  private:
    // |sum_j g_j e^(i y' d_j)| <= constant + slope / y' for 0 < y' <= an end.
    struct Bound {
        double constant, slope;
    };
    Bound bound(double end) const;
    const Bound& bound_until(double end) const;
    double near_bound(double y, double end) const;

    std::vector<double> gap_;
    mutable std::vector<std::pair<double, Bound>> known_;  // by their ends
};

}  // namespace tightnoise::contour
