// Exponential variables. Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cstdint>

#include "random/normal.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {

// -2 log U for a uniform U with full resolution at both ends: twice an exponential variable.
// Range (0, 90.2]; the mass beyond is 2.7e-20.
inline double two_exponentials(std::uint64_t bits) {
    const auto unit = uniform::two_sided_unit(bits);
    const double u = uniform::select(unit.from_one, 1.0 - unit.near, unit.near);
    return box_muller::minus_two_log(u, unit.near);
}

}  // namespace
}  // namespace tightnoise
