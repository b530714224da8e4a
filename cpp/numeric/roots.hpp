// The root of an increasing function, approached from below. Only for .cpp files: Boost.
#pragma once

#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>

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

}  // namespace tightnoise
