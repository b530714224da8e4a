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
        constexpr double kNothing = 0x1p-64;
        constexpr int kMost = 512;
        double kept = 1.0;
        int terms = 2;
        for (; terms < kMost && kept > kNothing; ++terms) {
            kept *= most * most_ratio(terms - 2, least) * most_ratio(terms - 1, least);
        }
        return terms;
    }
    // Of log A by w, r_0/2, along the change. All nodes at once, and 1/d as conj(d)/|d|^2: d is at
    // least 2(nu + k + 1) in size, and a division of complex numbers looks for far worse.
    template <class Rule, int N>
    std::complex<double> mean_slope(double from, std::complex<double> change, int terms) const {
        double real[N], imaginary[N], w_real[N], w_imaginary[N];
        for (int i = 0; i < N; ++i) {
            w_real[i] = from + Rule::nodes[i] * change.real();
            w_imaginary[i] = Rule::nodes[i] * change.imag();
            real[i] = last(terms);
            imaginary[i] = 0.0;
        }
        for (int k = terms; k-- > 0;) {
            const double order = 2.0 * (nu_ + k + 1.0);
            for (int i = 0; i < N; ++i) {
                const double re = order + (w_real[i] * real[i] - w_imaginary[i] * imaginary[i]);
                const double im = w_real[i] * imaginary[i] + w_imaginary[i] * real[i];
                const double norm = re * re + im * im;
                real[i] = re / norm;
                imaginary[i] = -im / norm;
            }
        }
        std::complex<double> sum = 0.0;
        for (int i = 0; i < N; ++i) {
            sum += 0.5 * Rule::weights[i] * std::complex<double>(real[i], imaginary[i]);
        }
        return sum;
    }

    double nu_;
};

}  // namespace tightnoise::contour
