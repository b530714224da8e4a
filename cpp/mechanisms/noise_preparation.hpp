// From the parameters of a law of additive noise to what its sampler reads.
//
// Parameters are finite, scales and probabilities of the ranges their Python classes promise.
#pragma once

#include <cstddef>
#include <vector>

#include "mechanisms/alias_table.hpp"
#include "mechanisms/sampled_noise.hpp"

namespace tightnoise {

// Gaussians at k sensitivity, |k| <= modes, with weights proportional to e^(-|k| epsilon).
class LadderComponents {
  public:
    LadderComponents(double epsilon, int modes);

    // Lasts as long as this object.
    GaussianLadder noise(double sigma, double sensitivity) const {
        return {choice_.columns(), modes_, sensitivity, sigma};
    }

  private:
    int modes_;  // of those that are ever drawn
    AliasTable choice_;
};

// Weights e^epsilon, Phi(sensitivity / sigma) and the latter again, over their sum: Algorithm 5 of
// Liu, Selvi and Wiesemann (2026), its random sign made part of the choice.
AliasTable quasi_gaussian_components(double sigma, double epsilon, double sensitivity);
QuasiGaussianNoise quasi_gaussian_noise(const AliasTable& components, double sigma,
                                        double sensitivity);

// Gaussians, each standing for itself and its mirror image, with the weight of both.
class MirroredComponents {
  public:
    MirroredComponents(const double* locations, const double* weights, const double* sigmas,
                       std::size_t n);

    // Lasts as long as this object.
    GaussianComponents noise() const {
        return {choice_.columns(), location_.data(), sigma_.data()};
    }

  private:
    AliasTable choice_;
    std::vector<double> location_;
    std::vector<double> sigma_;
};

ExponentialNoise laplace_noise(double scale);
// Density proportional to e^(-|x| / scale) for |x| < bound.
ExponentialNoise truncated_laplace_noise(double scale, double bound);

// Density proportional to e^(-epsilon k), k the integer nearest to |x| / width, for |x| < bound,
// which may be infinite.
SteppedNoise tulap_noise(double width, double epsilon, double bound);

// Density proportional to e^(-epsilon k) for k sensitivity < |x| < (k + gamma) sensitivity and to
// e^(-epsilon (k + 1)) up to (k + 1) sensitivity: Geng, Kairouz, Oh and Viswanath (2015), "The
// Staircase Mechanism in Differential Privacy". 0 <= gamma <= 1.
SteppedNoise staircase_noise(double sensitivity, double epsilon, double gamma);

}  // namespace tightnoise
