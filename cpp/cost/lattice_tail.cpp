#include "cost/lattice_tail.hpp"

#include <cmath>
#include <limits>

namespace tightnoise {
namespace {

// From the last point down. In units of e^(log_scale - tilt (L_m - first)), which change by
// e^(tilt spacing) a step, so that nothing leaves the range:
//     delta = sum over j > m of P(j) (1 - e^(L_m - L_j)),
//     slope = sum over j >= m of P(j) e^(L_m - L_j),
// and the divergence at L_m - t, t <= spacing, is delta + slope (1 - e^-t): sums of positive terms.
class Descent {
  public:
    explicit Descent(const LatticeLoss& loss)
        : loss_(loss),
          keep_(std::exp(-loss.spacing)),
          step_(-std::expm1(-loss.spacing)),
          unit_(std::exp(-loss.tilt * loss.spacing)),
          delta_(loss.beyond),
          slope_(loss.mass[loss.size - 1] + loss.extra),
          at_(loss.size - 1) {}

    std::size_t at() const { return at_; }
    double place() const { return loss_.first + static_cast<double>(at_) * loss_.spacing; }
    double log_unit() const {
        return loss_.log_scale - loss_.tilt * (static_cast<double>(at_) * loss_.spacing);
    }
    double delta_below(double t) const { return delta_ + slope_ * -std::expm1(-t); }
    double delta_at_next() const { return delta_ + slope_ * step_; }
    double slope_at_next() const { return slope_ * keep_; }

    void descend() {
        delta_ = delta_at_next() * unit_;
        --at_;
        slope_ = slope_at_next() * unit_ + (loss_.mass[at_] + loss_.extra);
    }

  private:
    const LatticeLoss& loss_;
    double keep_, step_, unit_;
    double delta_, slope_;
    std::size_t at_;
};

}  // namespace

double lattice_epsilon(const LatticeLoss& loss, double log_delta) {
    Descent down(loss);
    while (std::log(down.delta_at_next()) + down.log_unit() < log_delta) {
        if (down.at() == 0) return std::numeric_limits<double>::quiet_NaN();
        down.descend();
    }
    // delta(L_next + y) = delta_at_next - slope_at_next (e^y - 1).
    const double target = std::exp(log_delta - down.log_unit());
    const double excess = (down.delta_at_next() - target) / down.slope_at_next();
    return down.place() - loss.spacing + std::fmin(std::log1p(excess), loss.spacing);
}

double lattice_log_delta(const LatticeLoss& loss, double epsilon) {
    Descent down(loss);
    while (down.at() > 0 && down.place() - loss.spacing > epsilon) down.descend();
    return std::log(down.delta_below(std::fmax(0.0, down.place() - epsilon))) + down.log_unit();
}

}  // namespace tightnoise
