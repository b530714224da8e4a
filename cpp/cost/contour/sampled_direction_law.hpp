// Von Mises-Fisher noise on a Poisson sample, a record more or less: Q0 and (1 - q) Q0 + q Q1, two
// mean directions at any angle. Section 8 of CONTOUR.md proves every bound here.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "cost/contour/direction_cells.hpp"
#include "cost/contour/direction_density.hpp"
#include "cost/contour/law.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "cost/contour/shifted_sum.hpp"
#include "cost/contour/stretch.hpp"

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
    // Of arg w below the zeros of w, where lines of a stretch turn a by more than pi.
    static constexpr double kLogTurn = 45.0;
    // Lines turn a by kAtZero at 0 and by kRises more where w may have zeros; Im v is no more.
    static constexpr double kAtZero = 1.2, kRises = 1.6, kMostShift = 0.78;
    // No farther than the angle.
    struct Stretched {
        Stretch axis;
        double most_angle;
    };
    Stretched stretched() const;
    // The trapezoidal rule's step in v or, on a stretch, in s.
    struct Rule {
        double step;
        std::optional<Stretched> stretch{};
    };
    // Beside the real line of a stretch; the norm is that of nodes on it.
    struct Beside {
        double angle, log_norm;
    };
    // Where nodes end below and above 0: e^-80 of the largest weight.
    struct Ends {
        double below, above;
    };
    double large_pull(double t, const Hyperbolic& at) const;
    Ends ends(double t, const Cut* top, const Cut* part) const;
    std::vector<LineAbove> lines_for_tails() const;
    std::vector<SmoothShare> shares(const Cut* top, const Cut* part) const;
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
    // The same at y = 0: where that asks for many nodes, as where the density is far wider than w
    // near 0, on the axis of a stretch.
    Rule moment_rule(double t, const Cut* top, const Cut* part) const;
    double stretched_step(const Stretched& stretch, double t, const Cut* top,
                          const Cut* part) const;
    // Of a share of small losses (top), or beyond a cut as well (part).
    std::optional<Nodes> nodes(double t, const Rule& rule, const Cut* top, const Cut* part,
                               const Beside* beside = nullptr) const;
    std::unique_ptr<Line> plain_line(const LineRequest& request) const;
    std::unique_ptr<Line> shifted_line(const LineRequest& request) const;
    struct Missed;
    double farthest_shift() const;
    // Relative to M; with a cut, the part of larger losses only.
    std::optional<ShiftedNodes> shifted_nodes(double t, double log_error, const Cut* cut) const;
    std::unique_ptr<Line> stretched_line(const LineRequest& request, const Rule& rule) const;
    std::optional<ShiftedNodes> stretched_nodes(double t, double log_error, const Cut* cut,
                                                const Stretched& stretch, const Nodes& real,
                                                const Tilted& of_real, double step) const;
    std::optional<ShiftedNodes> weighed(double t, const Nodes& grid, double log_sum, const Cut* cut,
                                        const Missed& missed) const;
    double rounding_of(const Nodes& grid, const Tilted& law, double u) const;
    // log of what |density w^u| grows at Im v = d, and the integral of |density w^(u + iy)|.
    double growth_at(double t, double d) const { return density_.log_growth(d, t, order(t), q_); }
    double mean_growth_at(double t, double d, double reach) const {
        return density_.log_mean_growth(d, t, order(t), q_, reach);
    }
    Moment moment_below(double t, const Cut* top) const;
    Moment exact_moment(const Nodes& nodes, const Tilted& law, double t, double missed) const;
    Moment careful_moment(const Nodes& nodes, double t, const Moment& plain, double discrete) const;
    Moment part_moment(const Nodes& nodes, double t, const Moment& plain, double discrete) const;
    Moment crude_moment(double t) const;

    double kappa_, dim_, half_chord_, q_;
    Direction direction_;
    DirectionDensity density_;
    Cut top_{};  // the share of smaller losses, where larger ones are left out
};

}  // namespace tightnoise::contour
