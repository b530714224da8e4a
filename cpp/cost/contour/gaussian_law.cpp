#include "cost/contour/gaussian_law.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/gaussian_profile.hpp"

namespace tightnoise::contour {
namespace {

// K(t) = mu^2 t (t + 1) / 2, and phi(y) = e^(-mu^2 y^2 / 2) once it is centred.
class GaussianLine : public Line {
  public:
    GaussianLine(double mu, double error, double step, const Moment& moment)
        : mu_(mu), error_(error), step_(step), moment_(moment) {}

    Moment moment() const override { return moment_; }
    double centre() const override { return moment_.slope; }
    void at(std::size_t first, std::size_t count, Characteristics* out) const override {
        for (std::size_t k = 0; k < count; ++k) {
            const double y = static_cast<double>(first + k) * step_;
            const double below = expm1(-0.5 * mu_ * mu_ * y * y);
            out[k] = {{below, 0.0, -(12.0 + 2.0 * error_) * kUnit * below}, {}};
        }
    }
    double log_tail(double y) const override { return -0.5 * mu_ * mu_ * y * y * (1.0 - 1e-13); }
    std::size_t work() const override { return 1; }

  private:
    double mu_, error_, step_;
    Moment moment_;
};

}  // namespace

Moment GaussianLaw::moment(double t) const {
    const double square = mu_ * mu_, value = 0.5 * square * t * (t + 1.0);
    return {value, (4.0 + 2.0 * error_) * kUnit * value, square * (t + 0.5), square};
}

// The pair is symmetric: E_P[e^(-(1 + t) L)] = M(t).
double GaussianLaw::log_swapped_moment(double t) const {
    const Moment known = moment(t);
    return known.value + known.error;
}

std::unique_ptr<Line> GaussianLaw::line(const LineRequest& request) const {
    return std::make_unique<GaussianLine>(mu_, error_, request.step, moment(request.tilt));
}

std::optional<Interval> GaussianLaw::profile(double x) const {
    const double error = error_ * kUnit;
    return Interval{gaussian_profile_bounds(mu_ * (1.0 - error), x).lower,
                    gaussian_profile_bounds(mu_ * (1.0 + error), x).upper};
}

Interval gaussian_profile_bounds(double mu, double x) {
    if (!(mu > 0.0) || x == kInfinity) return {0.0, 0.0};
    const GaussianProfile profile = gaussian_profile(x, mu);
    const double known = value(profile), error = known * (profile.error + 4.0 * kUnit) + 1e-320;
    if (!(error < kInfinity)) return {0.0, 1.0};
    const double lower = std::max(known - error, 0.0), upper = std::min(known + error, 1.0);
    if (!profile.is_complement) return {lower, upper};
    return {std::nextafter(1.0 - upper, 0.0), std::min(std::nextafter(1.0 - lower, 2.0), 1.0)};
}

}  // namespace tightnoise::contour
