// The images that the trapezoidal rule adds: A(x) of CONTOUR.md, section 2, bounded from above.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cost/contour/law.hpp"

namespace tightnoise::contour {

// log kap(a), kap(a) = a^a/(1 + a)^(1 + a) = sup_u (1 - e^-u) e^(-a u), for a >= 0.
double log_kappa(double a);

// log(1/(e^t - 1)), of a geometric series, for t > 0.
double log_geometric(double t);

// log E_P[e^(-(1 + t) S)] of all releases together, t = 2^exponent, each computed once. What is
// trimmed changes none of them. Refers to the terms.
class SwappedMoments {
  public:
    explicit SwappedMoments(const Terms& terms) : terms_(terms) {}
    double at(int exponent);  // an upper bound

  private:
    const Terms& terms_;
    std::unordered_map<int, double> known_;
};

// Sums of the releases' moments, each tilt's computed once: searches come back to the same tilts.
// One query's own, as it is not shared between threads; it refers to the terms.
class Moments {
  public:
    explicit Moments(const Terms& terms)
        : Moments(terms, std::make_shared<SwappedMoments>(terms)) {}
    // Of terms that are trimmed.
    Moments(const Terms& terms, std::shared_ptr<SwappedMoments> swapped)
        : terms_(terms), swapped_(std::move(swapped)) {
        for (const Releases& term : terms) memories_.push_back(term.law->memory(term.count));
    }
    // The value is never below K(t) by more than the error.
    const Moment& at(double t);
    std::vector<double> tilts() const;  // of those that are known
    const std::shared_ptr<SwappedMoments>& swapped() const { return swapped_; }

  private:
    const Terms& terms_;
    std::shared_ptr<SwappedMoments> swapped_;
    std::vector<std::unique_ptr<Law::Memory>> memories_;
    std::unordered_map<double, Moment> known_;
};

class Images {
  public:
    // Around a contour at `tilt`, for images of about e^log_tolerance, relatively.
    Images(Moments& moments, double tilt, double log_tolerance);

    // The same by tilts of which the moments are known already, one on each side at least.
    static Images among_known(Moments& moments, double tilt);

    // Takes steeper tilts into account, for laws whose large losses were trimmed.
    void extend_above(const Terms& terms);

    double tilt() const { return tilt_; }
    const Moment& moment() const { return moment_; }  // there
    SwappedMoments& swapped() const { return *swapped_; }

    // The least window for which the images at x are below e^log_want.
    double window(double x, double log_want, double smoothing) const;
    double window_above(double x, double log_want, double smoothing) const;  // of those above x
    // log of a bound of the images at x, after smoothing by N(0, smoothing^2).
    double log_bound(double x, double window, double smoothing) const;
    double log_above(double x, double window, double smoothing) const;

  private:
    Images(Moments& moments, double tilt)
        : tilt_(tilt), moment_(moments.at(tilt)), swapped_(moments.swapped()) {}

    struct Tilt {
        double at, distance, log_weight;  // of the tilt, |at - c|, log kap + K there
    };
    static Tilt tilt_at(Moments& moments, double at, double tilt);
    static double least_window(const std::vector<Tilt>& tilts, double x, double log_want,
                               double smoothing);
    static double least_bound(const std::vector<Tilt>& tilts, double x, double window,
                              double smoothing);
    // log of kap e^(K - at x) with K of the smoothed law.
    static double log_markov(const Tilt& tilt, double x, double smoothing);

    double tilt_;
    Moment moment_;
    std::vector<Tilt> above_, below_;
    std::shared_ptr<SwappedMoments> swapped_;
};

}  // namespace tightnoise::contour
