#include "worst/truncated_profile_kernels.hpp"

#include "mechanisms/continuous_part.hpp"

namespace tightnoise {
namespace {

struct Units {
    DoubleDouble k, w;
};

Units units_of(const TruncatedProblem& problem) {
    return {DoubleDouble{problem.sensitivity, 0.0} / problem.sigma,
            DoubleDouble{problem.width, 0.0} / problem.sigma};
}

Interval between(DoubleDouble lower, DoubleDouble upper, DoubleDouble width) {
    return {lower, upper, width.hi};
}

// log p(y) of a density phi(y - s)/mass, z = y - s.
double log_density(DoubleDouble z, double log_mass_of_support) {
    return rounded(z * z * -0.5 - kLogSqrtTwoPiWide) - log_mass_of_support;
}

// Lower by what rounding may do to the log ratio of the two masses: delta falls with epsilon.
DoubleDouble lowered_epsilon(const TruncatedProblem& problem, const Units& in) {
    const double error = 4e-15 * smaller_of(in.k.hi, 1.0) * smaller_of(in.w.hi, 1.0);
    if (!(problem.epsilon > error)) return {0.0, 0.0};
    return two_sum(problem.epsilon, -error);
}

TruncatedPair nothing(double room, DoubleDouble s) {
    TruncatedPair pair{};
    pair.room = room;
    pair.s = s.hi;
    pair.s_low = s.lo;
    pair.log_delta = -kInfinity;
    pair.log_rise = kInfinity;
    pair.log_fall = -kInfinity;
    pair.most_loss = 1.0;
    return pair;
}

// Its logarithm, finite also for 0.
double log_of_gain(double gain) {
    return log(larger_of(gain, 1e-300));
}

TruncatedPair pair_at(const TruncatedProblem& problem, double room) {
    const Units in = units_of(problem);
    const DoubleDouble &k = in.k, &w = in.w;
    const DoubleDouble s = w - k + -room;
    const DoubleDouble epsilon = lowered_epsilon(problem, in);
    TruncatedPair pair = nothing(room, s);

    const Interval support = between(-s, w - s, w);
    const Cell cell(support);
    const DoubleDouble log_ratio_of_support = ContinuousPart(support, cell, k).log_ratio();
    pair.log_mass = rounded(cell.mass().logarithm());
    pair.log_mass_shifted = rounded(log_mass(seen_from(support, k)));

    // Measured from s, and from the lower bound.
    const DoubleDouble t = k * 0.5 - (log_ratio_of_support + epsilon) / k;
    DoubleDouble x = t + s;
    if (!(x.hi > 0.0)) return pair;
    if ((w - x).hi < 0.0) x = w;
    pair.x = x.hi;
    pair.x_low = x.lo;

    const Interval below = between(-s, t, x), above = between(t, w - s, w - x);
    const BestTest test = best_test(below, k, t);
    const double log_below = rounded(test.log_p) - pair.log_mass;
    pair.log_delta = test.advantage > 0.0 ? log_below + log(test.advantage) : -kInfinity;
    const double log_above = rounded(log_mass(above)) - pair.log_mass;
    pair.log_rest = log(exp(log_above) + exp(log_below - test.excess));

    // S_s - e^(-k x) S_{s+k} from the masses below, which are the smaller ones where it matters;
    // e^epsilon F_{s+k} = e^-excess F_s.
    const double kx = rounded(k * x);
    const double first = -expm1(-kx);
    const double second = -exp(log_below) * expm1(-(test.excess + kx + epsilon.hi));
    const double error = 1e-14 * (first + std::fabs(second)) / exp(log_above);
    const double gain = (first - second) / exp(log_above);
    pair.least_gain = larger_of(gain - error, 0.0);
    pair.most_gain = gain + error < 1.0 ? larger_of(gain + error, 0.0) : 1.0;  // 1 for NaN

    const double k_rest = rounded(k * (w - x) - epsilon);
    const double y = k_rest - test.excess, y_error = 1e-14 * (std::fabs(k_rest) + test.excess);
    pair.least_loss = larger_of(-expm1(-(y - y_error)), 0.0);
    pair.most_loss = larger_of(-expm1(-(y + y_error)), 0.0);

    pair.log_rise = log_density(-s, pair.log_mass) + log_above + log_of_gain(gain);
    pair.log_fall = log_density(w - s - k, pair.log_mass_shifted) + (log_below - test.excess) +
                    log_of_gain(-expm1(-y));
    return pair;
}

SlopeBounds slopes_between(const TruncatedProblem& problem, const TruncatedPair& lower,
                           const TruncatedPair& upper, double log_unit) {
    const Units in = units_of(problem);
    const DoubleDouble &k = in.k, &w = in.w;
    const DoubleDouble s0{lower.s, lower.s_low}, s1{upper.s, upper.s_low};
    const DoubleDouble x0{lower.x, lower.x_low}, x1{upper.x, upper.x_low};
    const DoubleDouble t0 = s0 + k, t1 = s1 + k;
    const double epsilon = lowered_epsilon(problem, in).hi;
    const auto log_above = [&](DoubleDouble s, DoubleDouble x, double log_mass_of_support) {
        const double excess = rounded(log_mass(between(x - s, w - s, w - x))) - log_mass_of_support;
        return smaller_of(excess, 0.0);
    };
    const auto log_below = [&](DoubleDouble s, DoubleDouble x, double log_mass_of_support) {
        if (!(x.hi > 0.0)) return -kInfinity;
        return smaller_of(rounded(log_mass(between(-s, x - s, x))) - log_mass_of_support, 0.0);
    };
    // e^(a + b + c), more or less by what large logarithms have lost.
    const auto product = [](double a, double b, double c, double sign) {
        if (b == -kInfinity) return 0.0;
        const double lost = 1e-12 + 1e-15 * (std::fabs(a) + std::fabs(b) + std::fabs(c));
        return exp(a + b + c + sign * lost);
    };
    const double rise_most = product(log_density(-s0, lower.log_mass),
                                     log_above(s1, x0, upper.log_mass), -log_unit, 1.0) *
                             upper.most_gain;
    const double rise_least = product(log_density(-s1, upper.log_mass),
                                      log_above(s0, x1, lower.log_mass), -log_unit, -1.0) *
                              lower.least_gain;
    const double log_weight = epsilon - log_unit;
    const double fall_most = product(log_density(w - t1, upper.log_mass_shifted),
                                     log_below(t0, x1, lower.log_mass_shifted), log_weight, 1.0) *
                             lower.most_loss;
    const double fall_least = product(log_density(w - t0, lower.log_mass_shifted),
                                      log_below(t1, x0, upper.log_mass_shifted), log_weight, -1.0) *
                              upper.least_loss;
    // More than an underflow.
    constexpr double kLeast = 1e-300;
    return {rise_least - fall_most - kLeast, rise_most - fall_least + kLeast};
}

}  // namespace

extern const TruncatedProfileKernels TIGHTNOISE_AT_LEVEL(truncated_profile_kernels) = {
    pair_at, slopes_between};

}  // namespace tightnoise
