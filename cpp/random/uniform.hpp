// Random bits to uniform numbers. Kernel-side header: internal linkage, one copy a level.
//
// Integers become floating-point numbers by writing them into the fraction of a power of two and
// subtracting that power: exact, and a vector instruction at every level, which a conversion from
// 64-bit integers is not.
#pragma once

#include <cstdint>
#include <cstring>

namespace tightnoise {
namespace {
namespace uniform {

inline double real_of(std::uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline float real_of(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline std::uint64_t bits_of(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

// The open unit interval: (k + 1/2) / 2^52 with k the upper 52 bits. Exact, and symmetric: u and
// 1 - u are equally likely. Range [2^-53, 1 - 2^-53].
inline double open_unit(std::uint64_t bits) {
    return real_of(0x3ff0000000000000u | (bits >> 12)) - 0x1.fffffffffffffp-1;
}
// (k + 1/2) / 2^23 with k the upper 23 bits. Range [2^-24, 1 - 2^-24].
inline float open_unit(std::uint32_t bits) {
    return real_of(0x3f800000u | (bits >> 9)) - 0x1.fffffep-1f;
}

// All bits count: (bits + 1/2) / 2^64 rounded once, so small values keep full resolution. Range
// [2^-65, 1]: 1 itself is reached, by rounding.
inline double full_unit(std::uint64_t bits) {
    const double upper = real_of(0x3ff0000000000000u | (bits >> 12)) - 1.0;  // k / 2^52
    const double lower = real_of(0x3ff0000000000000u | bits << 52 >> 12) - (1.0 - 0x1p-13);
    return upper + lower * 0x1p-52;
}
// (bits + 1/2) / 2^32 rounded once. Range [2^-33, 1].
inline float full_unit(std::uint32_t bits) {
    const float upper = real_of(0x3f800000u | (bits >> 9)) - 1.0f;  // k / 2^23
    const float lower = real_of(0x3f800000u | (bits & 0x1ffu) << 14) - (1.0f - 0x1p-10f);
    return upper + lower * 0x1p-23f;
}

}  // namespace uniform
}  // namespace
}  // namespace tightnoise
