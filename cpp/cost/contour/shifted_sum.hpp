// phi of a tilted law by nodes beside the real axis, for frequencies of any size: section 5.5 of
// CONTOUR.md. There e^(i y l_j) with Im l_j > 0 falls with y, so that no node has to follow the
// turns of large losses.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/contour/law.hpp"

namespace tightnoise::contour {

// Nodes of phi(y) = sum_j W_j e^(i y l_j).
struct ShiftedNodes {
    std::vector<double> loss, damping;    // Re l_j and Im l_j >= 0
    std::vector<double> real, imaginary;  // W_j, of which no square underflows
    std::vector<double> error;            // relative error of W_j, in units u
    double loss_error = 0.0;              // relative error of l_j, in units u
    double missing = 0.0;                 // what the sum misses, at any y >= 0
};

class ShiftedSum {
  public:
    static constexpr std::size_t kBlock = 64;    // frequencies at once
    static constexpr std::size_t kRestart = 64;  // from one start to the next

    // Phases are those of l_j - centre.
    ShiftedSum(const ShiftedNodes& nodes, double centre, double step);

    // sum_j W_j (e^(i y (l_j - centre)) - 1) at y = (first + k) step, k < kBlock. Cheapest where
    // `first` is where the last call ended.
    void at(std::size_t first, double* real, double* imaginary);
    double error(double y) const;                  // of its rounding, at y of the last call
    double log_tail(double y) const;               // log of sum_j |W_j| e^(-y Im l_j)
    double weight() const { return weight_; }      // sum_j Re W_j
    double rounding() const { return rounding_; }  // of sums of W_j f_j, |f_j| <= 1
    double missing() const { return missing_; }
    std::size_t nodes() const { return used_; }

  private:
    void start_at(std::size_t first);
    void leave_out_up_to(double y);
    struct Rounding {
        double most, slope;  // at most `most`, and the slope times y
    };
    Rounding rounding_up_to(double y) const;
    // e^(i y l_j) - 1
    void turn_by(double y, std::vector<double>& real, std::vector<double>& imaginary) const;

    std::size_t used_;
    std::size_t moving_ = 0;  // nodes; of those beyond E_j is -1 for next to nothing
    double still_real_ = 0.0, still_imaginary_ = 0.0;  // sums of their weights
    std::size_t next_ = 1;  // E_j are those of this frequency, if it is no start
    double known_to_ = -1.0;
    Rounding known_{0.0, 0.0};  // up to there
    std::vector<double> moving_real_, moving_imaginary_, start_real_, start_imaginary_;
    double step_, loss_error_, missing_, weight_ = 0.0, rounding_ = 0.0;
    // Padded to groups of eight by nodes of no weight.
    std::vector<double> loss_, size_, damping_, real_, imaginary_, turn_real_, turn_imaginary_;
    std::vector<double> far_turn_real_, far_turn_imaginary_;  // of kRestart frequencies
    std::vector<double> modulus_, error_, length_;            // length = |l_j - centre|
    std::vector<double> still_from_;  // y at which a group of eight and all beyond are nothing
};

}  // namespace tightnoise::contour
