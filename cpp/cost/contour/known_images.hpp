// The images far below, in closed form: section 2.1 of CONTOUR.md. For y far below all losses that
// matter, D(y) is P's mass less e^y Q's, and next to nothing more.
#pragma once

#include <optional>
#include <vector>

#include "cost/contour/images.hpp"
#include "cost/contour/law.hpp"

namespace tightnoise::contour {

class KnownImages {
  public:
    // Of the releases less their small losses, if any are split off, for sums of losses of this
    // size. None where moments under Q are not known.
    static std::optional<KnownImages> make(const Terms& terms, const Split& split, double size,
                                           SwappedMoments& swapped);

    // The least window for which what is not known of them is below e^log_want, and what is known
    // not above e^log_most.
    double window(double x, double tilt, double log_want, double log_most) const;
    // sum_{m >= 1} e^(-tilt m window) D(x - m window) by e^log_unit, after smoothing.
    Interval sum(double x, double tilt, double window, double smoothing, double log_unit) const;

  private:
    struct Markov {
        double at, log_weight;  // t, and log kap(t) + log E_P[e^(-(1 + t) S)]
        double log_value(double y, double smoothing) const;
    };
    Masses masses_;
    std::vector<Markov> tilts_;
};

}  // namespace tightnoise::contour
