// Integers nearest to t = rest + s z for ideal normals z, where rest and s are numbers of a law.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/ideal_noise.hpp"
#include "random/ideal_normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

// Which integers there are: all, 0 to `last`, or two.
enum class Integers { all, some, two };

// The integer nearest to t = rest + s z of those that there are; and how far t may be from it:
// certain below 1/2. Of two, t is counted from the middle between them.
template <class Real>
struct Rounded {
    Real q;
    Real reach;
};
template <Integers kIntegers, class Real>
inline Rounded<Real> round_cell(Real rest, Real s, Real z, Real square, Real last, Real slack) {
    using E = NormalError<Real>;
    Real t = rest + s * z;
    const Real constant = s * E::kConstant + slack;  // as s is, one number for all
    const Real error = E::kSquare == 0 ? constant : (s * E::kSquare) * square + constant;
    if constexpr (kIntegers == Integers::two) {
        return {t < Real(0) ? Real(0) : Real(1), (Real(0.5) - std::fabs(t)) + error};
    }
    if constexpr (kIntegers == Integers::some) {
        t = t < Real(0) ? Real(0) : t;
        t = t > last ? last : t;
    }
    const Real q = small_nearest(t);
    return {q, std::fabs(t - q) + error};
}

// Roundings of rest, t and the test that are not in proportion to s; clamped, those of `last`, too.
template <class Real>
inline Real slack_of(double last, bool refine_all) {
    constexpr double kUnit = std::numeric_limits<Real>::epsilon();
    return slack<Real>(refine_all) + static_cast<Real>(3.0 * kUnit * last);
}

// 0 if both elements are certain, else 1. (NaN is not below 1/2.)
template <class Real>
inline Real doubt_of(Real square, Real reach, Real other) {
    using E = NormalError<Real>;
    Real doubt = reach < Real(0.5) ? Real(0) : Real(1);
    doubt = other < Real(0.5) ? doubt : Real(1);
    doubt = square >= E::kLeastSquare ? doubt : Real(1);
    return square <= E::kMostSquare ? doubt : Real(1);
}

// Two words and the position of the first of them in the keystream.
template <class Word>
struct DoubtfulPair {
    Word radius;
    Word angle;
    std::uint64_t number;
};

inline double clamped(double integer, double last) {
    const double above = integer < 0.0 ? 0.0 : integer;
    return above > last ? last : above;
}

// Of both elements of a doubtful pair: with 64-bit words where it has fewer, then with all bits.
// `precise(e)` has rest and s of element e to the last place of a double, `ideal(e)` the real
// numbers behind them.
template <Integers kIntegers, class Word, class Precise, class Ideal>
inline IntegerPair settle(const DoubtfulPair<Word>& pair, const NoiseKey& key, double last,
                          bool refine_all, std::size_t i, std::size_t k, Precise&& precise,
                          Ideal&& ideal) {
    const PairWords words = full_words(pair.radius, pair.angle, refinement_block(key, pair.number));
    if constexpr (sizeof(Word) < sizeof(std::uint64_t)) {
        const double slack = slack_of<double>(last, refine_all);
        const auto z = box_muller::pair_of<double>(words.radius, words.angle);
        const auto first = precise(i);
        const auto second = precise(k);
        const auto a = round_cell<kIntegers>(first.rest, first.s, z.first, z.square, last, slack);
        const auto b =
            round_cell<kIntegers>(second.rest, second.s, z.second, z.square, last, slack);
        if (doubt_of(z.square, a.reach, b.reach) == 0.0) return {a.q, b.q};
    }
    const IntegerPair both =
        ideal_integers({key, pair.number, words.radius, words.angle}, ideal(i), ideal(k));
    if (kIntegers == Integers::all) return both;
    return {clamped(both.first, last), clamped(both.second, last)};
}

struct Precise {
    double rest;
    double s;
};

// Draws the batch of elements first, first + 1, ... (n of them; there is room for kBatch<Real>) by
// a law: of element i, whole(i) and rest(i, whole) are theta in cells, s[i] the scale of the noise,
// and value(i, whole, q) goes to out[i]. (No structs are returned: they keep loops from being
// vectors.)
template <Integers kIntegers, class Real, class Law, class PreciseOf, class IdealOf>
inline void draw_batch(const std::uint32_t* keystream, const Law law, const NoiseKey& key,
                       bool refine_all, Real last, std::size_t first, std::size_t n,
                       PreciseOf&& precise, IdealOf&& ideal) {
    constexpr std::size_t kN = kBatch<Real>;
    constexpr std::size_t kPairs = kN / 2;
    using Word = typename box_muller::Bits<Real>::Word;
    alignas(64) Word words[kN];
    alignas(64) Real doubt[kPairs];
    std::memcpy(words, keystream, sizeof words);
    Real* out = law.out;
    const Real slack = slack_of<Real>(last, refine_all);
    alignas(64) Real first_z[kPairs];
    alignas(64) Real second_z[kPairs];
    alignas(64) Real square[kPairs];
    // Two loops: of shorter ones the processor holds more rounds at once.
#pragma omp simd
    for (std::size_t i = 0; i < kPairs; ++i) {
        const auto z = box_muller::pair_of<Real>(words[i], words[kPairs + i]);
        first_z[i] = z.first;
        second_z[i] = z.second;
        square[i] = z.square;
    }
    Real worst = 0;
#pragma omp simd reduction(max : worst)
    for (std::size_t i = 0; i < kPairs; ++i) {
        const std::size_t k = kPairs + i;
        const Real whole = law.whole(i);
        const Real other = law.whole(k);
        const auto a =
            round_cell<kIntegers>(law.rest(i, whole), law.s[i], first_z[i], square[i], last, slack);
        const auto b = round_cell<kIntegers>(law.rest(k, other), law.s[k], second_z[i], square[i],
                                             last, slack);
        out[i] = law.value(i, whole, a.q);
        out[k] = law.value(k, other, b.q);
        const Real here = doubt_of(square[i], a.reach, b.reach);
        doubt[i] = here;
        worst = here > worst ? here : worst;
    }
    if (worst == Real(0)) return;
    for (std::size_t i = 0; i < kPairs && i < n; ++i) {
        if (doubt[i] == Real(0)) continue;
        const std::size_t k = kPairs + i;
        const DoubtfulPair<Word> pair{words[i], words[k], key.first + first + i};
        const IntegerPair both =
            settle<kIntegers>(pair, key, last, refine_all, i, k, precise, ideal);
        out[i] = law.value(i, law.whole(i), static_cast<Real>(both.first));
        out[k] = law.value(k, law.whole(k), static_cast<Real>(both.second));
    }
}

}  // namespace grid
}  // namespace
}  // namespace tightnoise
