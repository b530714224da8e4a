// Truncated Gaussian samples where all elements share sigma and the bounds and theta lies inside
// them: the common case, at a third of the cost of truncated_sampling.hpp's centre region.
// Kernel-side header: internal linkage, one copy a level.
//
// With s = (middle - theta) / sigma and w = (upper - lower) / sigma the edges are s -+ w / 2 from
// theta, and a sample theta + sigma z with uniform r on (-1, 1) has
//     Phi(z) - 1/2 = q = s O(s^2) + r G(s^2),
//     s O = (Phi(s + w/2) + Phi(s - w/2) - 1) / 2,    G = (Phi(s + w/2) - Phi(s - w/2)) / 2.
// O and G are even entire functions: on |s| <= w / 2 <= 1 a polynomial of degree 9 in s^2,
// interpolated once a call at Chebyshev points, has an error of 3e-17. Phi^-1 is one rational
// function since |z| <= 2. Absolute error of z: 3e-15.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "mechanisms/truncated_inside_coefficients.hpp"
#include "numeric/normal.hpp"
#include "numeric/polynomial.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace truncated {

constexpr std::size_t kTerms = sizeof kChebyshevPoints / sizeof *kChebyshevPoints;

// Below the smallest width G has lost digits to the difference it is made of.
constexpr double kInsideWidth = 2.0;
constexpr double kInsideSmallestWidth = 1.0 / 16;

// From values at the Chebyshev points to the coefficients of 1, x, x^2, ...
inline void interpolate(const double (&values)[kTerms], double (&powers)[kTerms]) {
    // T_k = 2 x T_(k-1) - T_(k-2), both as values at the points and as coefficients; from T_0 = 1
    // and with 0 in place of T_(-1), T_1 = x needs half of that factor 2.
    double values_before[kTerms] = {};
    double values_here[kTerms];
    double powers_before[kTerms] = {};
    double powers_here[kTerms] = {1.0};
    for (std::size_t j = 0; j < kTerms; ++j) {
        values_here[j] = 1.0;
        powers[j] = 0.0;
    }
    for (std::size_t k = 0; k < kTerms; ++k) {
        double sum = 0.0;
        for (std::size_t j = 0; j < kTerms; ++j) sum += values[j] * values_here[j];
        const double coefficient = sum * ((k == 0 ? 1.0 : 2.0) / kTerms);
        for (std::size_t j = 0; j < kTerms; ++j) powers[j] += coefficient * powers_here[j];

        const double factor = k == 0 ? 1.0 : 2.0;
        for (std::size_t j = kTerms; j-- > 0;) {
            const double value = factor * kChebyshevPoints[j] * values_here[j] - values_before[j];
            values_before[j] = values_here[j];
            values_here[j] = value;
            const double shifted = j == 0 ? 0.0 : powers_here[j - 1];
            const double power = factor * shifted - powers_before[j];
            powers_before[j] = powers_here[j];
            powers_here[j] = power;
        }
    }
}

// What the elements of one call share.
class Inside {
  public:
    // Not usable: nothing is shared.
    Inside() = default;

    Inside(double sigma, double lower, double upper)
        : sigma_(sigma), lower_(lower), upper_(upper), middle_(lower + 0.5 * (upper - lower)) {
        const double w = (upper - lower) / sigma;
        usable_ = w >= kInsideSmallestWidth && w <= kInsideWidth;
        if (!usable_) return;
        inverse_sigma_ = 1.0 / sigma;
        to_unit_ = 8.0 / (w * w);
        double odd[kTerms];
        double half_mass[kTerms];
        for (std::size_t j = 0; j < kTerms; ++j) {
            const double s = 0.5 * w * std::sqrt(0.5 * (1.0 + kChebyshevPoints[j]));
            const double below = ndtr(s - 0.5 * w);
            const double above = ndtr(-s - 0.5 * w);
            odd[j] = 0.5 * (below - above) / s;
            half_mass[j] = 0.5 - 0.5 * (below + above);
        }
        interpolate(odd, odd_);
        interpolate(half_mass, half_mass_);
    }

    bool usable() const { return usable_; }

    bool contains(double theta) const { return theta >= lower_ && theta <= upper_; }

    double sample(double theta, std::uint64_t bits) const {
        const double s = (middle_ - theta) * inverse_sigma_;
        const double x = s * s * to_unit_ - 1.0;
        const double r = 2.0 * uniform::open_unit(bits) - 1.0;
        const double q =
            s * polynomial_in_halves(odd_, x) + r * polynomial_in_halves(half_mass_, x);
        const double v = kEdgeSquare - q * q;
        const double z =
            q * polynomial_in_halves(kQuantileAbove, v) / polynomial_in_halves(kQuantileBelow, v);
        return theta + sigma_ * z;
    }

  private:
    double sigma_ = 0.0;
    double lower_ = 0.0;
    double upper_ = 0.0;
    double middle_ = 0.0;
    double inverse_sigma_ = 0.0;
    double to_unit_ = 0.0;
    double odd_[kTerms] = {};
    double half_mass_[kTerms] = {};
    bool usable_ = false;
};

}  // namespace truncated
}  // namespace
}  // namespace tightnoise
