// The least scale with which a mixture is private, from below. Only for .cpp files: Boost.
//
// At no single shift is the cost more than at the worst one. So the least sigma that is private at
// one shift is a lower bound, and where the certificate of worst_shift.hpp fails there, it names a
// shift that costs more: the least sigma for that one is a better bound. As the cost is level at
// the worst shift, a shift that is nearly the worst gives nearly the answer: a few rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanisms/shift_divergence.hpp"
#include "numeric/elementary.hpp"
#include "numeric/roots.hpp"
#include "worst/worst_shift.hpp"

namespace tightnoise {

// law_of(sigma, s) is the noise of sigma s for the sensitivity s. All else is in units of that: no
// shift asks for more than `most`.
template <class LawOf>
class LeastScale {
  public:
    LeastScale(LawOf law_of, double epsilon, double delta, double sensitivity, double most)
        : law_of_(law_of),
          epsilon_(epsilon),
          delta_(delta),
          sensitivity_(sensitivity),
          least_(std::min(kLeast, most)),
          most_(most),
          sigma_(least_) {}

    double sigma() const { return sigma_; }
    bool is_private() const { return is_private_; }

    void raise_to(double sigma) { sigma_ = std::max(sigma_, sigma); }
    // To what the greatest shift asks for, of which one mode may be all the proof that is needed.
    // Returns the slope of that by the shift.
    double raise_to_last_shift() {
        const Root last = root_at(1.0, kRounding);
        raise_to(last.sigma);
        return last.slope;
    }

    // And to what the maximum next to it asks for.
    void raise_to_peak() {
        const double last = raise_to_last_shift(), low = 0.5;
        if (last > 0.0 && shift_divergence(law_of_(sigma_, 1.0), low, epsilon_).delta <= delta_)
            return;
        const Root half = root_at(low, kSearched);
        raise_to(half.sigma);
        FalsePosition peak(low, half.slope, 1.0, last < 0.0 ? last : -kInfinity);
        for (int i = 0; i < 30; ++i) {
            const double shift = peak.next();
            const Root here = root_at(shift, kSearched);
            raise_to(here.sigma * (1.0 + kRoom));
            if (std::fabs(here.slope) * peak.width() <= kRoom * here.sigma) break;
            peak.narrow(shift, here.slope);
        }
    }

    // The answer in a few rounds, in units as all else; NaN if there is none. A certificate may
    // fail though no shift says by how much: then sigma is raised blindly.
    double private_sigma() {
        double step = 0.25 * kRoom;
        for (int round = 0; round < 60 && !is_private_; ++round) {
            const ShiftCheck check =
                certify_at_most(law_of_(sigma_, sensitivity_), epsilon_, sensitivity_, delta_);
            is_private_ = check.holds;
            if (check.holds) break;
            const double blindly = sigma_ * (1.0 + step);
            const double shift = std::min(check.shift / sensitivity_, 1.0);
            const double root = root_at(shift, kSearched).sigma * (1.0 + kRoom);
            if (root < blindly) step *= 4.0;
            sigma_ = std::max(root, blindly);
        }
        return is_private_ ? sigma_ : kNaN;
    }

  private:
    struct Root {
        double sigma;
        double slope;  // by the shift
    };

    // Less noise is no noise.
    static constexpr double kLeast = 0.01;
    // By how much a divergence must be below delta, relative, for its rounding upwards, and besides
    // for the tolerance of a search (worst_shift.cpp).
    static constexpr double kRounding = 1.5e-11, kSearched = 3.3e-10;
    // So much more noise, relative, that a certificate has room: where the divergence falls steeply
    // with the scale (as the square of the distance to the scale at which the density melts into
    // one mode: by 1e6 times as much for delta = 1e-12) a coarse one is enough.
    static constexpr double kRoom = 5e-10;

    // The sigma at which a shift costs delta less a fraction: Newton's method for the logarithm,
    // in a bracket.
    Root root_at(double shift, double below) const {
        const double target = std::log((delta_ - 1.1e-306) * (1.0 - below));
        double low = least_, high = most_;
        Root root{sigma_, 0.0};
        for (int i = 0; i < 100; ++i) {
            const ShiftDivergence at = shift_divergence(law_of_(root.sigma, 1.0), shift, epsilon_);
            const double excess = std::log(at.delta) - target;
            root.slope = -at.d_shift / at.d_scale;
            (excess > 0.0 ? low : high) = root.sigma;
            const double next = root.sigma - excess * at.delta / at.d_scale;
            if (std::fabs(excess) < 1e-6) {
                root.sigma = next;
                break;
            }
            if (!(high - low > 0x1p-50 * high)) break;
            root.sigma = next > low && next < high ? next : 0.5 * (low + high);
        }
        return root;
    }

    LawOf law_of_;
    double epsilon_, delta_, sensitivity_, least_, most_, sigma_;
    bool is_private_ = false;
};

}  // namespace tightnoise
