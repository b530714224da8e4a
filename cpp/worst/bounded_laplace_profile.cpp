#include "worst/bounded_laplace_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "numeric/roots.hpp"
#include "worst/scale_calibration.hpp"

namespace tightnoise {
namespace {

constexpr double kNear = 1e-10;
constexpr double kRounding = 1e-14;    // of a value, relative
constexpr double kLowered = 0x1p-47;   // epsilon, by so much of k
constexpr double kFar = 64.0;          // from an end it is felt no more
constexpr int kParts = 8;              // of what is not so far, at first
constexpr std::size_t kMost = 20'000;  // intervals: of what is left then, the bounds count

// 2 - e^-a - s e^-a.
double both_sides(double a, double log_s) {
    return -std::expm1(-a) - std::expm1(log_s - a);
}

// e^-x - e^(x - w), of x in [0, w].
double fall(double x, double w) {
    return x < 0.5 * w ? -std::exp(-x) * std::expm1(2.0 * x - w)
                       : std::exp(x - w) * std::expm1(w - 2.0 * x);
}

// r of a place, and -r' there.
struct Slope {
    double r, falls;
};

// The pair of a and a + k; its f.
struct Pair {
    double a, before_end, log_s, whole;  // before_end: w - a
    Slope at_a, at_b;

    double lower() const { return std::exp(-a); }           // A
    double upper() const { return std::exp(-before_end); }  // B
    double s() const { return std::exp(log_s); }
    double rest() const { return -std::expm1(log_s); }  // 1 - s
    double f() const { return log_s < 0.0 ? rest() * (both_sides(a, log_s) / whole) : 0.0; }
};

struct Domain {
    double k, w, gap, epsilon;  // gap: w - k

    double greatest() const { return -2.0 * std::expm1(-0.5 * w); }  // Z

    // The pair that is `from` away from one end of the domain, up to half the gap.
    Pair pair(double from, bool at_upper) const {
        const double near = -std::expm1(-from) - std::expm1(from - w);
        const double more =  // Z(from + k)/Z(from) - 1
            std::exp(-from) * std::expm1(-k) * (std::expm1(2.0 * from - gap) / near);
        const double far = near * (1.0 + more);
        const Slope at_near = slope(from, near), at_far = slope(from + k, far);
        const double over = 0.5 * (epsilon - k), by_whole = 0.5 * std::log1p(more);
        if (!at_upper) return {from, w - from, over - by_whole, near, at_near, at_far};
        return {gap - from,
                from + k,
                over + by_whole,
                far,
                {-at_far.r, at_far.falls},
                {-at_near.r, at_near.falls}};
    }

    // Of a place where Z is `whole`.
    Slope slope(double place, double whole) const {
        const double r = fall(place, w) / whole;
        return {r, r * r + (2.0 - whole) / whole};
    }
};

// Bounds on t between two pairs, the first of which has the smaller a: by r at the ends, and by
// -r' = r^2 + 2/Z - 1, which falls up to the middle of the domain and rises from there.
std::pair<double, double> shift_of_log_s(const Domain& domain, const Pair& low, const Pair& high) {
    const double ends = std::max(low.at_a.falls, high.at_b.falls);
    const bool is_around = low.at_a.r > 0.0 && high.at_b.r < 0.0;
    const double middle = is_around ? domain.slope(0.5 * domain.w, domain.greatest()).falls
                                    : std::min(low.at_a.falls, high.at_b.falls);
    return {0.5 * std::max(high.at_a.r - low.at_b.r, domain.k * middle),
            0.5 * std::min(low.at_a.r - high.at_b.r, domain.k * ends)};
}

// An upper bound of max(f, 0) between two pairs, the first of which has the smaller a.
double greatest_between(const Domain& domain, const Pair& low, const Pair& high, double middle,
                        double length) {
    if (low.log_s >= 0.0) return 0.0;
    const double whole = std::min(low.whole, high.whole);
    const double most = both_sides(high.a, low.log_s) / whole;
    const double rough = low.rest() * most;
    if (high.log_s >= 0.0) return rough;
    // The factors of f', least and largest, all by the least Z.
    const auto [slow, fast] = shift_of_log_s(domain, low, high);
    const double s0 = low.s(), s1 = high.s();
    const double first = low.upper() + high.lower() * s0 * (1.0 - fast);
    const double last = high.upper() + low.lower() * s1 * (1.0 - slow);
    const double v0 = low.upper() - low.lower() * s1, v1 = high.upper() - high.lower() * s0;
    const auto [least, greatest] =
        std::minmax({v0 * high.at_a.r, v0 * low.at_a.r, v1 * high.at_a.r, v1 * low.at_a.r});
    const double q0 = (first - greatest) / whole, q1 = (last - least) / whole;
    const double rises = (q0 >= 0.0 ? high.rest() : low.rest()) * q0 - s1 * fast * most;
    const double falls = (q1 >= 0.0 ? low.rest() : high.rest()) * q1 -
                         s0 * slow * (both_sides(low.a, high.log_s) / whole);
    if (rises >= 0.0) return std::min(rough, high.f());
    if (falls <= 0.0) return std::min(rough, low.f());
    return std::min(rough, middle + 0.5 * length * std::max(-rises, falls));
}

struct Interval {
    double start, end;  // from an end of the domain
    Pair at_start, at_end;
};

// The largest f, or 0, from above.
double greatest_f(const Domain& domain) {
    const double half = 0.5 * domain.gap, near = std::min(half, kFar);
    double best = 0.0, left = 0.0;
    for (const bool at_upper : {false, true}) {
        std::vector<Interval> open;
        const auto add = [&](double start, double end) {
            open.push_back({start, end, domain.pair(start, at_upper), domain.pair(end, at_upper)});
            best = std::max({best, open.back().at_start.f(), open.back().at_end.f()});
        };
        for (int part = 0; part < kParts; ++part) {
            add(near * part / kParts, near * (part + 1) / kParts);
        }
        if (half > near) add(near, half);
        for (std::size_t seen = 0; !open.empty(); ++seen) {
            const Interval here = open.back();
            open.pop_back();
            const double length = here.end - here.start, place = here.start + 0.5 * length;
            const Pair middle = domain.pair(place, at_upper);
            best = std::max(best, middle.f());
            const Pair& low = at_upper ? here.at_end : here.at_start;
            const Pair& high = at_upper ? here.at_start : here.at_end;
            const double bound = greatest_between(domain, low, high, middle.f(), length);
            if (bound <= best * (1.0 + kNear)) continue;
            if (seen >= kMost || !(here.start < place && place < here.end)) {
                left = std::max(left, bound);
                continue;
            }
            open.push_back({here.start, place, here.at_start, middle});
            open.push_back({place, here.end, middle, here.at_end});
        }
    }
    return std::max(best * (1.0 + kNear), left);
}

}  // namespace

double bounded_laplace_worst_delta(double scale, double width, double sensitivity, double epsilon) {
    const double reach = std::min(sensitivity, width);
    // Proven by the loss, or by the scale that is calibrated for it: the last digits differ.
    const double pure = bounded_laplace_epsilon_upper(scale, width, reach);
    if (epsilon >= pure) return 0.0;
    if (epsilon >= pure * (1.0 - 1e-12) &&
        scale >= bounded_laplace_scale_upper(epsilon, width, reach)) {
        return 0.0;
    }
    const double k = reach / scale;
    const double lowered = std::max(0.0, epsilon - kLowered * k);
    const Domain domain{k, width / scale, (width - reach) / scale, lowered};
    return std::clamp(greatest_f(domain) * (1.0 + kRounding),
                      std::numeric_limits<double>::denorm_min(), 1.0);
}

double bounded_laplace_epsilon_at(double scale, double width, double sensitivity, double delta) {
    const auto excess = [=](double epsilon) {
        return delta - bounded_laplace_worst_delta(scale, width, sensitivity, epsilon);
    };
    const double pure = bounded_laplace_epsilon_upper(scale, width, std::min(sensitivity, width));
    if (excess(0.0) >= 0.0) return 0.0;
    const double root = root_from_below(excess, 0.0, pure);
    return std::min(step_until([=](double x) { return excess(x) >= 0.0; }, root), pure);
}

}  // namespace tightnoise
