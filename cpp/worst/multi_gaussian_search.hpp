// The search for the least sigma of a multi-Gaussian mixture. Only for .cpp files.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mechanisms/multi_gaussian.hpp"
#include "worst/gaussian_calibration.hpp"
#include "worst/private_scale.hpp"
#include "worst/scale_search.hpp"
#include "worst/unimodal.hpp"
#include "worst/unimodal_threshold.hpp"

namespace tightnoise {

// The law of a sigma, at sensitivity 1.
struct MultiGaussianOfSigma {
    double epsilon;
    double modes;

    MultiGaussianLaw operator()(double sigma) const { return {sigma, epsilon, 1.0, modes}; }
};

// With more modes a divergence takes so long that a search takes minutes.
constexpr double kMostModesToSearch = 5000.0;

// Everything at sensitivity 1, but for the certificate.
class MultiGaussianSearch {
  public:
    MultiGaussianSearch(double epsilon, double delta, double modes)
        : law_of_{epsilon, modes},
          delta_(delta),
          unimodal_(modes > 0.0 ? unimodal_sigma(epsilon, modes) : 0.0),
          melting_(modes > 0.0 ? std::min(unimodal_, flank_melting_sigma(epsilon)) : 0.0) {}

    MultiGaussianLaw law(double sigma) const { return law_of_(sigma); }

    // The maxima of the divergence at shifts between 0 and 1.
    ScaleSearch<MultiGaussianOfSigma> inner_shifts() const {
        return {law_of_, law_of_.epsilon, target_of_search(delta_), melting_};
    }

    // The least sigma at which no shift that was looked at is above the target, to within kClose:
    // a lower bound of what is private. `hint`: the root for a number of modes next to this one.
    ScaleRoot root(const ScaleRoot& hint = {0.0, 1.0}) const {
        const double gaussian = gaussian_sigma_upper(law_of_.epsilon, delta_, 1.0);
        if (law_of_.modes == 0.0) return {gaussian, 1.0};
        double least = 0.0;
        if (outermost_weight() > delta_) {
            const ScaleSearch last_shift(law_of_, law_of_.epsilon, target_of_last_shift(delta_),
                                         std::numeric_limits<double>::infinity());
            least = last_shift.at_last_shift(0.0, gaussian, gaussian, 1e-12).sigma;
            // One mode: the greatest shift is the worst.
            if (least >= unimodal_) return {least, 1.0};
        }
        if (law_of_.modes > kMostModesToSearch ||
            1.0 - first_guess() / melting_ < 0.1 * kLeastRoom) {
            return proven_unimodal_root();
        }
        const bool is_near = hint.shift < 1.0 && hint.sigma > least && hint.sigma < unimodal_;
        const ScaleRoot inner = is_near ? at_maxima(least, hint.sigma, {hint.shift})
                                        : at_maxima(least, std::max(least, first_guess()), {});
        return 1.0 - inner.sigma / melting_ < kLeastRoom ? proven_unimodal_root() : inner;
    }

    // The sigma from a root on that is private at the real sensitivity, in units of that.
    double certified(ScaleRoot from, double sensitivity) const {
        const auto real_law_of = [=](double sigma) {
            return MultiGaussianLaw(sigma * sensitivity, law_of_.epsilon, sensitivity,
                                    law_of_.modes);
        };
        std::vector<double> shifts{from.shift};
        const auto search_again = [&](double low, double shift) {
            shifts.push_back(shift);
            return low < unimodal_ ? at_maxima(low, low, shifts) : ScaleRoot{low, shift};
        };
        return private_scale(law_of_, real_law_of, search_again, law_of_.epsilon, delta_,
                             sensitivity, from);
    }

  private:
    static constexpr double kClose = 1e-11;  // to the target, as a fraction of it
    // Nearer to the melting point than this, relative, a certificate by search takes too long.
    static constexpr double kLeastRoom = 1e-6;

    // The least sigma beyond that is proven to have one mode.
    ScaleRoot proven_unimodal_root() const {
        double sigma = unimodal_;
        for (double more = 1e-7; more < 1.0; more *= 2.0) {
            sigma = unimodal_ * (1.0 + more);
            if (proven_unimodal(law(sigma), 1.0)) break;
        }
        return {sigma, 1.0};
    }

    ScaleRoot at_maxima(double low, double sigma, const std::vector<double>& shifts) const {
        return inner_shifts().at_maxima(low, unimodal_, sigma, shifts, kClose);
    }

    double outermost_weight() const {
        return std::exp(-law_of_.modes * law_of_.epsilon - law(1.0).log_total());
    }

    // How far below the melting point a divergence of delta is, as fitted over the range of
    // epsilon and delta: right to a factor of three. D grows as the square of that distance.
    double first_guess() const {
        const double scaled = std::min(delta_ * std::exp(0.25 * law_of_.epsilon), 0.25);
        const double room = 2.0 * std::sqrt(scaled) / (1.0 + 6.0 * std::pow(scaled, 0.3));
        return melting_ * (1.0 - std::max(room, 1e-9));
    }

    MultiGaussianOfSigma law_of_;
    double delta_;
    double unimodal_;  // the sigma from which on the density has one mode,
    double melting_;   // or one that costs no more than if it had
};

}  // namespace tightnoise
