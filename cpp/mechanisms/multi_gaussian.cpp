#include "mechanisms/multi_gaussian.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/bracketed_quantile.hpp"
#include "mechanisms/lattice_mass.hpp"

namespace tightnoise {
namespace {

// x / sensitivity = node + u.
struct Position {
    double node, u;
};

Position position(double x, double sensitivity, double modes) {
    const double at = x / sensitivity;
    const double node = std::min(std::max(std::nearbyint(at), -modes), modes);
    return {node, at - node};
}

// sum over k from 1 to K of k^power e^(-k epsilon), power 1 or 2.
double weighted_sum(double epsilon, double modes, int power) {
    if (modes * epsilon < 2.0) {
        long double sum = 0.0;
        for (double k = 1.0; k <= modes; k += 1.0) {
            sum += (power == 1 ? k : k * k) * std::exp(-k * epsilon);
        }
        return static_cast<double>(sum);
    }
    // Summed by parts; the differences cancel little from modes * epsilon = 2 on.
    const double rest = -std::expm1(-epsilon);
    const double end = std::exp(-(modes + 1.0) * epsilon);
    const double zeroth = geometric_sum(epsilon, 1.0, modes);
    const double first = (zeroth - modes * end) / rest;
    if (power == 1) return first;
    return (2.0 * first - zeroth - modes * modes * end) / rest;
}

}  // namespace

MultiGaussianLaw::MultiGaussianLaw(double sigma, double epsilon, double sensitivity, double modes)
    : sigma_(sigma),
      epsilon_(epsilon),
      sensitivity_(sensitivity),
      modes_(modes),
      lattice_(epsilon, sigma / sensitivity, modes),
      log_total_(modes > 0.0 ? std::log1p(2.0 * geometric_sum(epsilon, 1.0, modes)) : 0.0),
      log_normaliser_(log_total_ + kLogSqrtTwoPi + std::log(sigma)) {}

double MultiGaussianLaw::log_density(double x) const {
    return density_point(x).log_density;
}

DensityPoint MultiGaussianLaw::density_point(double x) const {
    if (std::isnan(x)) return {x, x};
    if (std::isinf(x)) return {-HUGE_VAL, std::copysign(modes_ * sensitivity_, x)};
    const Position at = position(x, sensitivity_, modes_);
    const LatticeSum sum = lattice_.sum(at.node, at.u);
    return {sum.exponent + (std::log(sum.sum) - log_normaliser_),
            (at.node + sum.mean) * sensitivity_};
}

double MultiGaussianLaw::distribution(double x) const {
    if (std::isnan(x)) return x;
    if (x > 0.0) return 1.0 - distribution(-x);
    const Position at = position(x, sensitivity_, modes_);
    const double low = -modes_ - kNormalEnd * lattice_.s() - at.node;
    if (!(at.u > low)) return 0.0;
    return std::min(lattice_mass(lattice_, -log_total_, at.node, low, at.u), 0.5);
}

double MultiGaussianLaw::mass(double from, double to) const {
    if (from + to < 0.0) return mass(-to, -from);
    const Position at = position(from, sensitivity_, modes_);
    return lattice_mass(lattice_, -log_total_, at.node, at.u, at.u + (to - from) / sensitivity_);
}

// In units of the density at x, or of the weight of the next node out where that is greater: one of
// the two is next to all there is.
double MultiGaussianLaw::log_tail(double x) const {
    const Position at = position(x, sensitivity_, modes_);
    const double next = std::ceil(x / sensitivity_);
    const double node = next <= modes_ ? -next * epsilon_ - log_total_ : -HUGE_VAL;
    const double unit = std::max(log_density(x) + std::log(sensitivity_), node);
    const double high = modes_ + kNormalEnd * lattice_.s() - at.node;
    const double far = std::max(high, at.u + kNormalEnd * lattice_.s());
    return unit + std::log(lattice_mass(lattice_, -log_total_ - unit, at.node, at.u, far));
}

double MultiGaussianLaw::quantile(double q) const {
    return symmetric_quantile(*this, q, modes_ * sensitivity_ + kNormalEnd * sigma_);
}

double MultiGaussianLaw::mean_abs() const {
    // E|N(k, s^2)| = |k| + 2 (s phi(k / s) - |k| Phi(-|k| / s)), of which the second part is
    // 2 s phi(z) (1 - z m(z)), z = |k| / s, m Mills ratio.
    const double s = sigma_ / sensitivity_;
    long double sum = 1.0;
    for (double k = std::min(modes_, std::floor(kNormalEnd * s)); k >= 1.0; k -= 1.0) {
        const double z = k / s;
        const double excess = std::exp(-k * epsilon_ - 0.5 * z * z) * (1.0 - z * mills_positive(z));
        sum += 2.0 * excess;
    }
    const double spread = 2.0 * s * kInverseSqrtTwoPi * static_cast<double>(sum);
    const double lattice = 2.0 * weighted_sum(epsilon_, modes_, 1);
    return sensitivity_ * ((spread + lattice) * std::exp(-log_total_));
}

double MultiGaussianLaw::variance() const {
    const double lattice = 2.0 * weighted_sum(epsilon_, modes_, 2) * std::exp(-log_total_);
    return sigma_ * sigma_ + sensitivity_ * sensitivity_ * lattice;
}

}  // namespace tightnoise
