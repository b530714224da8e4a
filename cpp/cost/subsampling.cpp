// The bounds are derived in SUBSAMPLING.md, whose sections and names are meant below: D_a is the
// Renyi divergence of order a, K_a = (a - 1) D_a, t_a and k_a = (a - 1) t_a bound those of the
// mechanism itself, S(a) the sum of section 1.
//
// Rounding is upwards: every exponent gets more than the error of the terms it is the sum of, every
// sum of n positive terms more than n units of the last place, every result a few more.

#include "cost/subsampling.hpp"

#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

constexpr double kUlp = std::numeric_limits<double>::epsilon();
// No cost is said to be smaller, unless the mechanism's own is: next to underflow the rounding
// upwards could make (a - 1) D_a decrease.
constexpr double kSmallestCost = 1e-290;
constexpr double kTiny = std::numeric_limits<double>::min();  // more than what underflow can lose

// More than the exact value of a formula of a few operations.
double upper(double x) {
    return x * (1.0 + 32 * kUlp) + kTiny;
}

// log(1 + q (e^k - 1)), to a few units of the last place; k in [0, inf].
double amplified(double q, double k) {
    if (q == 0.0 || k == 0.0) return 0.0;
    if (k <= 700.0) return std::log1p(q * std::expm1(k));
    // log(1 - q + e^large); q is either too small to be seen beside 1, or 1 - q beside e^large. The
    // two logarithms may cancel: their error is added.
    const double log_q = std::log(q);
    const double large = k + log_q + 2 * kUlp * (k - log_q);
    return large > 0.0 ? large + std::log1p(std::exp(-large)) : std::log1p(std::exp(large));
}

// K of randomised response with privacy loss e at order a (section 4), to a few units of the last
// place or rounded up: (e^(a e) - 1) / (1 + e^e) = e^((a-1) e) (1 - e^(-a e)) / (1 + e^-e).
double randomised_response(double a, double e) {
    const double most = (a - 1.0) * e;
    if (most > 700.0) return most;
    return std::log1p(std::expm1(most) * -std::expm1(-a * e) / (1.0 + std::exp(-e)));
}

// (1+x)^p - 1 - p x without cancellation, for |x| < 1, and p >= 2 or p < 0.
double power_remainder(double x, double p) {
    using boost::math::policies::ignore_error;
    using boost::math::policies::overflow_error;
    using boost::math::policies::policy;
    using boost::math::policies::promote_double;
    const policy<promote_double<false>, overflow_error<ignore_error>> doubles;
    return expm1mx(p * std::log1p(x)) + p * boost::math::log1pmx(x, doubles);
}

// [n] = log n!, a compensated sum of logarithms. Relative error: kUlp.
std::vector<double> log_factorials(std::size_t largest) {
    std::vector<double> table(largest + 1, 0.0);
    double sum = 0.0, carry = 0.0;
    for (std::size_t i = 2; i <= largest; ++i) {
        const double term = std::log(static_cast<double>(i)) + carry;
        const double next = sum + term;
        carry = term - (next - sum);
        table[i] = sum = next;
    }
    return table;
}

// The bounds of one mechanism at one sampling rate.
class Amplification {
  public:
    Amplification(const SampledMechanism& mechanism, double rate)
        : q_(rate),
          log_q_(std::log(rate)),
          log_rest_(std::log1p(-rate)),
          most_(mechanism.max_divergence),
          most_sampled_(upper(amplified(rate, most_))) {
        scaled_.assign(2, 0.0);
        const std::size_t orders = std::min(mechanism.integer_orders, kLargestSummedOrder - 1);
        for (std::size_t i = 0; i < orders; ++i) {
            const double order = static_cast<double>(i + 2);
            double k = (order - 1.0) * mechanism.integer_rdp[i];
            if (most_ < kInfinity) k = std::min(k, upper(randomised_response(order, most_)));
            if (!(k < kInfinity)) break;
            scaled_.push_back(k);
        }
        const std::size_t size = scaled_.size();
        log_factorial_ = log_factorials(size - 1);
        poisson_terms_ = {std::vector<double>(size, 0.0), std::vector<double>(size)};
        for (std::size_t l = 0; l < size; ++l) {
            poisson_terms_.factor[l] = -std::expm1(-scaled_[l]);
        }
        cached_.assign(size, kNaN);
        exponents_.resize(size);
    }

    // The bounds that hold for both kinds of sampling, at any real order (section 4).
    double always(double order, double rdp) const {
        if (rdp == 0.0) return 0.0;
        if (order == kInfinity) return std::min(rdp, most_sampled_);
        const double k = (order - 1.0) * rdp;
        double best = std::min(rdp, upper(amplified(q_, k) / (order - 1.0)));
        if (most_sampled_ < kInfinity) {
            const double two_points = randomised_response(order, most_sampled_) / (order - 1.0);
            best = std::min({best, most_sampled_, upper(two_points)});
        }
        return best;
    }

    // S at an integer order (section 1), infinity where the mechanism's own bounds do not reach.
    double poisson(std::size_t order) {
        if (order >= scaled_.size()) return kInfinity;
        double& cached = cached_[order];
        if (std::isnan(cached)) cached = log1p_sum(order, log_rest_, poisson_terms_);
        return cached;
    }

    // D at a real order in (1, 2] (section 2).
    double poisson_near_one(double order) const {
        if (scaled_.size() < 3) return kInfinity;
        const double square = std::expm1(scaled_[2]);
        // power_remainder cancels for p in (1, 2); there f(-q) is below its value for p = 1 - a:
        // the series in q of both have no negative terms, and those for p = 1 - a are the larger
        // ones.
        return upper(std::log1p(square * power_remainder(-q_, 1.0 - order)) / (order - 1.0));
    }

    // K at an integer order, without replacement (section 3).
    double without_replacement(std::size_t order) {
        if (order >= scaled_.size()) return kInfinity;
        if (replaced_terms_.factor.empty()) fill_replaced_terms();
        double best = log1p_sum(order, 0.0, replaced_terms_);
        const std::size_t steps[] = {1, (order + 3) / 4, (order + 1) / 2, order};
        for (const std::size_t step : steps) best = std::min(best, through_rest(order, step));
        return best;
    }

    // K at a real order from bounds at integers: the chord, rounded up.
    template <class AtInteger>
    double chord(double order, AtInteger at_integer) {
        if (!(order <= static_cast<double>(kLargestSummedOrder))) return kInfinity;
        const auto below = static_cast<std::size_t>(order);
        const double share = order - static_cast<double>(below);
        const double low = below < 2 ? 0.0 : at_integer(below);
        if (share == 0.0) return low;
        return upper(low * (1.0 - share) + at_integer(below + 1) * share);
    }

  private:
    // What a sum has beside C(a,l) q^l e^(k_l): a power and a factor.
    struct Terms {
        std::vector<double> log_power;  // at most 0
        std::vector<double> factor;
    };

    // log(1 + sum_{l=2}^a C(a,l) q^l e^(k_l + (a-l) log_rest + log_power[l]) factor[l]), rounded
    // up.
    double log1p_sum(std::size_t a, double log_rest, const Terms& terms) {
        poll();
        double largest = 0.0;
        for (std::size_t l = 2; l <= a; ++l) {
            const double binomial = log_factorial_[a] - log_factorial_[l] - log_factorial_[a - l];
            const double chosen = static_cast<double>(l) * log_q_;
            const double rest = static_cast<double>(a - l) * log_rest;
            const double power = terms.log_power[l];
            // The tables, the products and the partial sums: less than 10 kUlp of all of them.
            const double size =
                log_factorial_[a] - chosen - rest - power + scaled_[l] + static_cast<double>(l);
            exponents_[l] = (binomial + (chosen + rest)) + (scaled_[l] + power) + 10 * kUlp * size;
            largest = std::max(largest, exponents_[l]);
        }
        const double shift = largest < 690.0 ? 0.0 : largest;  // 2^13 terms stay finite
        double sum = 0.0;
        for (std::size_t l = 2; l <= a; ++l) sum += exp(exponents_[l] - shift) * terms.factor[l];
        sum = sum * (1.0 + kUlp * static_cast<double>(a + 8)) + kTiny;
        // With a shift the 1 is less than e^-689 of the sum.
        return upper(shift == 0.0 ? std::log1p(sum) : shift + std::log(sum));
    }

    // What bounds E_P'[|B-C|^j / P'^j], divided by e^k_j (section 3).
    void fill_replaced_terms() {
        const double x = std::expm1(most_);
        const std::size_t size = scaled_.size();
        replaced_terms_ = {std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
        for (std::size_t j = 2; j < size; ++j) {
            const double order = static_cast<double>(j);
            const double one = poisson_terms_.factor[j];  // X_j e^-k_j
            const double log_power = order * std::log(x);
            double& factor = replaced_terms_.factor[j];
            if (log_power < std::log(one)) {  // as a factor x^j could underflow
                replaced_terms_.log_power[j] = log_power;
                factor = 1.0;
                continue;
            }
            double outside = std::min({2.0, 4.0 * one, std::exp(log_power)});
            if (j == 2) {
                outside = std::min(outside, (1.0 + x) * one);
                if (size > 3) {
                    const double three = std::expm1(scaled_[3]) * std::exp(-scaled_[2]);
                    outside = std::min(outside, one + 4.0 / 27.0 * three);
                }
            }
            factor = ((1.0 - q_) * outside + q_ * one) * (1.0 + kUlp * (2.0 * order + 64.0));
        }
    }

    double through_rest(std::size_t a, std::size_t step) {
        const double n = static_cast<double>(a + step);
        const double share = static_cast<double>(a) / n;
        const double first = poisson(a + step);
        if (first == kInfinity) return kInfinity;
        const double reach = (static_cast<double>(a) - 1.0) * n / static_cast<double>(step);  // s-1
        // Rounded up, so that the chord is read no earlier than at s.
        const double s = (1.0 + reach) * (1.0 + 4 * kUlp);
        const double second =
            std::min(chord(s, [this](std::size_t l) { return poisson(l); }), -reach * log_rest_);
        return upper(first * share + second * (static_cast<double>(step) / n));
    }

    double q_, log_q_, log_rest_;
    double most_, most_sampled_;         // t_inf and e
    std::vector<double> scaled_;         // k_l
    Terms poisson_terms_;                // 1 - e^-k_l
    Terms replaced_terms_;               // filled when needed
    std::vector<double> log_factorial_;  // log l!
    std::vector<double> cached_;         // S(l), NaN before it is known
    std::vector<double> exponents_;      // of the sum under way
};

}  // namespace

double amplified_epsilon_upper(double rate, double epsilon) {
    if (rate == 0.0 || epsilon == 0.0) return 0.0;
    return std::min(upper(amplified(rate, epsilon)), epsilon);
}

void poisson_subsampled_rdp(const SampledMechanism& mechanism, double rate, const double* alphas,
                            const double* rdp, std::size_t n, double* out) {
    Amplification bounds(mechanism, rate);
    for (std::size_t i = 0; i < n; ++i) {
        const double alpha = alphas[i];
        double best = bounds.always(alpha, rdp[i]);
        if (alpha < kInfinity) {
            const double k = bounds.chord(alpha, [&](std::size_t l) { return bounds.poisson(l); });
            best = std::min(best, upper(k / (alpha - 1.0)));
        }
        if (alpha < 2.0) best = std::min(best, bounds.poisson_near_one(alpha));
        out[i] = std::max(best, std::min(rdp[i], kSmallestCost));
    }
}

void sampled_without_replacement_rdp(const SampledMechanism& mechanism, double rate,
                                     const double* alphas, const double* rdp, std::size_t n,
                                     double* out) {
    Amplification bounds(mechanism, rate);
    for (std::size_t i = 0; i < n; ++i) {
        const double alpha = alphas[i];
        double best = bounds.always(alpha, rdp[i]);
        if (alpha < kInfinity) {
            const double k =
                bounds.chord(alpha, [&](std::size_t l) { return bounds.without_replacement(l); });
            best = std::min(best, upper(k / (alpha - 1.0)));
        }
        out[i] = std::max(best, std::min(rdp[i], kSmallestCost));
    }
}

}  // namespace tightnoise
