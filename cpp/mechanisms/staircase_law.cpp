#include "mechanisms/staircase_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// 1 - e^-x, without cancellation; 0 for x < 0.
double one_minus_exp(double x) {
    return x > 0.0 ? -std::expm1(-x) : 0.0;
}

// The sums of n^p e^(-n epsilon) for p = 0, 1, 2 and 0 <= n < count.
struct PowerSums {
    double zeroth = 0.0;
    double first = 0.0;
    double second = 0.0;
};

// By doubling: all terms are positive, so that nothing cancels, as it would in closed form.
PowerSums power_sums(double count, double epsilon) {
    if (count * epsilon > 800.0) {  // the rest is less than 1e-300
        const double b = std::exp(-epsilon);
        const double inverse = 1.0 / one_minus_exp(epsilon);
        return {inverse, b * inverse * inverse, b * (1.0 + b) * inverse * inverse * inverse};
    }
    if (count < 1.0) return {};
    const double half = std::floor(0.5 * count);
    const PowerSums a = power_sums(half, epsilon);
    const double shift = std::exp(-half * epsilon);
    PowerSums sums;
    sums.zeroth = a.zeroth + shift * a.zeroth;
    sums.first = a.first + shift * (a.first + half * a.zeroth);
    sums.second = a.second + shift * (a.second + half * (2.0 * a.first + half * a.zeroth));
    if (2.0 * half < count) {
        const double last = 2.0 * half;
        const double weight = std::exp(-last * epsilon);
        sums.zeroth += weight;
        sums.first += last * weight;
        sums.second += last * last * weight;
    }
    return sums;
}

}  // namespace

StaircaseLaw::StaircaseLaw(double epsilon, double step, double gamma, double bound)
    : epsilon_(epsilon), step_(step), gamma_(gamma), bound_(bound), end_(bound / step) {
    end_low_ = end_ < kInfinity ? std::fma(-end_, step, bound) / step : 0.0;
    if (end_ < gamma_ || (end_ == gamma_ && end_low_ < 0.0)) end_low_ = 0.0;  // no step has begun
    inner_ = std::min(gamma_, end_);
    const double beyond = std::max(0.0, end_ - gamma_);
    steps_ = std::floor(beyond);
    part_ = beyond < kInfinity ? beyond - steps_ : 0.0;
    if (part_ == 0.0 && end_low_ < 0.0 && steps_ > 0.0) {  // the end is just before a step
        steps_ -= 1.0;
        part_ = 1.0;
    }
    rest_ = std::max(0.0, part_ + end_low_);
    outside_ = levels(0.0, steps_) + rest_ * level(steps_);
    half_mass_ = centre(0.0, inner_) + outside_;
}

double StaircaseLaw::level(double n) const {
    return std::exp(-n * epsilon_);
}

double StaircaseLaw::levels(double from, double to) const {
    if (!(from < to)) return 0.0;
    return level(from) * one_minus_exp((to - from) * epsilon_) / one_minus_exp(epsilon_);
}

double StaircaseLaw::centre(double from, double to) const {
    return to > from ? (to - from) * std::exp(epsilon_) : 0.0;
}

double StaircaseLaw::tail(double distance) const {
    if (distance < inner_) return outside_ + centre(distance, inner_);
    if (distance >= end_) return 0.0;
    const double beyond = distance - gamma_;
    const double n = std::floor(beyond);
    if (n >= steps_) return level(n) * std::max(0.0, rest_ - (beyond - n));
    return (n + 1.0 - beyond) * level(n) + levels(n + 1.0, steps_) + rest_ * level(steps_);
}

double StaircaseLaw::between(double from, double to) const {
    const double high = std::min(to, end_);
    const double inside = centre(from, std::min(high, inner_));
    const double first = std::max(from - gamma_, 0.0), last = high - gamma_;
    if (!(first < last)) return inside;
    const double n = std::floor(first), m = std::floor(last);
    if (n == m) return inside + (last - first) * level(n);
    return inside + (n + 1.0 - first) * level(n) + levels(n + 1.0, m) + (last - m) * level(m);
}

// To 32 digits before the last rounding: what is left can be all there is.
double StaircaseLaw::reach(double width) const {
    if (end_ == kInfinity) return -kInfinity;
    const DoubleDouble outside = two_sum(width, -end_);
    const DoubleDouble inside = two_sum(outside.hi, inner_);
    return inside.hi + (inside.lo + (outside.lo - end_low_));
}

DoubleDouble StaircaseLaw::further(double width) const {
    const DoubleDouble left = two_sum(width, -part_);
    return two_sum(left.hi, left.lo - end_low_);
}

double StaircaseLaw::outermost(double width) const {
    if (end_ == kInfinity) return 0.0;
    if (width > end_) return 2.0 * half_mass_ - tail(width - end_);
    const double into_centre = reach(width);
    if (into_centre >= 0.0) return outside_ + centre(0.0, into_centre);
    const DoubleDouble left = further(width);
    if (left.hi <= 0.0) return width * level(steps_);
    double whole = std::floor(left.hi);
    double fraction = (left.hi - whole) + left.lo;
    if (fraction < 0.0 && whole > 0.0) {
        whole -= 1.0;
        fraction += 1.0;
    }
    return rest_ * level(steps_) + levels(steps_ - whole, steps_) +
           std::max(fraction, 0.0) * level(steps_ - whole - 1.0);
}

double StaircaseLaw::log_density(double x) const {
    const double distance = std::fabs(x);
    if (distance > bound_) return -kInfinity;
    const double n = std::floor(distance / step_ - gamma_);
    const double drops = distance / step_ < gamma_ ? -1.0 : n;
    return -drops * epsilon_ - std::log(2.0 * half_mass_) - std::log(step_);
}

double StaircaseLaw::distribution(double x) const {
    const double share = 0.5 * tail(std::fabs(x) / step_) / half_mass_;
    return x < 0.0 ? share : 1.0 - share;
}

double StaircaseLaw::mass(double from, double to) const {
    const double low = from / step_, high = to / step_;
    const double left = low < 0.0 ? between(std::max(-high, 0.0), -low) : 0.0;
    const double right = high > 0.0 ? between(std::max(low, 0.0), high) : 0.0;
    return 0.5 * (left + right) / half_mass_;
}

// Beyond gamma in units of the step that x is on.
double StaircaseLaw::log_tail(double x) const {
    const double distance = x / step_;
    if (distance >= end_) return -kInfinity;
    if (distance < inner_) return std::log(0.5 * tail(distance) / half_mass_);
    const double beyond = distance - gamma_;
    const double n = std::min(std::floor(beyond), steps_);
    const double left = steps_ - n;  // whole steps, this one among them
    const double share = left < 1.0 ? std::max(0.0, rest_ - (beyond - n))
                                    : (n + 1.0 - beyond) + levels(1.0, left) + rest_ * level(left);
    return -n * epsilon_ + std::log(0.5 * share / half_mass_);
}

double StaircaseLaw::quantile(double q) const {
    const double share_beyond = 2.0 * std::min(q, 1.0 - q);
    const double wanted = share_beyond * half_mass_;
    double distance = end_;
    if (wanted >= outside_) {
        distance = (1.0 - share_beyond) * half_mass_ * std::exp(-epsilon_);
    } else if (wanted > 0.0) {
        // tail(gamma + n) = (e^(-n epsilon) - cut)/(1 - e^-epsilon).
        const double share = one_minus_exp(epsilon_);
        const double cut = level(steps_) * (1.0 - rest_ * share);
        const double near = std::floor(-std::log(wanted * share + cut) / epsilon_);
        double n = std::min(std::max(near, 0.0), steps_);
        if (n > 0.0 && tail(gamma_ + n) < wanted) n -= 1.0;
        if (n < steps_ && tail(gamma_ + n + 1.0) >= wanted) n += 1.0;
        const double whole = n < steps_ ? 1.0 : rest_;
        const double beyond = n < steps_ ? levels(n + 1.0, steps_) + rest_ * level(steps_) : 0.0;
        // Of the step that much is beyond, and not more: at its ends tails are rounded.
        const double left = std::max(0.0, wanted - beyond) / std::max(level(n), kSmallest);
        distance = gamma_ + n + (whole - std::min(left, whole));
    }
    distance = std::min(std::max(distance, 0.0) * step_, bound_);
    return q < 0.5 ? -distance : distance;
}

double StaircaseLaw::mean_abs() const {
    const PowerSums sums = power_sums(steps_, epsilon_);
    const double middle = gamma_ + 0.5;  // of the first step
    double total = 0.5 * inner_ * centre(0.0, inner_) + (sums.first + middle * sums.zeroth);
    if (rest_ > 0.0) total += rest_ * level(steps_) * (gamma_ + steps_ + 0.5 * rest_);
    return step_ * (total / half_mass_);
}

double StaircaseLaw::variance() const {
    const PowerSums sums = power_sums(steps_, epsilon_);
    const double middle = gamma_ + 0.5;
    double total = inner_ * inner_ / 3.0 * centre(0.0, inner_) + sums.second +
                   2.0 * middle * sums.first + (middle * middle + 1.0 / 12.0) * sums.zeroth;
    if (rest_ > 0.0) {
        const double centre_of_rest = gamma_ + steps_ + 0.5 * rest_;
        total += rest_ * level(steps_) * (centre_of_rest * centre_of_rest + rest_ * rest_ / 12.0);
    }
    return step_ * (total / half_mass_) * step_;
}

double StaircaseLaw::in_steps(double shift) const {
    return std::min(shift / step_, kMostSteps);
}

double StaircaseLaw::in_steps_upper(double shift) const {
    const double ratio = shift / step_;
    if (!(ratio < kMostSteps)) return ratio;
    return std::fma(-ratio, step_, shift) > 0.0 ? std::nextafter(ratio, kInfinity) : ratio;
}

double StaircaseLaw::greatest_loss(double shift) const {
    return std::nextafter(std::ceil(shift) * epsilon_, kInfinity);
}

bool StaircaseLaw::diverges(double shift, double epsilon) const {
    const bool outside = shift > 0.0 && end_ < kInfinity;
    return outside || std::fma(std::ceil(shift), epsilon_, -epsilon) > 0.0;
}

// y is where the noise leads from one value, x = y - shift from the other; n(.) counts the drops of
// the density between 0 and |.|, so that the loss at y is (n(x) - n(y)) epsilon_. It is positive
// for y < shift/2 only. The mass where it is d drops counts 1 - e^(epsilon - d epsilon_).
double StaircaseLaw::divergence(double shift, double epsilon) const {
    if (shift >= 2.0 * end_) return 1.0;
    const auto weight = [=](double drops) {
        return one_minus_exp(std::fma(drops, epsilon_, -epsilon));
    };
    const double m = std::floor(shift);
    const double part = shift - m;

    // y < first = shift - end: only one value can have led here.
    double sum = outermost(shift);

    // first < y < -gamma: with y = -(gamma + n + r) and 0 <= r < 1, d is m for r < 1 - part and
    // m + 1 for the others.
    const double into_centre = reach(shift);
    if (into_centre < 0.0) {
        if (rest_ >= part) {
            const double n = steps_ - m;
            const double all = levels(0.0, n);
            sum += weight(m) * ((1.0 - part) * all + (rest_ - part) * level(n)) +
                   weight(m + 1.0) * (part * all);
        } else {
            const double n = steps_ - m - 1.0;
            const double all = levels(0.0, n);
            sum += weight(m) * ((1.0 - part) * (all + level(n))) +
                   weight(m + 1.0) * (part * all + rest_ * level(n));
        }
    }

    // -gamma < y < gamma: with y = t - gamma, d = m + 1 for t < part, m in the next step, m - 1 in
    // the one after that.
    const double start = (gamma_ - inner_) + std::max(0.0, into_centre);
    const double stop = gamma_ + inner_;
    for (int i = 0; i < 3; ++i) {
        const double from = i == 0 ? 0.0 : part + (i - 1);
        sum += weight(m + 1.0 - i) * centre(std::max(start, from), std::min(stop, part + i));
    }

    // gamma < y: with y = gamma + k + r, d = most - 2 k for r < split, one less for the others.
    const double offset = part - 2.0 * gamma_;
    const double split = offset - std::floor(offset);
    const double most = m + std::floor(offset);
    const double least = std::floor(epsilon / epsilon_) + 1.0;  // drops that count
    // The steps j = 0, 1, ... with d = top - 2 j: the sum of level(j) weight(top - 2 j), from
    // sum_j e^(-j e) (1 - e^(-margin - 2 (last - j) e)) with j up to last.
    const auto falling = [=](double top) {
        if (!(top >= least)) return 0.0;
        const double last = std::floor(0.5 * (top - least));
        const double margin = std::fma(top - 2.0 * last, epsilon_, -epsilon);
        return levels(0.0, last + 1.0) * one_minus_exp(margin + last * epsilon_);
    };
    const double beyond = std::max(0.0, into_centre - 2.0 * gamma_);
    const double k = std::floor(beyond);
    const double r = beyond - k;
    const double top = most - 2.0 * k;
    sum += level(k) * (std::max(0.0, split - r) * weight(top) +
                       (1.0 - std::max(split, r)) * weight(top - 1.0));
    sum += level(k + 1.0) * (split * falling(top - 2.0) + (1.0 - split) * falling(top - 3.0));
    return std::min(1.0, 0.5 * sum / half_mass_);
}

double hockey_stick(const StaircaseLaw& law, double shift, double epsilon) {
    const double magnitude = std::fabs(epsilon);
    const double delta = law.divergence(law.in_steps(shift), magnitude);
    if (epsilon >= 0.0) return delta;
    // D_-e = 1 - e^-e + e^-e D_e, for the density is symmetric.
    return one_minus_exp(magnitude) + std::exp(-magnitude) * delta;
}

}  // namespace tightnoise
