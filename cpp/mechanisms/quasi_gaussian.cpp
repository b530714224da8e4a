#include "mechanisms/quasi_gaussian.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/bracketed_quantile.hpp"
#include "mechanisms/normal_mass.hpp"
#include "mechanisms/positive_part.hpp"

namespace tightnoise {
namespace {

// log(1 + e^t).
double softplus(double t) {
    return t > 0.0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t));
}

double logistic(double t) {
    return t > 0.0 ? 1.0 / (1.0 + std::exp(-t)) : std::exp(t) / (1.0 + std::exp(t));
}

// softplus(t + rise) - softplus(t), rise >= 0.
double softplus_rise(double t, double rise) {
    return rise < 30.0 ? std::log1p(logistic(t) * std::expm1(rise))
                       : softplus(t + rise) - softplus(t);
}

// In units of the sensitivity.
class QuasiGaussian {
  public:
    explicit QuasiGaussian(const QuasiGaussianLaw& law)
        : s_(law.sigma() / law.sensitivity()),
          epsilon_(law.epsilon()),
          log_centre_weight_(law.log_centre_weight()) {}

    double s() const { return s_; }
    double log_centre_weight() const { return log_centre_weight_; }
    double log_side_weight() const { return log_centre_weight_ - epsilon_; }

    // The logarithm of the odds of the normal density at the side against that at 0.
    double log_odds(double distance) const { return (distance - 0.5) / (s_ * s_) - epsilon_; }

    // e^scale times the integral of f over [a, b].
    double mass(double scale, double a, double b) const {
        double sum = scaled_normal_mass(scale + log_centre_weight(), a / s_, b / s_);
        const double side = scale + log_side_weight();
        if (a < 0.0) sum += scaled_normal_mass(side, (a + 1.0) / s_, (std::min(b, 0.0) + 1.0) / s_);
        if (b > 0.0) sum += scaled_normal_mass(side, (std::max(a, 0.0) - 1.0) / s_, (b - 1.0) / s_);
        return sum;
    }

  private:
    double s_, epsilon_, log_centre_weight_;
};

class QuasiPair {
  public:
    struct Point {
        double x, excess;
        double m0, m1;
        double log_top;
    };

    // Positions u mean x = u + origin and x + shift = u + shifted.
    QuasiPair(const QuasiGaussian& law, double epsilon, double shift, double origin, double shifted)
        : law_(law), epsilon_(epsilon), shift_(shift), origin_(origin), shifted_(shifted) {}

    Point at(double u, Side side) const {
        const double s = law_.s(), square = s * s;
        const double x0 = u + origin_, x1 = u + shifted_;
        const double sign0 = sign(x0, side), sign1 = sign(x1, side);
        const double d0 = sign0 * x0, d1 = sign1 * x1;
        const double t0 = law_.log_odds(d0), t1 = law_.log_odds(d1);
        const double farther = sign0 == sign1 ? sign0 * shift_ : d1 - d0;  // d1 - d0
        const double rise = std::fabs(farther) / square;
        const double odds = farther > 0.0 ? softplus_rise(t0, rise) : -softplus_rise(t1, rise);
        Point p;
        p.x = u;
        p.excess = (odds - shift_ * (0.5 * (x0 + x1) / square)) - epsilon_;
        p.m0 = sign0 * logistic(t0);
        p.m1 = sign1 * logistic(t1);
        p.log_top = softplus(t1) - 0.5 * x1 * x1 / square + law_.log_centre_weight() -
                    kLogSqrtTwoPi - std::log(s);
        return p;
    }

    double slope(const Point& p) const { return (p.m1 - p.m0 - shift_) / (law_.s() * law_.s()); }
    double top(const Point& p) const { return std::exp(p.log_top); }
    double top_score(const Point& p) const {
        return (p.m1 - (p.x + shifted_)) / (law_.s() * law_.s());
    }
    double scale() const { return law_.s(); }
    double scale_between(double, double) const { return law_.s(); }
    double close() const { return 1e-7 * law_.s() * std::min(law_.s(), 1.0); }
    double bend() const { return law_.s() * std::min(law_.s(), 1.0); }

    ExcessBounds bounds(const Point& a, const Point& b) const {
        const double inverse = 1.0 / (law_.s() * law_.s());
        return {{shift_ * inverse * (a.m0 - (b.x + shifted_)) - epsilon_,
                 shift_ * inverse * (b.m1 - (a.x + origin_)) - epsilon_},
                {(a.m1 - b.m0 - shift_) * inverse, (b.m1 - a.m0 - shift_) * inverse}};
    }

    double top_mass(double a, double b) const { return law_.mass(0.0, a + shifted_, b + shifted_); }
    double bottom_mass(double a, double b) const {
        return law_.mass(epsilon_, a + origin_, b + origin_);
    }

  private:
    static double sign(double x, Side side) {
        return x < 0.0 || (x == 0.0 && side == Side::left) ? -1.0 : 1.0;
    }

    const QuasiGaussian& law_;
    double epsilon_, shift_, origin_, shifted_;
};

PositivePart divergence(const QuasiGaussianLaw& in_units, double shift, double epsilon) {
    const QuasiGaussian law(in_units);
    const double s = law.s();
    // |log h(|x + shift|) - log h(|x|)| <= shift / s^2, f(x) = e^(-x^2 / (2 s^2)) h(|x|).
    const double spread = epsilon * s * s / shift + 0.5 * shift;
    const double tail = -1.0 - shift - kNormalEnd * s;
    const double visible = 1.0 - shift + kNormalEnd * s;  // f(x + shift) ends there
    const double first_root = -1.0 - spread - 0.013 * s;
    if (first_root >= visible) return {1.0, 0.0, 0.0};
    const double low = std::max(first_root, tail);
    const double high = std::min(1.0 - spread + 0.017 * s, visible);
    PositivePart total;
    if (!(low < high)) return total;
    Sign sign = Sign::unknown;
    double from = tail, begin = low;
    // Positions left of -shift / 2 are counted from -shift, where x + shift has its digits; the
    // kinks of f(x + shift) and f(x) are ends of zones.
    const auto zone = [&](double end, double origin, double shifted) {
        end = std::min(end, high);
        if (!(begin < end)) return;
        const QuasiPair pair(law, epsilon, shift, origin, shifted);
        add(total, positive_part(pair, begin - origin, end - origin, from - origin, sign), 1.0);
        from = begin = end;
    };
    zone(-shift, -shift, 0.0);
    zone(-0.5 * shift, -shift, 0.0);
    zone(0.0, 0.0, shift);
    zone(high, 0.0, shift);

    // The heat equation holds between the kinks, for the density over w_1.
    const double slope =
        std::exp(law.log_side_weight() - 0.5 / (s * s)) * kInverseSqrtTwoPi / (s * s * s);
    const bool in_top =
        QuasiPair(law, epsilon, shift, -shift, 0.0).at(0.0, Side::right).excess > 0.0;
    const bool in_bottom =
        QuasiPair(law, epsilon, shift, 0.0, shift).at(0.0, Side::right).excess > 0.0;
    if (in_top) total.d_log_scale -= 2.0 * slope;
    if (in_bottom) total.d_log_scale += 2.0 * slope * std::exp(epsilon);
    total.d_log_scale += 2.0 * slope * total.delta;
    return total;
}

}  // namespace

QuasiGaussianLaw::QuasiGaussianLaw(double sigma, double epsilon, double sensitivity)
    : sigma_(sigma),
      epsilon_(epsilon),
      sensitivity_(sensitivity),
      log_centre_weight_(-std::log1p(2.0 * ndtr(sensitivity / sigma) * std::exp(-epsilon))) {}

double QuasiGaussianLaw::log_density(double x) const {
    if (std::isnan(x)) return x;
    if (std::isinf(x)) return -HUGE_VAL;
    const double z = x / sigma_;
    const double odds = QuasiGaussian(*this).log_odds(std::fabs(x) / sensitivity_);
    return (softplus(odds) - 0.5 * z * z) + (log_centre_weight_ - kLogSqrtTwoPi - std::log(sigma_));
}

double QuasiGaussianLaw::distribution(double x) const {
    if (std::isnan(x)) return x;
    if (x > 0.0) return 1.0 - distribution(-x);
    const QuasiGaussian law(*this);
    const double at = x / sensitivity_;
    const double low = -1.0 - kNormalEnd * law.s();
    return at > low ? std::min(law.mass(0.0, low, at), 0.5) : 0.0;
}

double QuasiGaussianLaw::log_tail(double x) const {
    const QuasiGaussian law(*this);
    const double at = x / sensitivity_;
    return log_sum(law.log_centre_weight() + log_ndtr(-at / law.s()),
                   law.log_side_weight() + log_ndtr((1.0 - at) / law.s()));
}

double QuasiGaussianLaw::mass(double from, double to) const {
    return QuasiGaussian(*this).mass(0.0, from / sensitivity_, to / sensitivity_);
}

double QuasiGaussianLaw::quantile(double q) const {
    return symmetric_quantile(*this, q, sensitivity_ + kNormalEnd * sigma_);
}

// E|x| and E x^2 of N(|x|; sensitivity, sigma^2) on the whole line are, with r = sensitivity /
// sigma, 2 (sensitivity Phi(r) + sigma phi(r)) and 2 ((sigma^2 + sensitivity^2) Phi(r) + sigma
// sensitivity phi(r)).
double QuasiGaussianLaw::mean_abs() const {
    const double r = sensitivity_ / sigma_;
    const double density = kInverseSqrtTwoPi * exp_minus_half_square(r);
    const double side = 2.0 * (sensitivity_ * ndtr(r) + sigma_ * density);
    return std::exp(log_centre_weight_) *
           (2.0 * kInverseSqrtTwoPi * sigma_ + std::exp(-epsilon_) * side);
}

double QuasiGaussianLaw::variance() const {
    const double r = sensitivity_ / sigma_;
    const double density = kInverseSqrtTwoPi * exp_minus_half_square(r);
    const double square = sigma_ * sigma_;
    const double side =
        2.0 * ((square + sensitivity_ * sensitivity_) * ndtr(r) + sigma_ * sensitivity_ * density);
    return std::exp(log_centre_weight_) * (square + std::exp(-epsilon_) * side);
}

ShiftDivergence shift_divergence(const QuasiGaussianLaw& law, double shift, double epsilon) {
    return shift_divergence_by(shift, epsilon, law.sigma(), [&](double by) {
        return part_in_units(divergence(law, by / law.sensitivity(), std::fabs(epsilon)),
                             law.sensitivity());
    });
}

}  // namespace tightnoise
