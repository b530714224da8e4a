// Random bits to uniform numbers. Kernel-side header: internal linkage, one copy a level.
//
// Integers become floating-point numbers by writing them into the fraction of a power of two and
// subtracting that power: exact, and a vector instruction at every level, which a conversion from
// 64-bit integers is not.
#pragma once

#include <cstdint>

#include "numeric/polynomial.hpp"

namespace tightnoise {
namespace {
namespace uniform {

// The open unit interval: (k + 1/2) / 2^52 with k the upper 52 bits. Exact, and symmetric: u and
// 1 - u are equally likely. Range [2^-53, 1 - 2^-53].
inline double open_unit(std::uint64_t bits) {
    return from_bits(0x3ff0000000000000u | (bits >> 12)) - 0x1.fffffffffffffp-1;
}
// (k + 1/2) / 2^23 with k the upper 23 bits. Range [2^-24, 1 - 2^-24].
inline float open_unit(std::uint32_t bits) {
    return from_bits(0x3f800000u | (bits >> 9)) - 0x1.fffffep-1f;
}

// A uniform on (0, 1) with full resolution at both ends: its distance `near` from the nearer end,
// which is 1 where `from_one` is all ones, else 0.
template <class Real, class Word>
struct TwoSided {
    Real near;
    Word from_one;
};

// near = (k + 1/2) / 2^64 rounded once, with k the lower 63 bits; the upper bit chooses the end.
// Range [2^-65, 1/2].
inline TwoSided<double, std::uint64_t> two_sided_unit(std::uint64_t bits) {
    const double high = from_bits(0x3fe0000000000000u | bits << 1 >> 12) - 0.5;
    const double low = from_bits(0x3ff0000000000000u | bits << 53 >> 12) - (1.0 - 0x1p-12);
    return {high + low * 0x1p-53, std::uint64_t{0} - (bits >> 63)};
}
// near = (k + 1/2) / 2^32, rounded, with k the lower 31 bits. Range [2^-33, 1/2].
inline TwoSided<float, std::uint32_t> two_sided_unit(std::uint32_t bits) {
    const float k = static_cast<float>(static_cast<std::int32_t>(bits & 0x7fffffffu));
    return {k * 0x1p-32f + 0x1p-33f, std::uint32_t{0} - (bits >> 31)};
}

// a where mask is all ones, b where it is zero.
template <class Real, class Word>
inline Real select(Word mask, Real a, Real b) {
    return from_bits(to_bits(b) ^ ((to_bits(a) ^ to_bits(b)) & mask));
}

// A uniform share and the rest of the whole; both keep full relative accuracy.
struct Shares {
    double above;
    double below;
};

// Range [2^-65, 1 - 2^-65], rounded.
inline Shares shares(std::uint64_t bits) {
    const auto unit = two_sided_unit(bits);
    const double far = 1.0 - unit.near;
    return {select(unit.from_one, far, unit.near), select(unit.from_one, unit.near, far)};
}
// From the lower 63 bits: the upper one is free. Range [2^-64, 1 - 2^-64], rounded.
inline Shares shares_of_63(std::uint64_t bits) {
    return {2.0 * two_sided_unit(bits).near, 2.0 * two_sided_unit(~bits).near};
}

}  // namespace uniform
}  // namespace
}  // namespace tightnoise
