#include "cost/contour/direction_density.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/vmf_divergence.hpp"
#include "numeric/bessel.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {

Hyperbolic::Hyperbolic(double v) {
    const double e = expm1(-2.0 * std::fabs(v)), power = exp(-2.0 * std::fabs(v));
    const double size = -e / (2.0 + e);
    tanh = v < 0.0 ? -size : size;
    sech_square = 4.0 * power / ((2.0 + e) * (2.0 + e));
    log_cosh = size < 0.7 ? -0.5 * log1p(-size * size) : -0.5 * log(sech_square);
}

DirectionDensity::DirectionDensity(double kappa, double dim, double half_chord)
    : kappa_(kappa),
      dim_(dim),
      half_chord_(half_chord),
      h_(kappa * half_chord),
      g_(kappa * std::sqrt((1.0 - half_chord) * (1.0 + half_chord))),
      m_(dim - 1.0) {}

double DirectionDensity::log_density(const Hyperbolic& at) const {
    const double along = -h_ * at.tanh - m_ * at.log_cosh;
    if (g_ == 0.0) return along;
    const double z = g_ * std::sqrt(at.sech_square);
    if (m_ < 2.0) return along + (z + log1p(0.5 * expm1(-2.0 * z)));  // log cosh z
    return along + log_sphere_mean(0.5 * m_ - 1.0, z);
}

// z A'(z)/A(z) <= min(z, z^2/m): an error of z counts so much.
double DirectionDensity::log_density_error(const Hyperbolic& at) const {
    const double z = g_ * std::sqrt(at.sech_square);
    const double across =
        20.0 * std::min(z, z * z / m_) + (m_ < 2.0 ? 4.0 * std::min(z, 1.0) : 0.0);
    return 7.0 * h_ * std::fabs(at.tanh) + 20.0 * m_ * at.log_cosh + across + 4.0;
}

double DirectionDensity::pull_across(const Hyperbolic& at) const {
    const double z = g_ * std::sqrt(at.sech_square);
    return m_ < 2.0 ? z * std::tanh(z) : z * iv_ratio(0.5 * m_ - 1.0, z);
}

double DirectionDensity::slope(const Hyperbolic& at, double pull) const {
    return pull * at.sech_square - (m_ + pull_across(at)) * std::fabs(at.tanh);
}

double DirectionDensity::scale() const {
    return 1.0 / std::sqrt(m_ + std::min(g_, g_ * g_ / m_));
}

double DirectionDensity::log_sphere_growth(double d) const {
    if (g_ == 0.0) return 0.0;
    const double tangent = std::tan(d);
    if (m_ < 2.0) return g_ * (1.0 / std::cos(d) - 1.0) * (1.0 + 1e-12);
    return log_sphere_mean_rise(0.5 * m_ - 1.0, g_, g_ * tangent * (g_ * tangent)) * (1.0 + 1e-12);
}

// But for |w^u| at a turned by b.
double DirectionDensity::log_growth_along(double d, double t, double order, double rate) const {
    constexpr double kMostBend = 0.38490018;  // sup of T (1 - T^2)
    const double tangent = std::tan(d), most_share = order < 0.0 ? rate : 1.0;
    return (1.0 + 2.0 * t * most_share) * h_ * kMostBend * tangent * tangent -
           m_ * std::log(std::cos(d)) + log_sphere_growth(d) + 1e-9;
}

double DirectionDensity::log_growth(double d, double t, double order, double rate) const {
    const double b = 2.0 * h_ * std::tan(d);
    const double of_power = order < 0.0 && rate < 1.0 ? order * std::log(std::cos(0.5 * b)) : 0.0;
    return of_power + log_growth_along(d, t, order, rate);
}

double DirectionDensity::log_mean_growth(double d, double t, double order, double rate,
                                         double reach) const {
    const double b = 2.0 * h_ * std::tan(d);
    const double by_place = log_growth(d, t, order, rate) + reach * b;
    if (!(order < 0.0 && rate < 1.0 && b < 0.5 * kPi && reach * std::tan(b) <= t)) return by_place;
    const double cosine = std::cos(b), less = rate * (1.0 - cosine);
    const double angle = std::atan2(rate * std::sin(b), 1.0 - less);
    return std::min(by_place, log_growth_along(d, t, order, rate) - t * std::log1p(-less) +
                                  reach * angle + kLog2 + 1e-9);
}

double DirectionDensity::log_unsampled_moment(double t) const {
    if (!(t > 0.0)) return 0.0;
    const double cosine = std::sqrt((1.0 - half_chord_) * (1.0 + half_chord_));
    return t * vmf_renyi({0.5 * dim_ - 1.0, kappa_, half_chord_, cosine}, 1.0 + t) * (1.0 + 1e-14) +
           1e-300;
}

}  // namespace tightnoise::contour
