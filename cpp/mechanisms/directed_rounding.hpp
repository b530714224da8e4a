// Rounding in one direction, for OperandBlock. Kernel-side header: internal linkage, one copy a
// level.
#pragma once

#include <cstdint>

#include "numeric/polynomial.hpp"

namespace tightnoise {
namespace {

// To a float that is not below, and not above, what it stands for.
struct RoundUp {
    template <class Real, class From>
    static Real convert(From value) {
        const Real nearest = static_cast<Real>(value);
        if constexpr (sizeof(Real) < sizeof(From)) {
            const std::uint32_t bits = to_bits(nearest);
            const std::uint32_t next = nearest < Real(0) ? bits - 1 : bits + 1;
            return from_bits(static_cast<From>(nearest) < value ? next : bits);
        } else {
            return nearest;
        }
    }
};
struct RoundDown {
    template <class Real, class From>
    static Real convert(From value) {
        return -RoundUp::convert<Real>(-value);
    }
};

}  // namespace
}  // namespace tightnoise
