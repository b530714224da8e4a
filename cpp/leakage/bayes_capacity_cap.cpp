// Von Mises-Fisher with its mean direction in a cap of half-angle psi <= pi/2. With n = dim - 2 and
// phi the angle from the pole, the mean direction nearest to an output is phi itself within the
// cap, and psi on its rim:
//
//     C = N / Z,  N = integral_0^pi e^(kappa cos(max(phi - psi, 0))) sin^n(phi) dphi,
//                 Z = integral_0^pi e^(kappa cos phi) sin^n(phi) dphi.
//
// Both integrands are narrow peaks where kappa or n is large. They are taken relative to the top of
// Z's at phi0, where kappa sin^2(phi0) = n cos(phi0); N's is larger than Z's by e^gain,
//
//     gain = kappa (1 - cos phi) = 2 kappa sin^2(phi/2)                          within the cap,
//            kappa (cos(phi - psi) - cos phi) = 2 kappa sin(psi/2) sin(phi - psi/2)   outside,
//
// and C - 1 = integral of N's (1 - e^-gain), over Z, where C is near 1. Angles are measured from an
// origin next to which both peaks are or, if N's is farther from Z's than from the rim, the rim.
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <initializer_list>

#include "leakage/bayes_capacity.hpp"
#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

constexpr double kDepth = 60.0;  // the peaks end where they have fallen by e^-60

// The largest t in (0, limit] at which `holds`, which it does up to some point and not beyond.
template <class Holds>
double reach_of(double limit, Holds holds) {
    if (!(limit > 0.0) || holds(limit)) return limit;
    double low = 1e-100 * limit;  // beyond the range of kappa nothing is as narrow
    double high = limit;
    while (high > low * (1.0 + 1e-14)) {
        const double middle = std::sqrt(low) * std::sqrt(high);
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

// integral of f from edge to edge, in order; f is smooth between them.
template <class Function>
double integral_between(std::initializer_list<double> edges, Function f) {
    using Rule = GaussLegendre<64>;
    double sum = 0.0;
    for (const double* edge = edges.begin(); edge + 1 != edges.end(); ++edge) {
        const double half = 0.5 * (edge[1] - edge[0]);
        if (!(half > 0.0)) continue;
        for (const double start : {edge[0], edge[0] + half}) {
            for (int i = 0; i < 64; ++i) {
                sum += half * Rule::weights[i] * f(start + half * Rule::nodes[i]);
            }
        }
    }
    return sum;
}

double squared_sine_of_half(double angle) {
    const double sine = std::sin(0.5 * angle);
    return sine * sine;
}

// sin(phi + d) / sin phi - 1 for the cotangent of phi, 0 < phi + d < pi.
double rise_of_sine(double cotangent, double d) {
    const double rise = cotangent * std::sin(d) - 2.0 * squared_sine_of_half(d);
    constexpr double kLeast = -1.0 + 1e-15;  // rounding could reach -1
    return rise > kLeast ? rise : kLeast;
}

// e^(kappa cos phi) sin^n(phi), and its top.
struct PolePeak {
    PolePeak(double concentration, double power) : kappa(concentration), n(power) {
        const double inverse = 2.0 / (n + std::hypot(n, 2.0 * kappa));
        cosine = kappa * inverse;
        sine = std::sqrt(n * inverse);
        angle = std::atan2(sine, cosine);
        cotangent = n > 0.0 ? cosine / sine : 0.0;
        curvature = n + kappa * cosine;
    }

    // The log of it at angle + d over that at the top, never above 0: n (log(1 + x) - x) -
    // 2 sin^2(d/2) (n + kappa cos phi0), where 1 + x = sin phi / sin phi0.
    double log_relative(double d) const {
        constexpr boost::math::policies::policy<boost::math::policies::promote_double<false>>
            doubles;
        const double x = rise_of_sine(cotangent, d);
        return n * boost::math::log1pmx(x, doubles) - 2.0 * squared_sine_of_half(d) * curvature;
    }

    double kappa, n;
    double cosine, sine, angle, cotangent;  // of phi0
    double curvature;
};

// N's integrand at `origin` + d, in units of e^log_unit times the top of Z's.
class CapPeak {
  public:
    // Far from Z's top, e^(kappa cos phi) must not be in it: the gain would cancel that. There the
    // unit is what is at the rim: (sin psi / sin phi0)^n e^(kappa (1 - cos phi0)).
    CapPeak(const PolePeak& pole, double half_angle)
        : pole_(pole),
          psi_(half_angle),
          is_near_(half_angle <= 3.0 * pole.angle),
          origin_(is_near_ ? pole.angle : half_angle),
          rim_(half_angle - origin_),
          cotangent_(std::cos(half_angle) / std::sin(half_angle)) {
        if (is_near_ || !(pole.n > 0.0)) return;
        const double ratio = std::sin(half_angle) / pole.sine;
        log_unit_ = pole.n * (std::log(ratio) + pole.cosine / (1.0 + pole.cosine));
    }

    double log_unit() const { return log_unit_; }
    double origin() const { return origin_; }
    double rim() const { return rim_; }

    double gain(double d) const {
        const double phi = origin_ + d;
        if (d <= rim_) return 2.0 * pole_.kappa * squared_sine_of_half(phi);
        return 2.0 * pole_.kappa * std::sin(0.5 * psi_) * std::sin(phi - 0.5 * psi_);
    }

    double log_relative(double d) const {
        if (is_near_) return pole_.log_relative(d) + gain(d);
        const double outside = d > 0.0 ? 2.0 * pole_.kappa * squared_sine_of_half(d) : 0.0;
        return pole_.n * std::log1p(rise_of_sine(cotangent_, d)) - outside;
    }

    // Where it is largest: at the rim or beyond, kappa sin(phi - psi) tan(phi) = n.
    double top() const {
        const double beyond = reach_of(0.5 * kPi - psi_, [this](double u) {
            const double slope = pole_.n * std::cos(psi_ + u);
            return slope > pole_.kappa * std::sin(u) * std::sin(psi_ + u);
        });
        return rim_ + (beyond > 0.0 ? beyond : 0.0);
    }

  private:
    const PolePeak& pole_;
    double psi_;
    bool is_near_;
    double origin_, rim_;
    double cotangent_;
    double log_unit_ = 0.0;
};

struct Range {
    double low, high;
};

// Where a peak counts, its angles between 0 and pi.
template <class LogPeak>
Range range_about(double top, double origin, LogPeak log_peak) {
    const double least = log_peak(top) - kDepth;
    return {
        top - reach_of(origin + top, [&](double t) { return log_peak(top - t) > least; }),
        top + reach_of(kPi - origin - top, [&](double t) { return log_peak(top + t) > least; })};
}

}  // namespace

double log_cap_capacity(double kappa, double dim, double half_angle) {
    if (!(kappa > 0.0) || !(half_angle > 0.0)) return 0.0;
    const PolePeak pole(kappa, dim - 2.0);
    const auto log_pole = [&](double d) { return pole.log_relative(d); };
    const Range below = range_about(0.0, pole.angle, log_pole);
    const double z = integral_between({below.low, 0.0, below.high},
                                      [&](double d) { return std::exp(log_pole(d)); });

    const CapPeak cap(pole, half_angle);
    const auto log_cap = [&](double d) { return cap.log_relative(d); };
    const double top = cap.top();
    const double height = log_cap(top);
    const Range above = range_about(top, cap.origin(), log_cap);
    const double rim = cap.rim() > above.low ? cap.rim() : above.low;
    const auto integral = [&](auto f) {
        return integral_between({above.low, rim, top, above.high}, f);
    };
    const double n = integral([&](double d) { return std::exp(log_cap(d) - height); });
    const double log_capacity = cap.log_unit() + height + std::log(n / z);
    if (log_capacity > 0.5) return log_capacity;
    const double excess = integral(
        [&](double d) { return std::exp(log_cap(d) - height) * -std::expm1(-cap.gain(d)); });
    return std::log1p(std::exp(cap.log_unit() + height) * (excess / z));
}

}  // namespace tightnoise
