#include "worst/quasi_gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mechanisms/quasi_gaussian.hpp"
#include "worst/private_scale.hpp"
#include "worst/quasi_gaussian_threshold.hpp"
#include "worst/scale_search.hpp"

namespace tightnoise {
namespace {

// Both thresholds, where the second one matters: sigma_2 is at most 1 / sqrt(2 epsilon).
struct Thresholds {
    double of_shift;
    double of_ratio;
};

Thresholds thresholds(double epsilon, double delta) {
    const double of_shift = quasi_gaussian_sigma_of_shift(epsilon, delta);
    const bool decides = of_shift >= 1.0 / std::sqrt(2.0 * epsilon);
    return {of_shift, decides ? 0.0 : quasi_gaussian_sigma_of_ratio(epsilon)};
}

// The law of a sigma, at sensitivity 1.
struct QuasiGaussianOfSigma {
    double epsilon;

    QuasiGaussianLaw operator()(double sigma) const { return {sigma, epsilon, 1.0}; }
};

// At sensitivity 1, but for the certificate.
class Search {
  public:
    Search(double epsilon, double delta)
        : law_of_{epsilon}, delta_(delta), known_(thresholds(epsilon, delta)) {}

    // The larger one of the thresholds.
    double most() const { return std::max(known_.of_shift, known_.of_ratio); }

    // Where sigma_1 decides, the divergence of the greatest shift is delta there, and others have
    // less. Else a shift between forbids less noise than that.
    ScaleRoot root() const {
        const double low = known_.of_shift;
        if (known_.of_ratio <= low) return {low, 1.0};
        return at_maxima(low, 0.9 * most() + 0.1 * low, {});
    }

    // The sigma from a root on that is private at the real sensitivity, in units of that.
    double certified(ScaleRoot from, double sensitivity) const {
        const auto real_law_of = [=](double sigma) {
            return QuasiGaussianLaw(sigma * sensitivity, law_of_.epsilon, sensitivity);
        };
        std::vector<double> shifts{from.shift};
        const auto search_again = [&](double low, double shift) {
            shifts.push_back(shift);
            return low < most() ? at_maxima(low, low, shifts) : ScaleRoot{low, shift};
        };
        return private_scale(law_of_, real_law_of, search_again, law_of_.epsilon, delta_,
                             sensitivity, from);
    }

  private:
    ScaleRoot at_maxima(double low, double sigma, const std::vector<double>& shifts) const {
        constexpr double kNever = std::numeric_limits<double>::infinity();
        constexpr double kClose = 1e-11;
        return ScaleSearch(law_of_, law_of_.epsilon, target_of_search(delta_), kNever)
            .at_maxima(low, most(), sigma, shifts, kClose);
    }

    QuasiGaussianOfSigma law_of_;
    double delta_;
    Thresholds known_;
};

}  // namespace

double quasi_gaussian_sigma(double epsilon, double delta, double sensitivity) {
    const Search search(epsilon, delta);
    return sensitivity * search.certified(search.root(), sensitivity);
}

double quasi_gaussian_sigma_of_paper(double epsilon, double delta, double sensitivity) {
    const Search search(epsilon, delta);
    return sensitivity * search.certified({search.most(), 1.0}, sensitivity);
}

}  // namespace tightnoise
