// The largest privacy loss of noise of one scale on all coordinates of a box, and the scale that
// keeps it at a given epsilon.
//
// Noise on the coordinates is independent, so losses add up: with c_i the difference of two
// neighbours in coordinate i, k_i = c_i/scale and w_i = width_i/scale, the loss is at most
// sum H(k_i, w_i), H of one coordinate (loss_point.hpp), and all of its worst outputs may occur
// together. H rises with k and is concave. Hence
//
//     a sensitivity for each coordinate:  c_i = min(sensitivity_i, width_i), one sum;
//     an L2 sensitivity D:                the greatest sum over the part of the ball |c| <= D that
//                                         has 0 <= c_i <= width_i; where all of the box is in the
//                                         ball, the sum at c_i = width_i.
//
// Noise truncated_theorem is Theorem 13 of "The Bounded Gaussian Mechanism for Differential
// Privacy", sigma^2 = (|widths| + D/2) D/(epsilon - log Delta C_m(sigma)), read as the epsilon of a
// sigma: (|widths| + D/2) D/sigma^2 + log Delta C_m(sigma). The first term bounds
// (|x - s'|^2 - |x - s|^2)/(2 sigma^2) by |s' - s| (2 |x - s| + |s' - s|)/(2 sigma^2), with
// |x - s| <= |widths|, so it holds with the longest difference of neighbours for D; log Delta C_m
// is the greatest sum of log-ratios of normalisers, coordinate by coordinate, of differences that
// neighbours may have. For sensitivities c_i of coordinates the longest difference is |c|, and the
// sum is greatest at c, for each of its terms rises: the theorem stays valid with these two.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/operand.hpp"

namespace tightnoise {

enum class BoundedNoise { truncated, rectified, bounded_laplace, truncated_theorem };

// A loss: certainly between least and bound, and about bound - gap.
struct LossBound {
    double least;
    double bound;
    double gap;
};

// Where to look for a scale: loss is about proportional to scale^power there.
struct ScaleGuess {
    double scale;
    double power;
};

// The loss of one box and one sensitivity. It keeps what it finds at one scale to start from at the
// next one: not to be shared by threads.
class BoxLoss {
  public:
    virtual ~BoxLoss() = default;
    // Whatever the target, the bound holds. If it is finite, the search ends where the gap is small
    // beside the distance of the loss from it; else where nothing is left to gain.
    virtual LossBound at(double scale, double target) = 0;
    virtual ScaleGuess guess(double epsilon) = 0;
    // Starts anew, so that a result does not depend on what was asked before.
    virtual void forget() = 0;
};

// Sensitivities: one for each coordinate, or the same for all.
std::unique_ptr<BoxLoss> corner_loss(BoundedNoise noise, const double* width,
                                     const Operand& sensitivity, std::size_t n);
// An L2 sensitivity that contains all of the box, or of a box of one coordinate; and any one.
std::unique_ptr<BoxLoss> corner_loss_of_ball(BoundedNoise noise, const double* width,
                                             double sensitivity, std::size_t n);
std::unique_ptr<BoxLoss> ball_loss(BoundedNoise noise, const double* width, double sensitivity,
                                   std::size_t n);

// The loss at a scale, rounded up: above the truth by 1e-13 of it, or by 1e-290; by up to 1e-8 of
// it for truncated_theorem beyond an epsilon of 100, where log Delta C_m saturates and its slopes
// vanish. inf where it overflows.
double epsilon_of_scale(BoxLoss& loss, double scale);

// A scale at which the loss is at most epsilon, and, with the same exception, at least
// epsilon (1 - 1e-12).
double scale_of_epsilon(BoxLoss& loss, double epsilon);

}  // namespace tightnoise
