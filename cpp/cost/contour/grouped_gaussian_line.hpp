// A tilted law of a group by nodes beside the real axis, and a bound of |phi| for all larger y by
// nodes on it: section 10 of CONTOUR.md.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "cost/contour/grouped_gaussian_law.hpp"
#include "cost/contour/shifted_line.hpp"

namespace tightnoise::contour {

class GroupedGaussianLine : public ShiftedLine {
  public:
    class Tail {
      public:
        // `spread` is that of the share of smaller losses, where others are left out.
        Tail(const GroupedGaussianLaw& law, double tilt, double spread,
             const GroupedGaussianLaw::Nodes& nodes, const Moment& moment);
        double log_bound(double y) const;  // of |phi| from y on

      private:
        double sum(double tau, double y) const;  // log of the bound by this shift
        double missing(double tau) const;

        GroupedGaussianLaw law_;
        double tilt_, spread_, spacing_, farthest_, mean_slope_ = 0.0, left_out_ = 0.0;
        std::vector<double> weight_, error_;
        std::vector<double> ours_, theirs_;  // shares of numbers of records, by nodes
    };
    GroupedGaussianLine(const Moment& moment, double step, ShiftedSum whole, ShiftedSum large,
                        std::optional<Tail> tail)
        : ShiftedLine(moment, step, std::move(whole), std::move(large), nullptr),
          tail_(std::move(tail)) {}

    double log_tail(double y) const override { return tail_ ? tail_->log_bound(y) : 0.0; }

  private:
    std::optional<Tail> tail_;
};

}  // namespace tightnoise::contour
