// A tilted law of atoms. Where they lie close to each other its characteristic function is as small
// as that of a density, up to frequencies that tell one from the next: section 7.1 of CONTOUR.md.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/contour/node_line.hpp"

namespace tightnoise::contour {

class AtomsLine : public NodeLine {
  public:
    // Nodes with rising losses.
    AtomsLine(TiltedNodes nodes, Moment moment);

    double log_tail_until(double y, double end) const override;
    double log_largest(double y, double step) const override;
    bool has_far_tail() const override { return true; }
    std::size_t work_of_look() const override { return kOfLook * gap_.size() + kOfLook; }

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
    // phi at y, as the atoms add up to it.
    struct Place {
        double y = -1.0;
        std::vector<double> real, imaginary;
        double sum_real, sum_imaginary, error, units;
    };
    static constexpr std::size_t kOfLook = 40;  // an atom
    Bound bound(const std::vector<double>& density, double most, double end) const;
    Far far(double end) const;
    const Far& far_until(double end) const;
    void look_at(double y) const;

    std::vector<double> gap_;
    mutable std::vector<Far> far_;
    mutable Place place_;
};

}  // namespace tightnoise::contour
