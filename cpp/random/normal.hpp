// Standard normals by Box and Muller (1958): from a radius r = sqrt(-2 log u) and a uniform angle,
// r cos and r sin are two independent normals. One keystream batch (1 KB) becomes 128 float64 or
// 256 float32 normals: element i and i + half are the cosine and the sine of the same pair, from
// word i of the lower half (radius) and of the upper half (angle) of the batch.
// Kernel-side header: internal linkage, one copy a level.
//
// float64: u keeps 64 random bits at both ends, so |z| reaches sqrt(130 log 2) = 9.49 (the mass
// beyond is 2.3e-21) and no radius is zero. Against the exact transform of the same bits the
// absolute error is below 2e-15.
// float32: 32 random bits, |z| reaches 6.76 (1.4e-11 beyond). Absolute error below 1e-6.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numeric/polynomial.hpp"
#include "random/box_muller_coefficients.hpp"
#include "random/chacha20.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace box_muller {

// Elements of one type that one keystream batch gives.
template <class Real>
constexpr std::size_t kBatch = chacha20::kBatchBytes / sizeof(Real);

// -2 log u = -2 log 2 e - 4 atanh(s) for u = 2^e m, m in [sqrt(1/2), sqrt(2)), s = (m - 1)/(m + 1).
// Next to 1, where u has no digits left, m - 1 is taken from t = 1 - u: a radius is never zero.
// u and t are normal numbers in (0, 1], so nothing is guarded.
inline double minus_two_log(double u, double t) {
    constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
    const std::uint64_t above = to_bits(u) - kSqrtHalf + (1023ull << 52);
    const double exponent = from_bits(0x4330000000000000u | above >> 52) - (0x1p52 + 1023);
    const std::uint64_t fraction = above & 0x000fffffffffffffu;
    const double m_minus_1 = from_bits(fraction + kSqrtHalf) - 1.0;
    const double f = exponent == 0.0 ? -t : m_minus_1;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double tail = polynomial(Coefficients<double>::kLog, z);
    return exponent * -1.3862943611198906 - s * (4.0 - z * tail);
}
inline float minus_two_log(float u, float t) {
    constexpr std::uint32_t kSqrtHalf = 0x3f3504f3u;
    const std::uint32_t above = to_bits(u) - kSqrtHalf + (127u << 23);
    const float exponent = from_bits(0x4b000000u | above >> 23) - (0x1p23f + 127);
    const std::uint32_t fraction = above & 0x007fffffu;
    const float m_minus_1 = from_bits(fraction + kSqrtHalf) - 1.0f;
    const float f = exponent == 0.0f ? -t : m_minus_1;
    const float s = f / (2.0f + f);
    const float z = s * s;
    const float tail = polynomial(Coefficients<float>::kLog, z);
    return exponent * -1.38629436f - s * (4.0f - z * tail);
}

template <class Real>
struct Bits;
template <>
struct Bits<double> {
    using Word = std::uint64_t;
    static constexpr int kSign = 63;
};
template <>
struct Bits<float> {
    using Word = std::uint32_t;
    static constexpr int kSign = 31;
};

template <class Real>
struct Pair {
    Real first;
    Real second;
    Real square;  // of the radius
    Real u;       // the uniform number that it is made of
};

// Two independent normals from two random words.
template <class Real, class Word>
inline Pair<Real> pair_of(Word radius_bits, Word angle) {
    using C = Coefficients<Real>;
    const auto unit = uniform::two_sided_unit(radius_bits);
    const Real u = uniform::select(unit.from_one, Real(1) - unit.near, unit.near);
    const Real square = minus_two_log(u, unit.near);
    const Real radius = std::sqrt(square);
    // The angle lies within pi/4 of the positive x axis; bit 0 chooses between it and its mirror
    // image about the diagonal, bit 1 between that and its opposite: all four quarters.
    const Real f = uniform::open_unit(angle) - Real(0.5);
    const Real f2 = f * f;
    const Real sine = f * polynomial(C::kSin, f2);
    const Real cosine = Real(1) + f2 * polynomial(C::kCos, f2);
    const Word mirror = Word(0) - (angle & 1);  // all ones or all zeros
    const Word sign = (angle & 2) << (Bits<Real>::kSign - 1);
    const Real signed_radius = from_bits(to_bits(radius) ^ sign);
    return {signed_radius * uniform::select(mirror, sine, cosine),
            signed_radius * uniform::select(mirror, cosine, sine), square, u};
}

// Turns one keystream batch into kBatch<Real> normals.
template <class Real>
inline void normals_of(const std::uint32_t* keystream, Real* z) {
    using Word = typename Bits<Real>::Word;
    constexpr std::size_t kPairs = kBatch<Real> / 2;
    alignas(64) Word words[2 * kPairs];
    std::memcpy(words, keystream, sizeof words);
#pragma omp simd
    for (std::size_t i = 0; i < kPairs; ++i) {
        const Pair<Real> pair = pair_of<Real>(words[i], words[kPairs + i]);
        z[i] = pair.first;
        z[kPairs + i] = pair.second;
    }
}

}  // namespace box_muller

// -2 log U for a uniform U with full resolution at both ends: twice an exponential variable.
// Range (0, 90.2]; the mass beyond is 2.7e-20.
inline double two_exponentials(std::uint64_t bits) {
    const auto unit = uniform::two_sided_unit(bits);
    const double u = uniform::select(unit.from_one, 1.0 - unit.near, unit.near);
    return box_muller::minus_two_log(u, unit.near);
}

}  // namespace
}  // namespace tightnoise
