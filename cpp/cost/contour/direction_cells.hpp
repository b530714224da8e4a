// What |density w^u| of a direction has on a line of a Stretch, by that on the real line: upper
// sums over cells, by lower ones. Section 8 of CONTOUR.md.
#pragma once

#include <vector>

#include "cost/contour/direction_density.hpp"
#include "cost/contour/stretch.hpp"

namespace tightnoise::contour {

// Phi(way (v - middle)/width), way = 1 or -1.
struct SmoothShare {
    double middle, width, way;
};

class DirectionCells {
  public:
    // Of |v| up to `below` and `above` on either side.
    DirectionCells(const DirectionDensity& density, double rate, double below, double above);

    struct Growth {
        double log_whole;    // of the integral
        double log_outside;  // of the integrand beyond the cells
    };
    // On the line at angle l. Infinite where w may have a zero below it; if `turns_one_way`, also
    // where arg w may be below -e^-kLogTurn.
    Growth growth(const Stretch& stretch, double angle, double u,
                  const std::vector<SmoothShare>& shares, bool turns_one_way) const;

    static constexpr double kLogTurn = 45.0;

  private:
    struct Edge {
        double v, tanh, sech_square, log_density, pull_across, loss, share;
    };
    struct Side {
        double sign;
        std::vector<Edge> edges;  // outwards
    };
    double log_moved(const Side& side, const Edge& inner, double far_tanh, double near_shift,
                     double far_shift, double u, bool turns_one_way) const;
    Edge edge_at(double v, double sign) const;
    Side side(double sign, double end) const;

    DirectionDensity density_;
    double rate_;
    Side below_, above_;
};

}  // namespace tightnoise::contour
