// A truncated Gaussian sample in float32, with a proven bound on how far it is from the ideal one
// (GRID_TRUNCATED.md). Kernel-side header: internal linkage, one copy a level.
//
// In units of sigma, o is what theta lies outside the bounds, and y >= 0 the distance of a sample
// from the mode. With Q the mass of N(0, 1) beyond x and m(x) = 2 Q(x) e^(x^2 / 2), its Mills ratio
// up to a factor, the mass beyond y from the mode is
//
//     M(y) = e^(-y (o + y / 2)) m(o + y),
//
// and x = o + y solves 2 Q(x) = e^(-o^2 / 2) M(y): in z = o^2 - 2 log M(y) = -2 log(2 Q(x)) a
// function of one variable, x^2 = z^2 top(z) / bottom(z). So there is nothing to iterate. Far out
// x - o has no digits left: there -log(M(y) / m(o)) = L = h y + h (h - o) y^2 / 2 + ... is solved
// for y, with the hazard h of the law at the mode.
//
// All are bounded by multiplications: polynomials are in Horner's form.
#pragma once

#include <cmath>
#include <cstdint>

#include "mechanisms/grid_truncated_coefficients.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace grid {
namespace float32 {

// How far y may be from the ideal one for shares from kLeastShare to 1 less that, and all that is
// made of it in cells, in units of their number to a sigma.
constexpr float kLeastShare = 0x1p-15f;
constexpr float kConstantError = 4.8e-6f;
constexpr float kErrorOfX = 1.2e-6f;  // times x = o + y

// From here on out, y is solved for as above.
constexpr float kFar = 12.0f;
constexpr float kHalfOfSquare = 0.62665707f;  // sqrt(pi / 2) / 2

// m(x) = sqrt(2 / pi) times the Mills ratio, of v = 1 / (x + 4).
inline float mills(float v) {
    return v * polynomial(TruncatedCoefficients::kMills, 1.0f - 8.0f * v);
}

// 2^x for -100 <= x <= 0; of 0, 1.
inline float power(float x) {
    const float shifted = x + 0x1.8p23f;
    const float r = x - (shifted - 0x1.8p23f);
    const float fraction = 1.0f + r * polynomial(TruncatedCoefficients::kPower, r);
    return from_bits(to_bits(fraction) + (to_bits(shifted) << 23));
}

// M(y), of m(o + y); m of y = 0.
inline float mass_beyond(float outside, float y, float mills_there) {
    const float exponent = -y * (1.44269504f * outside + 0.72134752f * y);
    return power(exponent > -100.0f ? exponent : -100.0f) * mills_there;
}

// -2 log x for normal x > 0.
inline float minus_two_log(float x) {
    constexpr std::uint32_t kSqrtHalfBits = 0x3f3504f3u;
    const std::uint32_t above = to_bits(x) - kSqrtHalfBits + (127u << 23);
    const float k = from_bits(0x4b000000u | above >> 23) - (0x1p23f + 127);
    const float f = from_bits((above & 0x007fffffu) + kSqrtHalfBits) - 1.0f;
    return k * -1.38629436f + f * polynomial(TruncatedCoefficients::kLog, f);
}

// x >= 0 where -2 log(2 Q(x)) = z; up to z = kFar^2 + 26.
inline float point(float z) {
    const float bottom = polynomial(TruncatedCoefficients::kSquareBottom, z);
    return std::sqrt(z * (z * polynomial(TruncatedCoefficients::kSquareTop, z)) / bottom);
}

// The mass beyond the mode, in parts; of theta outside on one side alone.
struct Masses {
    float down;     // from the mode down to the lower bound
    float between;  // from bound to bound
    float below;    // beyond the lower bound, and beyond the upper one
    float above;
    float mills_at_mode;  // of theta outside
    float to_tail;        // what makes masses those of a tail: 1, far out 1 / m(o)
};

// From how far theta lies outside, and the distances from the mode down and up to the bounds.
inline Masses masses(float outside, float down, float up) {
    const float a = outside + down + 4.0f;
    const float b = outside + up + 4.0f;
    const float inverse = 1.0f / (a * b);
    const float v_down = b * inverse;
    const float v_up = a * inverse;
    const float mills_down = mills(v_down);
    const float mills_up = mills(v_up);
    const float at_mode = down > 0.0f ? mills_up : mills_down;
    const float v = down > 0.0f ? v_up : v_down;
    const float all = down > 0.0f && up > 0.0f ? 1.0f : at_mode;
    const float below = mass_beyond(outside, down, mills_down);
    const float above = mass_beyond(outside, up, mills_up);
    const float hazard = outside + v * polynomial(TruncatedCoefficients::kHazard, v);
    return {all - below, (all - below) + (all - above),
            below,       above,
            at_mode,     outside > kFar ? 2.0f * kHalfOfSquare * hazard : 1.0f};
}

// Of a sample: the mass beyond it, M(y), far out M(y) / m(o).
struct Beyond {
    float mass;
    float share;         // the smaller one: nothing is known below kLeastShare
    std::uint32_t sign;  // of the direction
};
inline Beyond beyond(std::uint32_t word, const Masses& from) {
    const auto unit = uniform::two_sided_unit(word);
    const float rest = 1.0f - unit.near;
    const float above = uniform::select(unit.from_one, rest, unit.near);
    const float below = uniform::select(unit.from_one, unit.near, rest);
    const bool is_up = below * from.between >= from.down;
    const float mass = (is_up ? above : below) * from.between + (is_up ? from.above : from.below);
    return {mass * from.to_tail, unit.near, is_up ? 0u : 0x80000000u};
}

// -2 log of the mass beyond a sample, at least 0.
inline float tail(float mass_beyond) {
    const float value = minus_two_log(mass_beyond);
    return value > 0.0f ? value : 0.0f;
}

struct Distance {
    float y;
    float error;  // kConstantError or more
};
inline Distance distance(float outside, float tail, float mills_at_mode) {
    const float near = outside > kFar ? 0.0f : outside;
    const float x = point(near * near + tail);
    // L = tail / 2 and h = 1 / m, for the true Mills ratio m.
    const float half = kHalfOfSquare * mills_at_mode;
    const float e = tail * (0.5f - half * outside);  // L (h - o) / h
    const float far = half * tail * (1.0f + e * polynomial(TruncatedCoefficients::kFarOut, e));
    return {outside > kFar ? far : x - near, kConstantError + kErrorOfX * x};
}

}  // namespace float32
}  // namespace grid
}  // namespace
}  // namespace tightnoise
