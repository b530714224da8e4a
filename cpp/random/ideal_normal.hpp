// The ideal pair of normals behind two keystream words, and how far their float evaluation
// (normal.hpp) is from it. Kernel-side header: internal linkage, one copy a level.
//
// With R and A the words of radius and angle, and v, w in [0, 1) from words 2 to 7 and 8 to 13 of
// the pair's block (half a unit after them):
//
//     near = (k + v) / 2^64, k the lower 63 bits of R;  u = near or 1 - near by the upper bit
//     f = ((A >> 12) + w) / 2^52 - 1/2;  r = sqrt(-2 log u), negative if A & 2
//     z = r (cos, sin)(pi f / 2), swapped if A & 1
//
// u is uniform on (0, 1) and the angle on the circle: both z are exactly normal and independent.
// Words of 32 bits are continued to these: R by word 0, the upper 23 bits of A by the upper 29 of
// word 1.
#pragma once

#include <cstdint>

#include "random/ideal_bits.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

// abs(z - ideal z) <= kSquare r^2 + kConstant where r^2 lies between kLeastSquare and kMostSquare;
// elsewhere nothing is known. In r^2 and not in r, as then how often a pair is doubtful depends on
// where theta lies between two points of the grid by no more than exp(-2 pi^2 (sigma / step)^2),
// roughly.
template <class Real>
struct NormalError;

// Evaluation: 63 units of 2^-53, below 2^-47. The bits of u that were not read move r by at most
// 2^-65 / (u r): below 2^-41 / 5.77 at the lower end of u, and 2^-43 where r^2 = 2^-44, next to
// u = 1; those of the angle, pi/2 2^-53 r. The sums are below 2^-43.3 and 2^-42.9; the rest of
// 2^-42 covers the roundings of s z and of the sum.
template <>
struct NormalError<double> {
    static constexpr double kLeastSquare = 0x1p-44;
    static constexpr double kMostSquare = 33.27;  // u >= 2^-24
    static constexpr double kSquare = 0.0;
    static constexpr double kConstant = 0x1p-42;
    static constexpr double kOfNormal = 1.0;
};

// Found by trying all 2^32 words of the radius at every level
// (tests/mechanisms/grid/test_normals.py): its error, 1.58e-7 r for the angle (the most of all
// 2^23) and 2^-24 r for each rounding of the product, of s, of s z and of the sum come to no more
// than 0.79 of this. Next to u = 1 the bits of u that were not read move r by 2^-33 / r, 2.4e-7 at
// the lower end.
template <>
struct NormalError<float> {
    static constexpr float kLeastSquare = 0x1p-22f;
    static constexpr float kMostSquare = 19.4f;  // u >= 2^-14
    static constexpr float kSquare = 2.8e-7f;
    static constexpr float kConstant = 4.6e-7f;
    // Of this bound, what the pair itself needs, where s z and the sum are taken in float64:
    // without three of the four roundings 4e-7 r + 1.32e-8 is left.
    static constexpr float kOfNormal = 0.7f;
};

// The two words of a float64 pair.
struct PairWords {
    std::uint64_t radius;
    std::uint64_t angle;
};
inline PairWords full_words(std::uint64_t radius, std::uint64_t angle, const chacha20::Block&) {
    return {radius, angle};
}
inline PairWords full_words(std::uint32_t radius, std::uint32_t angle,
                            const chacha20::Block& block) {
    return {
        std::uint64_t{radius} << 32 | block.word[0],
        std::uint64_t{angle >> 9} << 41 | std::uint64_t{block.word[1] >> 3} << 12 | (angle & 3)};
}

}  // namespace
}  // namespace tightnoise
