// A tilted law as finitely many nodes: phi(y) = sum_j g_j e^(i y d_j).
#pragma once

#include <optional>
#include <vector>

#include "cost/contour/law.hpp"
#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

// What is known of the nodes of a tilted law.
struct TiltedNodes {
    std::vector<double> loss;    // L_j
    std::vector<double> weight;  // g_j, of sum 1
    std::vector<double> error;   // relative error of g_j by rounding, in units u
    double loss_error;           // relative error of L_j, in units u
    double missing;              // what phi misses: discretisation, and nodes left out
    double step;                 // of the frequencies
    // g_j times the share of large losses, the relative error of that in units u, and what the sum
    // over them misses; empty where nothing is split off.
    std::vector<double> large{}, large_error{};
    double large_missing = 0.0;
    std::optional<double> sum_error{};  // of what weights were divided by, in units u: their number
    std::size_t block = kBlock;  // frequencies for one sine and cosine a node, at most kManyNodes
};

constexpr std::size_t kManyNodes = ShiftedSum::kBlock;  // frequencies at once, where they are many

class NodeLine : public Line {
  public:
    NodeLine(TiltedNodes nodes, Moment moment);

    Moment moment() const override { return moment_; }
    double centre() const override { return centre_; }
    void at(std::size_t first, std::size_t count, Characteristics* out) const override;
    double log_tail(double) const override { return 0.0; }
    std::size_t work() const override { return kBlock * 8 * weight_.size() / block_; }
    std::size_t block() const override { return block_; }

  protected:
    const std::vector<double>& weight() const { return weight_; }
    const std::vector<double>& distance() const { return distance_; }
    double missing() const { return missing_; }
    const std::vector<double>& large() const { return large_; }
    double weight_error() const { return weight_error_; }  // of a sum of g_j f_j, |f_j| <= 1
    double error_slope() const { return error_slope_; }    // rounding of phi(y), by y

  private:
    void take_sums(const std::vector<double>& losses, const TiltedNodes& nodes);
    void take(std::size_t first, Characteristics* out) const;
    void take_many(std::size_t first, Characteristics* out) const;

    std::vector<double> distance_;  // d_j = L_j - centre
    std::vector<double> weight_, large_;
    std::vector<double> turn_sine_, turn_cosine_;  // of step d_j / 2
    Moment moment_;
    double centre_ = 0.0, missing_, step_, weight_error_ = 0.0;
    std::size_t block_;
    double large_sum_ = 0.0, large_error_, large_error_slope_ = 0.0;
    double error_slope_ = 0.0;
    // In blocks of kManyNodes.
    struct Sums {
        ShiftedSum whole, large;
    };
    mutable std::optional<Sums> sums_;
};

}  // namespace tightnoise::contour
