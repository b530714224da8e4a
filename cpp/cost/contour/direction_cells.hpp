// What |density w^u| of a direction has on a line of a Stretch, by that on the real line: upper
// sums over cells, by lower ones. Section 8 of CONTOUR.md.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cost/contour/direction_density.hpp"
#include "cost/contour/stretch.hpp"

namespace tightnoise::contour {

// Phi(way (v - middle)/width), way = 1 or -1; in the weights of nodes, or beside these.
struct SmoothShare {
    double middle, width, way;
    bool is_in_weights;
};

// Im v by Re v, which never falls with |Re v|, and a bound of the line's length by that of Re v.
struct LineAbove {
    std::function<double(double)> shift;
    double length;
    static LineAbove of(const Stretch& stretch, double angle);
};

class DirectionCells {
  public:
    // Of |v| up to `below` and `above` on either side.
    DirectionCells(const DirectionDensity& density, double rate, double below, double above);

    // Upper sums of |density w^u| on a line: what is at most in a cell, and arg w there at least.
    struct Sum {
        std::vector<double> log_most, least_turn;
        double log_below, log_above;  // of what the integrand grows beyond the cells
    };
    // None where w may have a zero below the line, or of too many cells. Below places that far
    // below those of zeros lines may turn a by pi and more, where arg w is -e^-below at least.
    std::optional<Sum> above(const LineAbove& line, double u,
                             const std::vector<SmoothShare>& shares, double below) const;
    // log of a lower sum on the real line.
    double log_least(double u, const std::vector<SmoothShare>& shares) const;

    struct Growth {
        double log_whole;             // of the integral
        double log_below, log_above;  // of the integrand beyond the cells
    };
    // From the real line, of which a lower sum is known, to one at the angle; infinite where there
    // is no sum.
    Growth growth(const Stretch& stretch, double angle, double u,
                  const std::vector<SmoothShare>& shares, double below, double log_least) const;

    static constexpr double kLeastAbove = 0.5;  // of a beside zeros; as much below at least

  private:
    struct Edge {
        double v, tanh, sech_square, log_density, pull_across, loss, share;
    };
    struct Side {
        double sign;
        std::vector<Edge> edges;  // outwards
    };
    // From one of these places outwards to where tanh is `far_tanh`, between these shifts.
    struct Cell {
        const Side& side;
        const Edge& inner;
        double far_tanh, far_sech_square, near_shift, far_shift;
    };
    struct Moved {
        double inside;            // sech^2 v sin^2 of the shift, at most
        double moved, low, high;  // tanh v rises by, and Re a is between
        double most_turn;         // Im a
    };
    bool are_too_many() const { return below_.edges.empty() || above_.edges.empty(); }
    Moved moved(const Cell& cell) const;
    bool is_free(const Moved& at, double below) const;
    double log_growth(const Cell& cell, const Moved& at, double u) const;
    double least_turn(const Cell& cell, const Moved& at) const;
    struct Range {
        double most, least;
    };
    Range range(const Side& side, const Edge& inner, const Edge& outer, double u) const;
    double steepest(const Side& side, double u, const std::vector<SmoothShare>& shares) const;
    double tilt(const Side& side, const Edge& edge, double u) const {
        return side.sign * (2.0 * u * edge.share - 1.0);
    }
    Edge edge_at(double v, double sign) const;
    Side side(double sign, double end) const;

    DirectionDensity density_;
    double rate_;
    Side below_, above_;
};

// A bound of |integral of density w^(u + iy)| for all larger y, by that of the whole at y = 0.
class DirectionTail {
  public:
    DirectionTail(const DirectionCells& cells, const std::vector<LineAbove>& lines, double u,
                  const std::vector<SmoothShare>& shares, double log_whole);
    double log_bound(double y) const;

  private:
    std::vector<DirectionCells::Sum> lines_;
};

}  // namespace tightnoise::contour
