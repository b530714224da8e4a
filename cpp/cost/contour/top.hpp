// What the outcomes with a rare large loss add to D(x), in closed form: section 4 of CONTOUR.md.
#pragma once

#include <optional>

#include "cost/contour/images.hpp"
#include "cost/contour/law.hpp"

namespace tightnoise::contour {

class Top {
  public:
    // By e^log_unit, of the outcomes that were trimmed from one of the releases at least.
    Interval delta(double x, double log_unit) const;
    double slope(double x, double log_unit) const;  // of the lower bound, its size

  private:
    friend std::optional<struct Topless> topless(const Terms& terms, double x, double log_value,
                                                 double steepness, SwappedMoments& moments);

    Masses masses_;
    double tilt_, log_rest_;  // at most e^(log_rest + (1 + tilt) x) is added beyond the difference
};

// Releases without their large losses, and what these add.
struct Topless {
    Terms terms;
    Top top;
};

// With the least cut such that the rest of `top` is next to nothing beside e^log_value at x. None
// where nothing is to be trimmed. Tilts up to about steepness by the cut do not bring them back.
std::optional<Topless> topless(const Terms& terms, double x, double log_value, double steepness,
                               SwappedMoments& moments);

}  // namespace tightnoise::contour
