#include "cost/lattice_tail.hpp"

#include <cmath>
#include <limits>

namespace tightnoise {
namespace {

constexpr std::size_t kStride = 64;

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
    LatticeLoss loss_;
    double keep_, step_, unit_;
    double delta_, slope_;
    std::size_t at_;
};

}  // namespace

double lattice_epsilon(const LatticeLoss& loss, double log_delta) {
    Descent down(loss);
    const auto is_below = [log_delta](const Descent& there) {
        return std::log(there.delta_at_next()) + there.log_unit() < log_delta;
    };
    // The divergence only rises on the way: many steps at a time, and the last ones one by one.
    for (Descent ahead = down; ahead.at() >= kStride;) {
        for (std::size_t i = 0; i < kStride; ++i) ahead.descend();
        if (!is_below(ahead)) break;
        down = ahead;
    }
    while (is_below(down)) {
        if (down.at() == 0) return std::numeric_limits<double>::quiet_NaN();
        down.descend();
    }
    // delta(L_next + y) = delta_at_next - slope_at_next (e^y - 1).
    const double target = std::exp(log_delta - down.log_unit());
    const double excess = (down.delta_at_next() - target) / down.slope_at_next();
    return down.place() - loss.spacing + std::fmin(std::log1p(excess), loss.spacing);
}

double lattice_log_delta(const LatticeLoss& loss, double epsilon) {
    double log_delta = 0.0;
    lattice_log_deltas(loss, &epsilon, 1, &log_delta);
    return log_delta;
}

void lattice_log_deltas(const LatticeLoss& loss, const double* epsilons, std::size_t n,
                        double* log_deltas) {
    Descent down(loss);
    for (std::size_t i = n; i-- > 0;) {
        while (down.at() > 0 && down.place() - loss.spacing > epsilons[i]) down.descend();
        const double beside = std::fmax(0.0, down.place() - epsilons[i]);
        log_deltas[i] = std::log(down.delta_below(beside)) + down.log_unit();
    }
}

}  // namespace tightnoise
