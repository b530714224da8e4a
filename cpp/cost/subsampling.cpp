// Amplification by sampling, for any mechanism with a Renyi curve.
//
// Let D_a(B|A) be the Renyi divergence of order a and K_a = (a - 1) D_a, so that
//     e^K_a(B|A) = E_A[(B/A)^a].
// Facts used below: D_a does not decrease with a; K_a is convex in a, and 0 at a = 1; D_a is
// jointly quasi-convex and e^K_a jointly convex in the pair (van Erven and Harremoes 2014, "Renyi
// divergence and Kullback-Leibler divergence", Theorems 3, 11, 13 and Corollary 2). t_a bounds D_a
// between the outputs of neighbours both ways round, k_a = (a - 1) t_a. All logarithms are natural.
//
// 1. Poisson sampling, one record more or less. Given which of the other records are sampled, the
// outputs without and with the record x are A and B; on the data set with x the output is
// Q = (1-q) A + q B, on the other it is A. By quasi-convexity the worst case over the other records
// bounds the mixture over them. For integer a, expanding the power (Zhu and Wang 2019, "Poisson
// Subsampled Renyi Differential Privacy"; D_a is this over a-1, where some quote it over a):
//     e^K_a(Q|A) = sum_{l=0}^a C(a,l) (1-q)^(a-l) q^l E_A[(B/A)^l]
//               <= 1 + sum_{l=2}^a C(a,l) (1-q)^(a-l) q^l (e^k_l - 1)  =: e^S(a),
// as the coefficients add up to 1 and the moments 0 and 1 are 1. No term is negative, so nothing
// cancels however small q is. If one pair A, B attains t at every order (Gaussian, von
// Mises-Fisher) this is an equality. For the other direction they bound the terms from l = 3 on by
// three times as much. That factor is not needed. For all real a >= 2 and r > 0, with
// y = 1-q+qr, w = 1-q+q/r and m = 3(1-q) / (3 + 2q(a-2)) in [0, 1],
//     y^(1-a) <= m y^a + (1-m) r w^a + c (r-1)                                                (*)
// where c makes the slopes at r = 1 agree. Both sides are 1 there; the second derivative of the
// right less the left side is a(a-1) q^2 times
//     m y^(a-2) + (1-m) w^(a-2) r^-3 - y^(-a-1),
// and y >= r^q, w >= r^-q (weighted means), so with the weighted mean of the first two terms
//     (m y^(a-2) + (1-m) w^(a-2) r^-3) y^(a+1) >= y^(m(a-2)+a+1) w^((1-m)(a-2)) r^(-3(1-m))
//         >= r^(q (m(a-2) + a+1 - (1-m)(a-2)) - 3(1-m)) = r^(m (2q(a-2) + 3) - 3(1-q)) = 1.
// Hence (*). Its expectation for r = B/A under A, where E_A[r] = 1, is
//     e^K_a(A|Q) <= m e^K_a((1-q)A+qB | A) + (1-m) e^K_a((1-q)B+qA | B) <= e^S(a).
// So D_a <= S(a) / (a-1) for integers a >= 2 in both directions; for real orders the chord of S
// between the integers around, and from S(1) = 0, for K is convex. (A chord of D would not do.)
//
// 2. Orders in (1, 2], with u = B/A - 1 >= -1 and X = E_A[u^2] <= e^t_2 - 1. The remainder
// f(x) = (1+x)^p - 1 - p x, p in (1, 2] or p < 0, has a decreasing second derivative, so f(qu)/u^2
// decreases in u and E_A[f(qu)] <= X f(-q). With p = a and p = 1 - a this bounds both directions.
// As a -> 1 it is half of what the chord from K(1) = 0 gives.
//
// 3. Sampling without replacement, one record replaced. Given the other records of the sample, the
// outputs are P = (1-q) A + q B and P' = (1-q) A + q C, and A, B, C are the outputs on samples that
// are neighbours of each other: remove the record from a sample that has it, and put a random one
// of those not sampled in its place (Wang, Balle and Kasiviswanathan 2019, "Subsampled Renyi
// Differential Privacy and Analytical Moments Accountant"). With b = B/A, c = C/A and joint
// convexity in (B-C, P'), for integer a
//     e^K_a(P|P') = 1 + sum_{j=2}^a C(a,j) q^j E_P'[((B-C)/P')^j],
//     E_P'[|B-C|^j / P'^j] <= (1-q) E_A[|b-c|^j] + q E_C[|B/C-1|^j].
// Their Theorem 9 bounds both expectations by the first, and that by 2 e^k_j, or 4X if j = 2, or
// x^j e^k_j with x = e^t_inf - 1, as |b-c|^j <= b^j + c^j and |b/c-1| <= x. Bounds that vanish with
// t come from f_j(r) = r^j - 1 - j (r-1), for E[f_j(r)] <= X_j := e^k_j - 1 if E[r] = 1:
// - |r-1|^j <= f_j(r). For r = 1+x that is (1+x)^j >= 1 + jx + x^j. For r = 1-y it says that
//   h(y) = (1-y)^j - 1 + jy - y^j >= 0 on [0, 1]: h(0) = h'(0) = 0, h is convex up to y = 1/2 and
//   concave from there to h(1) = j-2. So E_C[|B/C-1|^j] <= X_j.
// - |b-c|^j <= 2 (f_j(b) + f_j(c)), so E_A[|b-c|^j] <= 4 X_j. If b and c are on one side of 1, then
//   |b-1| or |c-1| is at least |b-c|. Else let b = 1+x, c = 1-y. In the expansion of (x+y)^j the
//   powers of x from 2 on are at most those of f_j(b), y^j is at most f_j(c), and the rest is
//   j x y^(j-1) <= j(j-1)/2 x^2 + j/(2(j-1)) y^(2j-2) <= f_j(b) + y^j <= f_j(b) + f_j(c).
// - (b-c)^2 <= (1/b + 1/c) (b-c)^2 / 2 + 2/27 (f_3(b) + f_3(c)), so E_A[(b-c)^2] <= X_2 + 4/27 X_3,
//   since E_A[(b-c)^2/c] = E_C[(B/C-1)^2]. Let b = 1+x >= c = 1+z, x > 0 (else 1/b + 1/c >= 2), and
//   g = x/(1+x). As z/(1+z) <= z, and by the inequality of the means of (x-z)/2 twice and g+z,
//   (1 - 1/(2b) - 1/(2c)) (b-c)^2 <= (g+z) (x-z)^2 / 2 <= 2/27 (x+g)^3 <= 2/27 x^2 (x+3), the last
//   because (x+3) (1+x)^3 - x (2+x)^3 = 2x+3; and x^2 (x+3) = f_3(b).
// - E_A[(b-c)^2] <= e^t_inf X_2, since c <= e^t_inf.
// The coefficients C(a,j) q^j exceed those of section 1, by a factor that grows like e^(aq). Where
// that matters, by Hoelder's inequality with the exponents n/a and n/(n-a) under A, for n > a,
//     E_A[(P/A)^a (A/P')^(a-1)] <= e^(K_n(P|A) a/n + K_s(A|P') (1-a/n)),   s = 1 + (a-1) n/(n-a),
// and section 1 bounds both: K_n(P|A) by S(n), K_s(A|P') by S(s) and by -(s-1) log(1-q).
//
// 4. Always, for both kinds of sampling and all real orders:
// - D_a <= t_a, by quasi-convexity;
// - K_a <= log(1 + q (e^k_a - 1)), by joint convexity: with probability 1 - q both outputs are A;
// - D_inf <= e := log(1 + q (e^t_inf - 1)), so D_a <= e, and, as no pair with |log P/Q| <= e has a
//   larger divergence than randomised response (E[(P/Q)^a] is convex in P/Q),
//     K_a <= log((e^(a e) + e^((1-a) e)) / (1 + e^e))
//          = log(1 + (e^(a e) - 1) (1 - e^((1-a) e)) / (1 + e^e)).
//   The same with t_inf bounds k_a itself, before anything else is done.
//
// The smallest of valid bounds is one. Each of them gives a K that does not decrease with a if that
// of the mechanism does not, so the smallest does not either.
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
