// The Gaussian mechanism on a sample of a fixed size of which one record is replaced. The pair is
// symmetric: sums over the outcomes with a loss above 0 tell all.
// Section 9 of CONTOUR.md proves every bound here.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "cost/contour/damped_tail.hpp"
#include "cost/contour/law.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

// Of the path that integrals over z take from z0: along the real axis or beside it, or from z0
// straight up.
struct Panel {
    double start, length, height;  // along it, from z0; Im z, unless is_upright
    bool is_upright;
};

class FixedSizeGaussianLaw : public LawInParts {
  public:
    // sigma in [0.1, 1e6], rate in [1e-100, 1).
    FixedSizeGaussianLaw(double sigma, double rate);

    Moment moment(double t) const override;
    // The pair is symmetric.
    double log_swapped_moment(double t) const override;
    double log_small_moment(double t, const Split& split) const override;
    Masses larger(const Split& split) const override;
    std::shared_ptr<const Law> part_below(const Split& split) const override;
    double mass_at_zero() const override { return at_zero_; }
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;

    // At most the weight of two losses l, l' within a window of this width, tilted by t and not
    // less than a sum over cells tells, times (l - l')^2.
    double spread_within(double window, double t, double log_moment) const;

  private:
    // p = q e^a / w at a real z - z0, the slope of log w by mu.
    double share(double offset) const;
    // At z0 + offset: the loss log w, and its error in units u.
    struct Place {
        std::complex<double> loss;
        double error;
    };
    Place place(std::complex<double> offset) const;
    double log_density(double offset, double power) const;
    // The share of larger losses is Phi((z - z0 - offset)/width), or of smaller ones for way -1.
    struct Cut {
        double offset = 0.0, width = kInfinite, way = 1.0;
        bool is_none() const { return !(width < kInfinite); }
        double log_share(double at) const;
        double error(double at) const;  // of that share, in units u
    };
    Cut cut_at(const Split& split, double way) const;
    // What integrands are bounded by: powers 1 + t and -t of w.
    struct Integrand {
        double t;
        Cut cut{};
        double most_y = 0.0;        // up to which what is next to the real axis is bounded
        bool has_negative = false;  // losses, of which the cut takes no share
        bool is_part = false;       // of a law that lacks what the cut takes
        bool is_falling = false;    // powers -t and 0 alone
    };
    double log_peak(double offset, double least, double most, double power) const;
    double log_largest(const Integrand& of, double offset, double least, double most) const;
    double log_growth(const Integrand& of, double top) const;
    double log_error(const Integrand& of, const Panel& panel) const;
    double log_most(const Integrand& of, const Panel& panel) const;
    double log_most_of_bottom(const Integrand& of, double length) const;
    double end(double t) const;                    // of the integrals: beyond is next to nothing
    double log_height(const Integrand& of) const;  // about the log of the largest integrand
    struct Panels {
        std::vector<Panel> panels;
        double log_unit, missing;
        double missed(double log_by) const { return missing * std::exp(log_unit - log_by); }
    };
    std::optional<Panels> panels(const Integrand& of, std::vector<Panel> first,
                                 double log_wanted) const;
    template <class Function>
    std::optional<Interval> mean_above(const Integrand& of, double log_wanted,
                                       Function function) const;
    Interval lacking_moment(double t, double log_wanted) const;
    Moment moment_within(const Integrand& of, double log_wanted) const;
    struct Path {
        ShiftedNodes above, below;  // of positive losses, and of negative ones, conjugate
        DampedTail tail;
    };
    std::optional<Path> path(const Integrand& of, double log_moment, double log_wanted) const;

    double mu_, q_, start_, at_zero_;
    Cut top_{};  // the share of smaller losses, where larger ones are left out
};

}  // namespace tightnoise::contour
