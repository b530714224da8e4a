// Von Mises-Fisher noise on a Poisson sample, a record more or less: Q0 and (1 - q) Q0 + q Q1, two
// mean directions at any angle. Section 8 of CONTOUR.md proves every bound here.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "cost/contour/direction_density.hpp"
#include "cost/contour/law.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

class SampledDirectionLaw : public LawInParts {
  public:
    // As DirectionDensity; rate in [1e-100, 1].
    SampledDirectionLaw(double kappa, double dim, double half_chord, double rate,
                        Direction direction);

    double largest_loss() const override { return largest_loss_of(direction_, q_); }
    Moment moment(double t) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;
    double farther() const override { return half_chord_ == 1.0 ? kFarther : 2.0; }
    double log_small_moment(double t, const Split& split) const override;
    // E_Q[e^(-t L)]: that of the other direction. What is left out only lessens it.
    double log_swapped_moment(double t) const override;
    Masses larger(const Split& split) const override;
    std::shared_ptr<const Law> part_below(const Split& split) const override;

  private:
    struct Nodes;

    // The share of smaller losses at v is Phi((v' - v)/width) or, for "add", Phi((v - v')/width).
    struct Cut {
        double v = std::numeric_limits<double>::infinity(), width = v;
        double spread() const { return 1.0 / (width * width); }
        bool is_none() const { return !std::isfinite(v); }
    };
    const Cut* top() const { return top_.is_none() ? nullptr : &top_; }
    bool is_remove() const { return direction_ == Direction::remove; }
    double order(double t) const { return is_remove() ? 1.0 + t : -t; }
    double sign() const { return is_remove() ? 1.0 : -1.0; }
    Cut cut_at(const Split& split) const;
    double widest() const;  // shift of Im v
    // The widest step of the trapezoidal rule with an error below e^log_error of M, and of the part
    // that a smooth share of this spread makes, of large losses or (for no reach) of small ones.
    double step(double t, double reach, double log_error, double spread,
                bool is_small = false) const;
    // Of a share of small losses (top), or beyond a cut as well (part).
    std::optional<Nodes> nodes(double t, double width, const Cut* top, const Cut* part) const;
    std::unique_ptr<Line> plain_line(const LineRequest& request) const;
    std::unique_ptr<Line> shifted_line(const LineRequest& request) const;
    std::optional<ShiftedNodes> shifted(double t, double log_error, const Cut* cut) const;
    // log of what |density w^u| grows at Im v = d, and the integral of |density w^(u + iy)|.
    double growth_at(double t, double d) const { return density_.log_growth(d, t, order(t), q_); }
    double mean_growth_at(double t, double d, double reach) const {
        return density_.log_mean_growth(d, t, order(t), q_, reach);
    }
    Moment moment_below(double t, const Cut* top) const;
    Moment careful_moment(const Nodes& nodes, double t, const Moment& plain, double discrete) const;
    Moment part_moment(const Nodes& nodes, double t, const Moment& plain, double discrete) const;
    Moment crude_moment(double t) const;

    double kappa_, dim_, half_chord_, q_;
    Direction direction_;
    DirectionDensity density_;
    Cut top_{};  // the share of smaller losses, where larger ones are left out
};

}  // namespace tightnoise::contour
