// The Gaussian mechanism on a Poisson sample, a record more or less: Q0 = N(0, 1) and
// (1 - q) Q0 + q N(1/sigma, 1). Section 5 of CONTOUR.md proves every bound here.
#pragma once

#include <limits>

#include "cost/contour/law.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

class SampledGaussianLaw : public Law {
  public:
    // sigma in [1e-3, 1e6], rate in [1e-100, 1).
    SampledGaussianLaw(double sigma, double rate, Direction direction)
        : sigma_(sigma), q_(rate), direction_(direction) {}

    double largest_loss() const override { return largest_loss_of(direction_, q_); }
    Moment moment(double t) const override;
    std::unique_ptr<Memory> memory(double count) const override;
    Moment recalled_moment(double t, Memory* memory) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;
    double farther() const override { return kFarther; }
    double log_small_moment(double t, const Split& split) const override;
    std::shared_ptr<const Law> trimmed(const Split& at) const override;
    Masses lacking() const override { return masses_above(top_); }
    Masses larger(const Split& split) const override;
    double log_swapped_moment(double t) const override;
    double log_lacking_moment(double t) const override;

  private:
    struct Nodes;
    struct Grid;

    bool is_remove() const { return direction_ == Direction::remove; }
    // The power of w that M(t) is the mean of, under Q0.
    double order(double t) const { return is_remove() ? 1.0 + t : -t; }
    SampledGrid grid() const;      // of no nodes yet
    double share(double z) const;  // p = q e^a / w
    double loss(double z) const;   // log w
    // The share of smaller losses at z' is Phi((z - z')/width) or, for "add", Phi((z' - z)/width);
    // moved to Im z' = d it is at most e^(spread d^2 / 2) of that.
    struct Cut {
        double z = std::numeric_limits<double>::infinity(), width = z;
        double spread() const { return 1.0 / (width * width); }
    };
    // The widest step of the trapezoidal rule with an error below e^log_error of M.
    double step(double order, double reach, double log_error) const;
    double crude_step(double order, double reach, double log_error) const;
    struct Cells {
        Interval ends{0.0, 0.0};
        std::vector<double> base, share, mixed;  // of an upper sum; mixed = 4 p (1 - p), or 1
        double log_lower = 0.0;                  // a lower sum
    };
    Cells cells(double order, double reach, double widest, const Cut* cut = nullptr) const;
    double log_growth(const Cells& cells, double order, double reach, double d,
                      const Cut* cut = nullptr) const;
    double log_power(double order, double z, double b) const;
    Interval range(double order, const Cut* cut = nullptr) const;  // of the nodes
    double log_smaller(double z, const Cut& cut) const;
    double log_larger(double z, const Cut& cut) const;
    double mean_larger(const Cut& cut, double at) const;  // under N(at, 1)
    Masses masses_above(const Cut& cut) const;
    Cut cut_above(double loss, double width) const;
    std::unique_ptr<Line> plain_line(const LineRequest& request) const;
    static double log_error(const LineRequest& request);
    std::unique_ptr<Line> shifted_line(const LineRequest& request) const;
    std::optional<ShiftedNodes> shifted(double order, double log_moment, double log_error,
                                        const Cut* cut) const;
    std::optional<Moment> moment_at(const LineRequest& request) const;
    double top_error(double z) const;  // of the share below the top, in units u
    Cut cut_at(const Split& split) const;
    // a_j = (first + j) spacing exactly, z_j = sigma a_j + 1/(2 sigma).
    struct ExactGrid {
        double first, spacing;
        std::size_t count;
    };
    std::optional<ExactGrid> exact_grid(const Interval& ends, double width) const;
    std::optional<Nodes> nodes(const Interval& ends, double width) const;
    Moment crude_moment(double t) const;
    Moment moment_on(const Nodes& nodes, double t, double log_error) const;
    Moment plain_moment(const Nodes& nodes, const std::vector<double>& weight, double log_sum,
                        double order, double missed) const;
    Moment exact_moment(const Nodes& nodes, double t, double log_error) const;
    Moment careful_moment(const Nodes& nodes, double t, const Moment& plain,
                          double log_error) const;
    Moment trimmed_moment(const Nodes& nodes, double t, const Moment& plain,
                          double log_error) const;

    double sigma_, q_;
    Direction direction_;
    Cut top_{};             // losses above it are trimmed
    double lacking_ = 0.0;  // their mass under P, within 1e-11 of itself
};

}  // namespace tightnoise::contour
