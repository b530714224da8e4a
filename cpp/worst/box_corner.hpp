// The loss under an L2 sensitivity that contains all of the box, or of a box of one coordinate.
#pragma once

#include "worst/box_loss.hpp"

namespace tightnoise {

std::unique_ptr<BoxLoss> corner_loss_of_ball(BoundedNoise noise, const double* width,
                                             double sensitivity, std::size_t n);

}  // namespace tightnoise
