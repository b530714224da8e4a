// The trapezoidal rule's nodes for a sampled direction: section 8 of CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "cost/contour/sampled_direction_law.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {

constexpr double kFarthest = 300.0;  // |v| of a node
constexpr double kMomentError = -46.0;

// Relative error of e^(log weight + order loss), in units u.
inline double weight_error(double of_weight, double order_times_loss, double of_loss) {
    return of_weight + std::fabs(order_times_loss) * (of_loss + 4.0) + 12.0;
}

// Nodes at v_j = j width exactly, or where a stretch puts these, weights under Q0 of sum 1, and
// what lies outside of them.
struct SampledDirectionLaw::Nodes {
    double spacing, log_norm;  // of the weights, of which this was taken off
    bool is_stretched;
    std::vector<double> shift;                  // Im v beside the real line, with v the real part,
    std::vector<std::complex<double>> stretch;  // and what is left to multiply weights by
    std::vector<double> v, excess, loss, log_weight;
    std::vector<double> tanh, sech_square;
    std::vector<double> log_share;   // of smaller losses, which is in the weight; none for all
    std::vector<double> error;       // of the log weight, in units u
    std::vector<double> loss_error;  // of the loss, relative, in units u
    double low_decay, high_decay;    // log of the share of what lies beyond an end by its node
    double base_outside;             // of the weights, and of the weights times w

    // Relative, of a and of a share, in units u.
    double error_of_place() const { return is_stretched ? 1.2 * Stretch::kError : 0.0; }
    double error_of_share() const { return is_stretched ? 6.0 : 1.0; }

    // log of the sum outside the nodes by that inside, the weights times w^order, that grow by so
    // much.
    double outside(double order, double log_sum, double below = 0.0, double above = 0.0) const {
        const double low = log_weight.front() + order * loss.front() + low_decay + below;
        const double high = log_weight.back() + order * loss.back() + high_decay + above;
        return std::max(low, high) + 2.0 * kLog2 - log_sum;
    }
};

}  // namespace tightnoise::contour
