// A tilted law of atoms. Where they lie close to each other its characteristic function is as small
// as that of a density, up to frequencies that tell one from the next: section 7.1 of CONTOUR.md.
#pragma once

#include <optional>
#include <vector>

#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class AtomsLine : public NodeLine {
  public:
    // Nodes with rising losses.
    AtomsLine(TiltedNodes nodes, Moment moment);

    double log_tail_until(double y, double end, double kept) const override;
    bool has_far_tail() const override { return true; }

  private:
    // |phi(y)| <= constant + slope / y up to some end.
    struct Bound {
        double constant, slope;
    };
    struct Far {
        double end;
        std::vector<Bound> bounds;
        double at(double y) const;
    };
    // |phi(y)| <= most between both.
    struct Stretch {
        double from, to, most;
    };
    Bound bound(const std::vector<double>& density, double most, double end) const;
    Far far(double end) const;
    const Far& far_until(double end) const;
    Stretch stretch(double y, double first, std::optional<double> most) const;
    double largest_from(double y, const Far& far, double kept) const;

    std::vector<double> gap_;
    mutable std::vector<Far> far_;
    mutable std::vector<Stretch> walk_;  // each begins where the last one ends
    mutable int steps_ = 0;              // of all walks
};

}  // namespace tightnoise::contour
