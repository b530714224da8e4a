// Polynomials, bit patterns and other building blocks of branch-free functions. Kernel-side header:
// internal linkage, one copy a level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tightnoise {
namespace {

inline std::uint64_t to_bits(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double from_bits(std::uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline std::uint32_t to_bits(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float from_bits(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Adding and subtracting 1.5 * 2^52 rounds a double of magnitude below 2^51 to an integer, without
// the double <-> int64 conversions that exist only in AVX-512.
constexpr double kRounder = 0x1.8p52;

inline double round_to_integer(double x) {
    return (x + kRounder) - kRounder;
}

// The largest integer not above x, |x| < 2^51; beyond, x within two units of its last place.
inline double round_down(double x) {
    const double nearest = round_to_integer(x);
    return nearest > x ? nearest - 1.0 : nearest;
}

// 2^n for an integer -1022 <= n <= 1023; 2^-1023 gives 0 and 2^1024 inf.
inline double power_of_two(double n) {
    return from_bits(to_bits(n + (kRounder + 1023.0)) << 52);
}

// The part of x that holds 26 bits: its square is exact.
inline double upper_half(double x) {
    return from_bits(to_bits(x) & 0xfffffffff8000000u);
}

// sum_k c[k] x^k by Horner's rule: the fewest operations.
template <class T, std::size_t N>
inline T polynomial(const double (&c)[N], T x) {
    T sum = static_cast<T>(c[N - 1]);
#pragma GCC unroll 32
    for (std::size_t k = 1; k < N; ++k) sum = sum * x + static_cast<T>(c[N - 1 - k]);
    return sum;
}

// The same as even and odd part: half the latency for one more multiplication. N is even.
template <class T, std::size_t N>
inline T polynomial_in_halves(const double (&c)[N], T x) {
    static_assert(N % 2 == 0, "as many even powers as odd ones");
    const T square = x * x;
    T even = static_cast<T>(c[N - 2]);
    T odd = static_cast<T>(c[N - 1]);
#pragma GCC unroll 32
    for (std::size_t k = 3; k < N; k += 2) {
        even = even * square + static_cast<T>(c[N - 1 - k]);
        odd = odd * square + static_cast<T>(c[N - k]);
    }
    return even + x * odd;
}

}  // namespace
}  // namespace tightnoise
