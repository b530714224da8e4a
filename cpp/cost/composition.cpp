#include "cost/composition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/double_double.hpp"
#include "numeric/double_double_functions.hpp"
#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

// x >= 0, a little larger: covers the rounding of some ten operations on numbers of its size.
double rounded_up(double x) {
    return x == 0.0 ? 0.0 : std::nextafter(x * (1.0 + 0x1p-48), kInfinity);
}

// The probability of one or the other of two independent events: a + b - a b.
DoubleDouble either(DoubleDouble a, DoubleDouble b) {
    return a + b * (-a + 1.0);
}

// 1 - (1 - delta)^count, by the binary digits of count. Relative error 2^-90, also where 1 - delta
// is 1.
DoubleDouble failure_of_many(double delta, double count) {
    DoubleDouble all{0.0, 0.0}, power{delta, 0.0};
    for (double rest = count; rest >= 1.0; rest = std::floor(0.5 * rest)) {
        if (std::fmod(rest, 2.0) == 1.0) all = either(all, power);
        power = either(power, power);
    }
    return all;
}

DoubleDouble failure(const Releases& releases) {
    DoubleDouble all{0.0, 0.0};
    for (std::size_t i = 0; i < releases.size; ++i) {
        all = either(all, failure_of_many(releases.delta[i], releases.count[i]));
    }
    return all;
}

// slack = (total_delta - failure)/(1 - failure), rounded down; the error is 2^-85 of total_delta,
// far below a unit of its last place. Negative if total_delta is below failure.
DoubleDouble wide_slack(const Releases& releases, double total_delta) {
    const DoubleDouble failed = failure(releases);
    if (failed.hi == 0.0) return {total_delta, 0.0};
    if (failed.hi >= 1.0) return {total_delta < 1.0 ? -1.0 : 0.0, 0.0};
    const DoubleDouble rest = -failed + total_delta;
    if (rest.hi <= 0.0) return rest;
    const DoubleDouble lower = rest + -0x1p-85 * total_delta;
    return lower.hi <= 0.0 ? DoubleDouble{0.0, 0.0} : lower / (-failed + 1.0);
}

// The same, rounded down to a double; -1 if total_delta is below failure.
double slack_lower(const Releases& releases, double total_delta) {
    const DoubleDouble slack = wide_slack(releases, total_delta);
    if (slack.hi < 0.0) return -1.0;
    return slack.hi == 0.0 ? 0.0 : std::nextafter(slack.hi, 0.0);
}

// total_delta of a slack. In [truth, truth (1 + 1e-14)], at most 1.
double total_delta_upper(const Releases& releases, double slack) {
    return std::min(1.0, rounded_up(rounded(either(failure(releases), {slack, 0.0}))));
}

// The sum of count f(epsilon) over all releases.
template <class Function>
double sum_of(const Releases& releases, Function f) {
    DoubleDouble sum{0.0, 0.0};
    for (std::size_t i = 0; i < releases.size; ++i) {
        sum = sum + two_product(f(releases.epsilon[i]), releases.count[i]);
    }
    return rounded(sum);
}

double sum_of_epsilons(const Releases& releases) {
    return sum_of(releases, [](double e) { return e; });
}

// --- The closed form -----------------------------------------------------------------------------

// Mean (of randomised responses) and scale of the privacy loss.
struct Loss {
    double mean;    // A = sum e (e^e - 1)/(e^e + 1)
    double square;  // V = sum e^2

    explicit Loss(const Releases& releases)
        : mean(sum_of(releases, [](double e) { return e * std::tanh(0.5 * e); })),
          square(sum_of(releases, [](double e) { return e * e; })) {}
};

// --- The exact answer ----------------------------------------------------------------------------

// N randomised responses of one epsilon e: the number k that come out true is binomial, P(k) =
// C(N, k) e^(k e)/(1 + e^e)^N, and then the privacy loss is L_k = (2 k - N) e.
//
// Weights are P(k) times a constant that is their sum, by recursion from about the mode, where the
// weight is 2^500: then neither a probability of 5e-324 nor a product of two leaves the range.
// Nothing is subtracted, so after n steps the relative error is below (n + 64) 2^-95; that much is
// needed because an epsilon next to 0 is decided by delta(0) - delta.
class EqualResponses {
  public:
    EqualResponses(double epsilon, double count)
        : epsilon_(epsilon), count_(count), shrink_(wide_expm1(-bounded(epsilon)) + 1.0) {
        const bool tiny = epsilon < 1e-40;
        step_ = tiny ? DoubleDouble{1.0, 0.0} : -wide_expm1(-bounded(2.0 * epsilon)) / spacing();
        half_step_ = tiny ? DoubleDouble{0.5, 0.0} : -wide_expm1(-bounded(epsilon)) / spacing();
        mode_ = std::min(count, std::floor(count / (1.0 + std::exp(-epsilon))));
        bottom_ = top_ = mode_;
        top_weight_ = sum_ = {0x1p500, 0.0};
        sum_below_mode();
    }

    // The smallest epsilon at which the hockey-stick divergence is at most `slack`; rounded up.
    double epsilon_upper(DoubleDouble slack);

    // The hockey-stick divergence at `epsilon`; rounded up.
    double slack_upper(double epsilon);

  private:
    // With s = 2 e, the distance of neighbours, the hockey-stick divergence is
    //     delta(x) = sum over L_k > x of P(k) (1 - e^(x - L_k)), and on L_(k-1) <= x <= L_k
    //     delta(L_k - t)/s = D_k + C_k (1 - e^-t)/s,
    //     D_k = delta(L_k)/s,    C_k = sum over j >= k of P(j) e^(L_k - L_j),
    //     D_(k-1) = D_k + C_k (1 - e^-s)/s,    C_(k-1) = C_k e^-s + P(k - 1):
    // all terms are positive. (Divided by s: nothing underflows if e is tiny.)
    struct Descent {
        double k;
        DoubleDouble weight, delta, slope;  // P(k), D_k, C_k, each times the sum of the weights
    };

    // e^-700 is nothing beside 1, and a distribution this sharp needs no more of it.
    static double bounded(double x) { return std::min(x, 700.0); }

    double spacing() const { return 2.0 * epsilon_; }
    DoubleDouble loss(double k) const { return two_product(2.0 * k - count_, epsilon_); }

    // P(k - 1)/P(k) = k/(N - k + 1) e^-e; both ratios decrease away from the mode.
    double ratio_down(double k) const { return k / (count_ - k + 1.0) * shrink_.hi; }
    double ratio_up(double k) const { return (count_ - k) / (k + 1.0) / shrink_.hi; }
    DoubleDouble below(DoubleDouble weight, double k) const {
        return weight * k / (count_ - k + 1.0) * shrink_;
    }
    DoubleDouble above(DoubleDouble weight, double k) const {
        return weight * (count_ - k) / (k + 1.0) / shrink_;
    }

    // At least the sum of the weights after this one, if `ratio` leads to the next.
    static double beyond(DoubleDouble weight, double ratio) {
        return ratio < 1.0 ? weight.hi * (ratio / (1.0 - ratio)) : kInfinity;
    }

    void sum_below_mode() {
        DoubleDouble weight = top_weight_;
        for (double k = mode_; k > 0.0 && beyond(weight, ratio_down(k)) > 0x1p-110 * sum_.hi; --k) {
            weight = below(weight, k);
            sum_ = sum_ + weight;
            bottom_ = k - 1.0;
            count_step();
        }
    }

    // Moves the top up until what lies beyond it is no more than negligible(), or too far down in
    // the tail for any delta: 2^-900 here is below 2^-1400 of the sum.
    template <class Negligible>
    void climb(Negligible negligible) {
        while (top_ < count_ && top_weight_.hi > 0x1p-900 &&
               beyond(top_weight_, ratio_up(top_)) > negligible()) {
            top_weight_ = above(top_weight_, top_);
            ++top_;
            sum_ = sum_ + top_weight_;
            count_step();
        }
    }

    Descent at_top() const { return {top_, top_weight_, {0.0, 0.0}, top_weight_}; }

    void descend(Descent& at) {
        at.delta = at.delta + at.slope * step_;
        at.weight = below(at.weight, at.k);
        at.slope = at.slope * shrink_ * shrink_ + at.weight;
        --at.k;
        count_step();
    }

    void count_step() {
        if (++steps_ % 4096 == 0) poll();
    }

    double relative_error() const { return (static_cast<double>(steps_) + 64.0) * 0x1p-95; }

    double epsilon_, count_;
    DoubleDouble shrink_;            // e^-e
    DoubleDouble step_, half_step_;  // (1 - e^-s)/s, (1 - e^-e)/s
    double mode_;
    DoubleDouble sum_;
    double bottom_, top_;
    DoubleDouble top_weight_;
    long steps_ = 0;
};

double EqualResponses::epsilon_upper(DoubleDouble slack) {
    const double all = rounded(two_product(count_, epsilon_));
    if (slack.hi <= 0.0) return all == 0.0 ? 0.0 : std::nextafter(all, kInfinity);
    // Even at epsilon = 0 the divergence is at most N tanh(e/2), and below 1.
    if (slack.hi >= 1.0 || slack.hi >= 0.5 * all * (1.0 + 0x1p-40)) return 0.0;
    climb([&] { return std::min(slack.hi * 0x1p500 * sum_.hi * 0x1p-600, 0x1p-110 * sum_.hi); });
    // delta/s as it is to be in the units of Descent; delta/s <= N/4 here.
    const DoubleDouble target = slack * 0x1p600 / spacing() * (sum_ * 0x1p-600);
    Descent at = at_top();
    while (2.0 * at.k - count_ > 2.0 && (at.delta + at.slope * step_ + -target).hi < 0.0) {
        descend(at);
    }
    const double steps_above_zero = 2.0 * at.k - count_;
    if (steps_above_zero <= 0.0) return 0.0;  // only if what lies above is negligible beside slack

    // The answer lies between L_k and the loss below it (or 0). Both ways to solve err upwards: the
    // relative errors of all that was summed are added to delta.
    if (epsilon_ > 150.0) {
        // From above, since e^-s may underflow: epsilon = L_k + log(1 - s (target - D_k)/C_k).
        const double part = rounded((at.delta + -target) * spacing() / at.slope + 1.0);
        const double error = relative_error() * (1.0 + spacing() * at.delta.hi / at.slope.hi);
        const double top = rounded(loss(at.k));
        const double down = std::log(std::min(1.0, std::max(part, 0.0) + error));
        return std::max(0.0, (top + down) + 0x1p-50 * top);
    }
    // From below: epsilon = L + log(1 + s (delta(L)/s - target)/(C_k e^(L - L_k))).
    const bool half = steps_above_zero == 1.0;
    const DoubleDouble reached = at.delta + at.slope * (half ? half_step_ : step_);
    const DoubleDouble slope = at.slope * (half ? shrink_ : shrink_ * shrink_);
    const double excess = rounded(reached + -target) + relative_error() * (reached.hi + target.hi);
    if (excess <= 0.0) return 0.0;
    const double least = half ? 0.0 : rounded(loss(at.k - 1.0));
    return rounded_up(least + std::log1p(spacing() * (excess / slope.hi)));
}

double EqualResponses::slack_upper(double epsilon) {
    if (rounded(loss(count_) + -epsilon) <= 0.0) return 0.0;
    // The first index whose loss is above epsilon.
    const auto is_above = [&](double k) { return rounded(loss(k) + -epsilon) > 0.0; };
    double first = std::min(count_, std::floor(0.5 * (count_ + epsilon / epsilon_)) + 1.0);
    while (first > 0.0 && is_above(first - 1.0)) --first;
    while (!is_above(first)) ++first;
    // All indices above the first add (1 - e^-s) of their weight or more, so beyond the largest of
    // these weights little is left out, and that little is added.
    double largest = 0.0;
    climb([&] {
        if (top_ <= first) return -1.0;
        if (largest == 0.0) largest = top_weight_.hi;
        return 0x1p-64 * step_.hi * spacing() * largest;
    });
    if (top_ < first) return std::numeric_limits<double>::denorm_min();
    Descent at = at_top();
    // Below the bottom all weights together are 2^-110 of the sum.
    while (at.k > first && at.k > bottom_) descend(at);
    const double gap = rounded(loss(at.k) + -epsilon);
    const double delta =
        rounded(at.delta * spacing() / sum_) + rounded(at.slope / sum_) * -std::expm1(-gap);
    return std::min(1.0, std::nextafter(delta * (1.0 + 0x1p-47), kInfinity));
}

// Releases of epsilon 0 have no privacy loss but their failures.
EqualResponses losses(const Releases& releases) {
    double epsilon = 0.0, count = 0.0;
    for (std::size_t i = 0; i < releases.size; ++i) {
        if (releases.epsilon[i] == 0.0 || releases.count[i] == 0.0) continue;
        epsilon = releases.epsilon[i];
        count += releases.count[i];
    }
    return {epsilon, count};
}

}  // namespace

double failure_upper(const Releases& releases) {
    return total_delta_upper(releases, 0.0);
}

double closed_form_epsilon_upper(const Releases& releases, double total_delta) {
    const double slack = slack_lower(releases, total_delta);
    if (slack < 0.0) return kInfinity;
    const double all = sum_of_epsilons(releases);
    if (all == 0.0 || slack >= 1.0) return 0.0;
    if (slack == 0.0) return rounded_up(all);
    const Loss loss(releases);
    const double second = std::log(std::exp(1.0) + std::sqrt(loss.square) / slack);
    const double third = -std::log(slack);
    const double tail = std::sqrt(2.0 * loss.square * std::min(second, third));
    return rounded_up(std::min(all, loss.mean + tail));
}

double closed_form_delta_upper(const Releases& releases, double epsilon) {
    if (epsilon >= rounded_up(sum_of_epsilons(releases))) return failure_upper(releases);
    const Loss loss(releases);
    const double beyond = epsilon * (1.0 - 0x1p-50) - loss.mean * (1.0 + 0x1p-50);
    if (beyond <= 0.0) return 1.0;
    const double exponent = beyond / loss.square * beyond * 0.5 * (1.0 - 0x1p-48);
    double slack = std::exp(-exponent);
    if (exponent > 1.0) {
        slack = std::min(slack, std::sqrt(loss.square) * slack / -std::expm1(1.0 - exponent));
    }
    slack = std::min(1.0, std::nextafter(slack * (1.0 + 0x1p-48), kInfinity));
    return total_delta_upper(releases, slack);
}

double exact_epsilon_upper(const Releases& releases, double total_delta) {
    const DoubleDouble slack = wide_slack(releases, total_delta);
    if (slack.hi < 0.0) return kInfinity;
    EqualResponses responses = losses(releases);
    return responses.epsilon_upper(slack);
}

double exact_delta_upper(const Releases& releases, double epsilon) {
    EqualResponses responses = losses(releases);
    return total_delta_upper(releases, responses.slack_upper(epsilon));
}

}  // namespace tightnoise
