#include "mechanisms/vmf_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mechanisms/vmf_loss_integral.hpp"
#include "mechanisms/vmf_loss_law.hpp"
#include "numeric/roots.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr double kLeastNormal = std::numeric_limits<double>::min();
// Below, kappa s has lost digits, and kappa s does for a bound of delta: a loss of at most
// 2 kappa s means delta(0) <= tanh(kappa s).
constexpr double kTiny = 1e-290;
constexpr double kLowest = -780.0;  // where the exponent is below, delta is below 1e-308
// A loss that spreads by a smaller fraction than 1 / kSharp is beyond the digits of the law.
constexpr double kSharp = 1e14;
// Bounds of the relative error: of the integrals, and of e^f for an exponent f.
constexpr double kIntegralError = 1e-13;
constexpr double kExponentError = 2e-14;

// The profile of a pair with kappa s >= kTiny.
//
// delta = integral_(v0)^inf f(v) (1 - e^(epsilon - l(v))) dv / integral f, l(v0) = epsilon.
class Profile {
  public:
    Profile(double kappa, double dim, double half_chord)
        : law_(kappa, dim, half_chord),
          is_sharp_(law_.loss(0.0) > kSharp * law_.scale() * law_.greatest_loss()),
          log_normaliser_(is_sharp_ ? 0.0 : log_normaliser(law_)) {
        const double greatest = law_.greatest_loss();
        last_ = law_.shortfall(greatest).hi > 0.0 ? greatest : std::nextafter(greatest, 0.0);
    }

    double delta_upper(double epsilon) const {
        if (!(epsilon <= last_)) return 0.0;
        if (is_sharp_) return epsilon < beyond_all() ? 1.0 : kLeastNormal;
        const Tail tail = tail_from(law_.offset_of_loss(epsilon));
        const double delta = exp(tail.log_scale) * tail.above;
        return std::min(delta * (1.0 + tail.error) + kLeastNormal, 1.0);
    }

    double epsilon_upper(double delta) const {
        if (delta_upper(0.0) <= delta) return 0.0;
        const double limit = std::nextafter(last_, kInfinity);
        if (delta_upper(last_) > delta) return limit;
        if (is_sharp_) return std::min(beyond_all(), limit);
        const double d = offset_of_delta(log(delta));
        const double start = std::min(std::max(law_.loss(d), 0.0), last_);
        const auto is_private = [&](double x) { return delta_upper(x) <= delta; };
        return std::min(step_until(is_private, start), limit);
    }

  private:
    // delta = e^log_scale above, to within a fraction `error`, and P(l > epsilon) = e^log_scale
    // all.
    struct Tail {
        double log_scale, all, above, error;
    };

    Tail tail_from(double d0) const {
        const double f = law_.exponent(d0);
        if (d0 > 0.0 && f < kLowest) return {kLowest, 1.0, 1.0, 0.0};
        const double reference = d0 < 0.0 ? 0.0 : f;
        VmfLossRise rise = law_.loss_rise_from(d0);
        double begin = d0;
        const double left = d0 < 0.0 && f < -kDeep ? left_end(law_) : d0;
        if (left > d0) {  // seen from there: d0 may be so far that digits would be lost
            begin = left;
            const double base = loss_rise(rise, left - d0);
            rise = law_.loss_rise_from(left);
            rise.base = base;
        }
        const VmfPanel sum = integrals_from(law_, begin, reference, rise);
        return {reference - log_normaliser_, sum.all, sum.above,
                kIntegralError + kExponentError * std::fabs(reference)};
    }

    // The d0 where log delta is `target`, a few digits short of the last: Newton's method, from a
    // point to the right where the density has fallen that far. log delta is concave in d0, or
    // nearly, so that from there it stays to the right. d delta / d epsilon is the difference of
    // delta and P(l > epsilon).
    double offset_of_delta(double target) const {
        double low = law_.offset_of_loss(0.0);
        double high = law_.offset_of_loss(last_);
        double d = law_.scale();
        while (d < high && law_.exponent(d) > target) d *= 1.5;
        d = std::min(d, high);
        for (int i = 0; i < 100; ++i) {
            const Tail tail = tail_from(d);
            const double excess = tail.log_scale + log(tail.above) + tail.error - target;
            (excess > 0.0 ? low : high) = d;
            if (std::fabs(excess) <= 0x1p-50 * (1.0 - target)) break;
            const VmfLossRise rise = law_.loss_rise_from(d);
            const double slope = (tail.all - tail.above) / tail.above * (2.0 * rise.gain / rise.D);
            double next = d + excess / slope;
            if (!(next > low && next < high)) next = 0.5 * (low + high);
            if (std::fabs(next - d) <= 0x1p-52 * std::fabs(d)) break;
            d = next;
        }
        return d;
    }

    // Where the loss is so sharp, its whole law is next to the mode, which is found to 1e-10.
    double beyond_all() const { return law_.loss(0.0) * (1.0 + 1e-8); }

    VmfLossLaw law_;
    bool is_sharp_;
    double log_normaliser_;
    double last_;  // the greatest double below 2 kappa s
};

// The same where kappa s < kTiny.
class TinyProfile {
  public:
    explicit TinyProfile(double bound) : bound_(bound) {}
    double delta_upper(double epsilon) const { return epsilon < 2.0 * bound_ ? bound_ : 0.0; }
    double epsilon_upper(double delta) const { return bound_ <= delta ? 0.0 : 2.0 * bound_; }

  private:
    double bound_;
};

constexpr std::size_t kBlock = 64;  // elements: 1 ms

// out[i] = of(profile of half_chord[i], at[i]).
template <class Function>
void fill(double kappa, double dim, const Operand& half_chord, const Operand& at, std::size_t n,
          double* out, Function of) {
    parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
        std::optional<Profile> profile;
        double chord = kNaN;
        for (std::size_t i = begin; i < end; ++i) {
            const double s = float64_at(half_chord, i);
            const double x = float64_at(at, i);
            if (kappa * s < kTiny) {
                const bool is_zero = kappa == 0.0 || s == 0.0;
                out[i] = of(TinyProfile(is_zero ? 0.0 : std::nextafter(kappa * s, 1.0)), x);
                continue;
            }
            if (s != chord) profile.emplace(kappa, dim, s);
            chord = s;
            out[i] = of(*profile, x);
        }
    });
}

}  // namespace

void vmf_delta_upper(double kappa, double dim, const Operand& half_chord, const Operand& epsilon,
                     std::size_t n, double* out) {
    fill(kappa, dim, half_chord, epsilon, n, out,
         [](const auto& profile, double x) { return profile.delta_upper(x); });
}

void vmf_epsilon_upper(double kappa, double dim, const Operand& half_chord, const Operand& delta,
                       std::size_t n, double* out) {
    fill(kappa, dim, half_chord, delta, n, out,
         [](const auto& profile, double x) { return profile.epsilon_upper(x); });
}

}  // namespace tightnoise
