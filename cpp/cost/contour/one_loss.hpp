// Of releases with outcomes that have no loss: of all together, those with a loss of one release
// and none of the others. Section 9.4 of CONTOUR.md.
#pragma once

#include <optional>
#include <utility>

#include "cost/contour/contour.hpp"
#include "cost/contour/law.hpp"

namespace tightnoise::contour {

class OneLoss {
  public:
    // None where an outcome of some release always has a loss, or a profile is not known.
    static std::optional<OneLoss> of(const Terms& terms);
    // Whether no loss at all is so likely that phi^n stays far from 0 at any frequency.
    static bool is_likely_none(const Terms& terms);
    // What they add to D(x) at x >= 0, by e^log_unit.
    Bounds profile(double x, double log_unit) const;
    Contour::Guess guess(double x) const;

  private:
    explicit OneLoss(Terms terms) : terms_(std::move(terms)) {}

    Terms terms_;
    double log_none_ = 0.0;  // log of the probability of no loss at all
    double relative_ = 0.0;  // error of that
};

}  // namespace tightnoise::contour
