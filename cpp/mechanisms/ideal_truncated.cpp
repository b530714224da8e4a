#include "mechanisms/ideal_truncated.hpp"

#include <cmath>

#include "random/big.hpp"

namespace tightnoise {
namespace {

// e^-t for t >= 0; where that is less than nothing beside a share of 2^-257, 0.
Big decay(const Big& t) {
    return t < 1000000 ? exp(-t) : Big(0);
}

// Mills ratio (1 - Phi(t)) / phi(t) for t >= 0: its continued fraction 1/(t + 1/(t + 2/(t + ...)))
// far out, where 400 terms leave less than 2^-330, elsewhere by erfc.
Big mills(const Big& t) {
    if (t < 12) return sqrt(kHalfPi) * exp(t * t / 2) * erfc(t / sqrt(Big(2)));
    Big below = t;
    for (int k = 400; k > 0; --k) below = t + k / below;
    return 1 / below;
}

// The integral of exp(-t s - s^2 / 2) from 0 to y by its Taylor series, where t y and y^2 are at
// most 1/256: 36 terms leave less than 2^-350 of it.
Big near_integral(const Big& t, const Big& y) {
    Big term = 1, before = 0, sum = 0;
    for (int n = 1; n <= 36; ++n) {
        sum += term / n;
        const Big next = -y * (t * term + y * before) / n;
        before = term;
        term = next;
    }
    return y * sum;
}

// The law seen from the edge nearest to theta, with distances in units of sigma: theta lies
// `outside` beyond that edge, or inside where it is negative.
class Mass {
  public:
    Mass(Conditioned law, const Big& outside, const Big& width)
        : law_(law), outside_(outside), width_(width) {
        const Big slope = law == Conditioned::laplace ? Big(1) : Big(abs(outside) + 1);
        is_narrow_ = width * slope < 1.0 / 256;
        rest_ = is_narrow_ ? Big(0) : beyond(width);
        inside_ = is_narrow_ ? within(width) : Big(beyond(Big(0)) - rest_);
    }

    // The share of what lies y or more from the edge. Between narrow bounds, a difference of what
    // lies beyond would have no digits left.
    Big share_beyond(const Big& y) const {
        if (y <= 0) return 1;
        if (y >= width_) return 0;
        if (is_narrow_) return 1 - within(y) / inside_;
        return (beyond(y) - rest_) / inside_;
    }

  private:
    // Mass of the law between the edge and y from it, relative to the density at the edge.
    Big within(const Big& y) const {
        if (law_ == Conditioned::gaussian) return near_integral(outside_, y);
        if (outside_ >= 0) return -expm1(-y);
        const Big to_theta = -outside_;
        if (y <= to_theta) return expm1(y);
        return expm1(to_theta) - exp(to_theta) * expm1(to_theta - y);
    }

    // Mass of the law on the line beyond y >= 0, relative to the density at the edge or, with
    // theta inside, at theta.
    Big beyond(const Big& y) const {
        const Big t = outside_ + y;
        if (law_ == Conditioned::laplace) {
            if (outside_ > 0) return decay(y);
            return t > 0 ? decay(t) : Big(2 - decay(-t));
        }
        if (outside_ > 0) return decay(y * (outside_ + y / 2)) * mills(t);
        if (t < 0) return 2 * sqrt(kHalfPi) - decay(t * t / 2) * mills(-t);
        return decay(t * t / 2) * mills(t);
    }

    Conditioned law_;
    Big outside_;
    Big width_;
    bool is_narrow_;
    Big rest_;
    Big inside_;
};

}  // namespace

double ideal_conditioned(Conditioned law, const ConditionedElement& of, double whole,
                         double guess) noexcept {
    const chacha20::Block block = refinement_block(of.key, of.block);
    const Big near = ideal_near(of.bits, block);
    const Big above = of.bits >> 63 != 0 ? 1 - near : near;
    const Big theta = Big(of.theta) + of.theta_low;
    const Big below_lower = (of.lower - theta) / of.sigma;
    const Big above_upper = (theta - of.upper) / of.sigma;
    const bool from_lower = below_lower >= above_upper;
    const Mass mass(law, from_lower ? below_lower : above_upper,
                    (Big(of.upper) - of.lower) / of.sigma);

    // Whether K <= whole + q: x lies below (whole + q + 1/2) step.
    const auto reaches = [&](double q) {
        const Big end = (Big(whole) + q + 0.5) * of.step;
        if (from_lower) return above > mass.share_beyond((end - of.lower) / of.sigma);
        return 1 - above < mass.share_beyond((of.upper - end) / of.sigma);
    };
    // The least such q, from a guess: doubling steps, then halves.
    double low = guess;
    double high = guess;
    double stride = 1;
    for (; reaches(low); stride *= 2) {
        high = low;
        low -= stride;
    }
    for (; low == high; stride *= 2) {
        high += stride;
        if (!reaches(high)) low = high;
    }
    while (high - low > 1) {
        const double middle = low + std::floor((high - low) / 2);
        if (!(low < middle && middle < high)) break;  // beyond 2^53
        (reaches(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace tightnoise
