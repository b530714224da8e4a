// A tilted law of a symmetric pair by nodes of its positive losses, beside the real axis: section 9
// of CONTOUR.md.
#pragma once

#include <vector>

#include "cost/contour/fixed_size_gaussian_law.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

class FixedSizeGaussianLine : public Line {
  public:
    struct Parts {
        ShiftedSum above, below;  // of positive losses, and of negative ones, conjugate
        ShiftedSum large;         // of the part of large losses
        DampedTail tail, tail_of_large;
        double at_zero;     // what outcomes without a loss have
        double most_y;      // up to which sums serve
        bool is_large_all;  // but for what is at zero
    };
    FixedSizeGaussianLine(const FixedSizeGaussianLaw& law, const LineRequest& request,
                          const Moment& moment, Parts parts);

    Moment moment() const override { return moment_; }
    double centre() const override { return moment_.slope; }
    void at(std::size_t first, std::size_t count, Characteristics* out) const override;
    double log_tail(double y) const override;
    double log_large_tail(double y) const override;
    std::size_t block() const override { return ShiftedSum::kBlock; }
    bool holds_beyond_reach() const override { return true; }
    std::size_t work() const override {
        return parts_.above.nodes() + parts_.below.nodes() + parts_.large.nodes();
    }

  private:
    // Of |phi| from y on, of which so much does not move.
    double log_damped(double y, double at_zero) const;
    void find_windows() const;

    FixedSizeGaussianLaw law_;
    double tilt_, step_;
    Moment moment_;
    mutable Parts parts_;
    struct Window {
        double end, log_beyond, spread;  // of |phi| from there on; of losses within pi/end
    };
    mutable std::vector<Window> windows_;
};

}  // namespace tightnoise::contour
