// A(z), the mean of e^(z u_1) over the unit sphere, beside the real line: section 8 of CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "numeric/gauss_legendre.hpp"

namespace tightnoise::contour {

// tan d/cos d of the farthest shift by id for which 8 nodes do, and for which 16 do.
constexpr double kNearShift = 0.02, kFarthestShift = 0.15;

struct SphereMeanChange {
    std::complex<double> value;
    double error;  // in units u
};

// log A(sqrt(w + change)) - log A(sqrt(w)) of the order nu = dim/2 - 1 >= -1/2, for w > 0 and
// |change| <= 2 w times one of the above. None where it would take very many terms.
class ComplexSphereMean {
  public:
    explicit ComplexSphereMean(double nu) : nu_(nu) {}

    std::optional<SphereMeanChange> change(double w, std::complex<double> change,
                                           bool is_near) const {
        const double least = w + std::min(change.real(), 0.0), most = w + std::abs(change);
        const int terms = terms_at(least, most);
        double kept = 2.0, error = 0.0;  // of the tail beyond the terms, and relative of r_k
        double r = last(terms);
        for (int k = terms; k-- > 0;) {
            const double factor = most * most_ratio(k, least) * r;
            kept *= factor;
            error = error * factor + 16.0;
            r = 1.0 / (2.0 * (nu_ + k + 1.0) + least * r);
        }
        if (!(kept < 0x1p-54)) return std::nullopt;
        const std::complex<double> mean = is_near
                                              ? mean_slope<GaussLegendre<8>, 8>(w, change, terms)
                                              : mean_slope<GaussLegendre<16>, 16>(w, change, terms);
        return SphereMeanChange{mean * change, (error + 48.0) * 0.5 * r * std::abs(change)};
    }

  private:
    // r_k = I_(nu + k + 1)(z)/(z I_(nu + k)(z)) falls with z^2 = w, and is at most this.
    double most_ratio(int k, double w) const {
        const double n = nu_ + k + 0.5;
        return 1.0 / (n + std::sqrt(n * n + w));
    }
    double last(int k) const { return 0.5 / (nu_ + k + 1.0); }  // r_k without what follows
    int terms_at(double least, double most) const {
        constexpr double kLogNothing = -44.0;
        constexpr int kMost = 512;
        double log_kept = 0.0;
        int terms = 2;
        for (; terms < kMost && log_kept > kLogNothing; ++terms) {
            log_kept +=
                std::log(most * most_ratio(terms - 2, least) * most_ratio(terms - 1, least));
        }
        return terms;
    }
    // Of log A by w, r_0/2, along the change.
    template <class Rule, int N>
    std::complex<double> mean_slope(double from, std::complex<double> change, int terms) const {
        std::complex<double> sum = 0.0;
        for (int i = 0; i < N; ++i) {
            const std::complex<double> w = from + Rule::nodes[i] * change;
            std::complex<double> r = last(terms);
            for (int k = terms; k-- > 0;) r = 1.0 / (2.0 * (nu_ + k + 1.0) + w * r);
            sum += 0.5 * Rule::weights[i] * r;
        }
        return sum;
    }

    double nu_;
};

}  // namespace tightnoise::contour
