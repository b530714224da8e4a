// The last digits of a search.
#pragma once

#include <algorithm>
#include <limits>

namespace tightnoise {

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

}  // namespace tightnoise
