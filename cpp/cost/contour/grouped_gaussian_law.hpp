// The Gaussian mechanism on Poisson samples, for data sets that differ in a group of records: so
// many that only P has, and that only Q has. Section 10 of CONTOUR.md proves every bound here.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "cost/contour/law.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

// The records of one data set: sum_j p_j e^(j (way mu z) - j^2 mu^2/2) over j = 0, ..., n, binomial
// p_j, is the density of the output over that without them.
class GroupSide {
  public:
    GroupSide(double mu, double rate, int records, double way);

    // Multiples j b of the angle by which way mu z is turned; n b < pi for values.
    struct Turns {
        double angle;
        std::vector<double> sine, cosine, versine;
    };
    Turns turns(double angle) const;
    struct Value {
        double log_size, angle;  // of the density there, the angle from 0 on
        double error;            // of both, absolute, in units u
    };
    Value at(double z, const Turns& turns) const;
    double log_some(double z) const;                       // of the terms of one record and more
    double some_above(double z, double log_factor) const;  // of their probability beyond z
    double mean_above(double z, double width) const;       // of Phi((x - z)/width) in all
    // This density less that of as many records of the other data set, at z + i tau on the side of
    // these; none where exponents are large.
    struct Difference {
        std::complex<double> value;
        double error;  // absolute, in units u
    };
    std::optional<Difference> less_opposite(double z, const Turns& turns, const Turns& twice) const;
    double mean(double z) const;  // of j, tilted: the slope of log |density| by way mu z
    // No more than log of the density, for any z, as it is convex there: touches it at one.
    struct Tangent {
        double intercept, slope;  // by z
        double error;             // relative to 1 + |z|, in units u
    };
    Tangent tangent(double z) const;
    // p_j e^.. over the density, which add up to 1.
    void shares(double z, double* to) const;

    int records() const { return static_cast<int>(weight_.size()) - 1; }
    double most_loss() const { return -log_weight_[0]; }  // of what has none of them, over this

  private:
    Value direct(double z, const Turns& turns) const;
    double exponent(double z, int j) const;
    double exponent_size(double z, int j) const;  // that rounding counts
    double largest_exponent(double z) const;

    double mu_, way_, weight_error_;  // relative, in units u
    std::vector<double> weight_, log_weight_;
};

class GroupedGaussianLaw : public LawInParts {
  public:
    // sigma in [0.1, 1e6], rate in [1e-100, 1), no more than 16 records each, one at least.
    GroupedGaussianLaw(double sigma, double rate, int ours, int theirs);

    Moment moment(double t) const override;
    double log_swapped_moment(double t) const override;
    double log_small_moment(double t, const Split& split) const override;
    Masses larger(const Split& split) const override;
    std::shared_ptr<const Law> part_below(const Split& split) const override;
    std::shared_ptr<const Law> trimmed(const Split& split) const override;
    double log_lacking_moment(double t) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;

    const GroupSide& ours() const { return ours_; }
    const GroupSide& theirs() const { return theirs_; }
    double mu() const { return mu_; }
    // log of by how much more the integrand of M may be at Im z = d, anywhere.
    double log_growth(double t, double d) const;

    // Nodes z_j of the rule on the real axis for M(t), and what it lacks.
    struct Nodes {
        double spacing = 0.0;
        std::vector<double> z, base, loss, log_ours, log_theirs;  // base: log weight under N(0, 1)
        std::vector<double> tilted;                               // log of what M(t) is the sum of
        std::vector<double> error_of_base, error_of_tilted;       // in units u
        std::vector<double> error_of_ours, error_of_loss;         // and absolute
        double log_sum = 0.0, error_of_sum = 0.0;                 // M(t), relative in units u
        double log_outside = -kInfinite;                          // of what there is beyond them
    };

  private:
    // The share of larger losses is Phi((z - middle)/width), or of smaller ones for way -1.
    struct Cut {
        double middle = kInfinite, width = kInfinite, way = 1.0;
        double spread() const { return 1.0 / (width * width); }
    };
    GroupedGaussianLaw swapped() const;  // the data sets the other way round
    static const Cut* address(const std::optional<Cut>& cut) { return cut ? &*cut : nullptr; }
    struct Place {
        GroupSide::Value ours, theirs;
        std::complex<double> loss;
        double error_of_loss;  // absolute, in units u
    };
    struct Turns {
        GroupSide::Turns ours, theirs, twice;
    };
    Turns turns(double tau) const;
    Place place(double z, const Turns& turns) const;
    double loss_at(double z) const;
    Masses masses_above(const Cut& cut) const;
    std::optional<Cut> cut_at(const Split& split, double way) const;  // none: no loss is so large
    double log_growth_in_all(double t, double d, const Cut* cut) const;  // of its integral
    double step(double t, double log_error, const Cut* cut) const;
    double log_integrand(double z, double t) const;
    double log_most(double t, double low, double high) const;
    std::optional<Nodes> nodes(double t, double width, const Cut* cut) const;
    void add_nodes(double first, double last, double t, const Cut* cut, Nodes& to) const;
    Moment crude_moment(double t) const;
    Moment moment_on(const Nodes& nodes, double t, double log_error, const Cut* cut) const;
    Moment careful_moment(const Nodes& nodes, double t, const Moment& plain, double missed,
                          const Masses& lacking) const;
    Moment moment_within(double t, double log_error, const Cut* cut) const;
    std::optional<ShiftedNodes> shifted(double t, double log_error, const Cut* cut,
                                        const Moment& moment) const;

    double mu_, q_;
    GroupSide ours_, theirs_;
    std::optional<Cut> top_{};  // the share of smaller losses, where larger ones are left out
};

}  // namespace tightnoise::contour
