// Searches for one number: roots, and the last digits of an answer. Only for .cpp files: Boost.
#pragma once

#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numeric/polynomial.hpp"

namespace tightnoise {

// The greatest x found in [low, high] with f(x) <= 0: it is `high`, or within `tolerance` or two
// units of the last place of one where f > 0. `low` where f is not below 0 even there. Throws
// nothing but what f does.
template <class Function>
double root_from_below(Function f, double low, double high, double tolerance = 0.0) {
    namespace policies = boost::math::policies;
    using Quiet = policies::policy<policies::promote_double<false>,
                                   policies::domain_error<policies::ignore_error>,
                                   policies::overflow_error<policies::ignore_error>,
                                   policies::evaluation_error<policies::ignore_error>>;
    if (!(low < high)) return low;
    const double at_low = f(low);
    if (!(at_low < 0.0)) return low;
    const double at_high = f(high);
    if (!(at_high > 0.0)) return high;
    const auto close = [=](double l, double h) {
        return h - l <= std::max(tolerance, 0x1p-51 * std::max(std::fabs(l), std::fabs(h)));
    };
    std::uintmax_t evaluations = 100;
    return boost::math::tools::toms748_solve(f, low, high, at_low, at_high, close, evaluations,
                                             Quiet())
        .first;
}

// An interval in which a function falls through 0, narrowed by false position; a side that stays
// twice counts half (Illinois). at_low > 0 and at_high <= 0 are the values at its ends.
class FalsePosition {
  public:
    FalsePosition(double low, double at_low, double high, double at_high)
        : low_(low), high_(high), at_low_(at_low), at_high_(at_high) {}

    double high() const { return high_; }
    double width() const { return high_ - low_; }

    // Where to look next: a hundredth of the width or more from both ends, in the middle where the
    // values are infinite.
    double next() const {
        const double share = at_low_ / (at_low_ - at_high_);
        return low_ + width() * (share > 0.0 ? std::clamp(share, 0.01, 0.99) : 0.5);
    }

    void narrow(double at, double value) {
        (value > 0.0 ? low_ : high_) = at;
        (value > 0.0 ? at_low_ : at_high_) = value;
        const Side side = value > 0.0 ? Side::low : Side::high;
        if (side == last_) (value > 0.0 ? at_high_ : at_low_) *= 0.5;
        last_ = side;
    }

  private:
    enum class Side { none, low, high };

    double low_, high_;
    double at_low_, at_high_;
    Side last_ = Side::none;
};

// Moves `from` >= 0 up by a unit of its last place, then by 2, 4, ..., until it is good (or
// infinite): the last digits are settled by the very function that answers for them.
template <class Good>
double step_until(Good is_good, double from) {
    using Limits = std::numeric_limits<double>;
    const double unit = std::max(Limits::epsilon() * from, Limits::denorm_min());
    double x = from;
    for (double units = 1.0; x < Limits::infinity() && !is_good(x); units *= 2.0) {
        x = from + units * unit;
    }
    return x;
}

// The least of the numbers that are multiples of `spacing` units of the last place, near `start`,
// to be good: all above it are. inf if there is none within `most_steps`. On a grid the answer does
// not depend on how the search went.
template <class Good>
double least_good(Good is_good, double start, std::uint64_t spacing, int most_steps = 1000) {
    std::uint64_t bits = (to_bits(start) / spacing + 1) * spacing;
    int steps = 0;
    while (steps < most_steps && is_good(from_bits(bits - spacing))) {
        bits -= spacing;
        ++steps;
    }
    while (steps < most_steps && !is_good(from_bits(bits))) {
        bits += spacing;
        ++steps;
    }
    return steps < most_steps ? from_bits(bits) : std::numeric_limits<double>::infinity();
}

}  // namespace tightnoise
