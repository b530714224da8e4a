#include "cost/optimal_conversion.hpp"

#include <algorithm>
#include <cmath>

#include "cost/extremal_pair.hpp"

namespace tightnoise {
namespace {

constexpr int kSteps = 100;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A search ends where the linear step that is left is this small, relative to the answer: its error
// is the square of that. Rounding may leave a few units in the last place of w more.
constexpr double kClose = 1e-8;
constexpr double kResolution = 4 * kEpsilon;

// What the rounding of the formulas at the end may cost, several times over.
constexpr double kRounding = 24 * kEpsilon;

// A positive number that is searched for, and its bracket.
class Bracket {
  public:
    void below(double x) { lower_ = std::max(lower_, x); }
    void above(double x) { upper_ = std::min(upper_, x); }

    // The proposed number if it lies inside, else one that doubles the last or halves the bracket.
    double inside(double proposed, double last) const {
        if (proposed > lower_ && proposed < upper_) return proposed;
        if (upper_ == kInfinity) return 2.0 * last;
        if (lower_ == 0.0) return 0.125 * upper_;
        return lower_ < 0.25 * upper_ ? std::sqrt(lower_) * std::sqrt(upper_)
                                      : 0.5 * (lower_ + upper_);
    }

  private:
    double lower_ = 0.0, upper_ = kInfinity;
};

// The divergence that is looked for, at a given product alpha delta.
//
// For fixed delta, log(1 + (e^(hD) - 1)/(alpha delta))/h is about u, be u small or large: both F -
// 1 ~ alpha delta h u and F - 1 ~ alpha delta e^(hu) give it, and at alpha delta = 1 it is exact.
// (It is the second branch of Lemma 1.) So Newton's method is applied to it.
class Target {
  public:
    Target(double h, double rdp, double product)
        : h_(h), rdp_(rdp), product_(product), decay_(h * rdp) {}

    double first_u() const {
        return rdp_ + log1p((1.0 - product_) * (decay_.gone / product_)) / h_;
    }

    // What epsilon at least grows by when the divergence grows from the pair's to the target.
    double step(const ExtremalPair& pair) const {
        // With Z(t) = alpha delta e^-t + 1 - e^-t, the difference of the two logarithms is
        // tau - D + log[Z(h tau)/Z(hD)]/h.
        const double z = (h_ * pair.excess + product_ * pair.rest) / pair.full;
        const double gap = h_ * (rdp_ - pair.rdp), inverse = pair.rest / pair.full;  // e^(-hD)
        const double difference = std::abs(gap) < 1.0 ? -expm1(-gap) * inverse       //
                                                      : inverse - decay_.rest;
        const double change = (rdp_ - pair.rdp) + log1p((1.0 - product_) * difference / z) / h_;
        return change * z * pair.per_rdp;
    }

  private:
    double h_, rdp_, product_;
    Decay decay_;
};

// w with w + psi(w) = goal > 0: increasing and convex, and psi is above -w/2 and log(h/alpha), so
// Newton's steps come from the right.
Slope slope_of_sum(double alpha, double goal) {
    double w = std::min(2.0 * goal, goal + log(alpha / (alpha - 1.0)));
    for (int i = 0; i < kSteps; ++i) {
        const Slope slope(alpha, w);
        const double step = (goal - w - slope.psi) / (1.0 + slope.psi_slope);
        w += step;
        if (std::abs(step) <= kClose * w) break;
    }
    return Slope(alpha, w);
}

// d log(delta)/dv at fixed epsilon.
double log_delta_slope(const Slope& slope, const ExtremalPair& pair) {
    return pair.log_delta_slope + slope.log_k_slope / (1.0 + slope.psi_slope);
}

// v after a step of log v; far from the root a step may be absurd.
double stepped(double v, double log_step) {
    return v * exp(std::clamp(log_step, -20.0, 20.0));
}

// v with (1 - e^-v) K(u + v) = delta: delta increases with v at fixed u, to 1/alpha.
double other_log_ratio(double alpha, double u, double delta, double guess) {
    Bracket bracket;
    double v = guess;
    for (int i = 0; i < kSteps; ++i) {
        const Slope slope(alpha, u + v);
        const ExtremalPair pair(alpha, slope, u, v);
        const double missing = log1p(pair.delta_short_of(delta) / pair.delta);
        const double log_slope = v * (pair.log_delta_slope + slope.log_k_slope);
        const double step = missing / log_slope;
        if (std::abs(step) <= kClose) return v * (1.0 + step);
        (missing > 0.0 ? bracket.below(v) : bracket.above(v));
        v = bracket.inside(stepped(v, step), v);
    }
    return v;
}

// For alpha < 2 and delta near 1/2 or above, where delta nearly fixes w: the search is for u.
double epsilon_by_u(double alpha, double delta, const Target& target) {
    Bracket bracket;
    double u = target.first_u(), v = 1.0;
    for (int i = 0; i < kSteps; ++i) {
        v = other_log_ratio(alpha, u, delta, v);
        const Slope slope(alpha, u + v);
        const ExtremalPair pair(alpha, slope, u, v);
        const double step = target.step(pair);
        const double gain = (step - pair.delta_short_of(delta)) / pair.per_epsilon;
        if (step < 0.0 && pair.epsilon < -kRounding * (u + v)) return 0.0;
        if (std::abs(gain) <= kClose * u) {
            return std::max(pair.epsilon + gain + kRounding * u, 0.0);
        }
        (step > 0.0 ? bracket.below(u) : bracket.above(u));
        const double by_w = slope.log_k_slope / (pair.log_delta_slope + slope.log_k_slope);
        u = bracket.inside(u + gain / (1.0 + slope.psi_slope * (1.0 - by_w)), u);
    }
    return kInfinity;
}

}  // namespace

double optimal_epsilon_upper(double alpha, double rdp, double delta) {
    const Target target(alpha - 1.0, rdp, alpha * delta);
    if (alpha < 2.0 && delta > 0.45) return epsilon_by_u(alpha, delta, target);
    // delta gives v for each w, since (1 - e^-v) K(w) = delta.
    Bracket bracket;
    double w = target.first_u();
    w -= log1p(-std::min(delta / Slope(alpha, w).k, 0.9));
    for (int i = 0; i < kSteps; ++i) {
        const Slope slope(alpha, w);
        const double b = delta / slope.k, v = -log1p(-b), u = w - v;
        if (!(b < 1.0 && u > 0.0)) {
            bracket.below(w);
            w = bracket.inside(0.0, w);
            continue;
        }
        const ExtremalPair pair(alpha, slope, u, v);
        const double step = target.step(pair);
        const double gain = (step - pair.delta_short_of(delta)) / pair.per_epsilon;
        if (step < 0.0 && pair.epsilon < -kRounding * w) return 0.0;
        if (std::abs(gain) <= kClose * u + kResolution * w) {
            return std::max(pair.epsilon + gain + kRounding * u, 0.0);
        }
        (step > 0.0 ? bracket.below(w) : bracket.above(w));
        const double by_v = slope.log_k_slope / pair.log_delta_slope;
        w = bracket.inside(w + gain / (1.0 + by_v + slope.psi_slope), w);
    }
    return kInfinity;
}

double optimal_delta_upper(double alpha, double rdp, double epsilon, double guess) {
    const double h = alpha - 1.0;
    const double target_gone = Decay(h * rdp).gone;
    Bracket bracket;
    double v = 2.0 * guess;
    for (int i = 0; i < kSteps; ++i) {
        const Slope slope = slope_of_sum(alpha, epsilon + v);
        const ExtremalPair pair(alpha, slope, epsilon - slope.psi, v);
        // log[(e^(h tau) - 1)/(F - 1)]: F - 1 is about proportional to delta.
        const double missing =
            h * (rdp - pair.rdp) + log(target_gone * pair.full / (h * pair.excess));
        const double gain = missing * pair.slack;
        // Near delta = 1 the curvature is that of log(1 - delta).
        if (std::abs(gain) <= kClose * pair.delta * std::max(pair.complement, 1e-6)) {
            return (pair.delta + gain) * (1.0 + kRounding * (1.0 + h * pair.u));
        }
        (missing > 0.0 ? bracket.below(v) : bracket.above(v));
        const double step = gain / (pair.delta * log_delta_slope(slope, pair) * v);
        v = bracket.inside(stepped(v, step), v);
    }
    return 1.0;
}

double optimal_rdp_lower(double alpha, double epsilon, double delta) {
    const double h = alpha - 1.0;
    Bracket bracket;
    double v = 2.0 * delta;
    for (int i = 0; i < kSteps; ++i) {
        const Slope slope = slope_of_sum(alpha, epsilon + v);
        const ExtremalPair pair(alpha, slope, epsilon - slope.psi, v);
        const double missing = log1p(pair.delta_short_of(delta) / pair.delta);
        if (std::abs(missing) <= kClose * pair.complement) {
            const double rdp = pair.rdp + pair.delta_short_of(delta) / pair.per_rdp;
            const double rounding = rdp + pair.u * std::min(h * rdp, 1.0);
            return std::max(rdp - kRounding * rounding, 0.0);
        }
        (missing > 0.0 ? bracket.below(v) : bracket.above(v));
        const double step = missing / (log_delta_slope(slope, pair) * v);
        v = bracket.inside(stepped(v, step), v);
    }
    return 0.0;
}

}  // namespace tightnoise
