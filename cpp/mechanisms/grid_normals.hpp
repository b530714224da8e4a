// Integers nearest to t = rest + s z for ideal normals z, where rest and s are numbers of a law.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mechanisms/grid_cells.hpp"
#include "mechanisms/ideal_release.hpp"
#include "random/ideal_normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

// The integer nearest to t = rest + s z, t taken between 0 and `last` where this is not negative;
// and how far t may be from it: certain below 1/2.
template <class Real>
struct Rounded {
    Real q;
    Real reach;
};
template <bool kClamped, class Real>
inline Rounded<Real> round_cell(Real rest, Real s, Real z, Real square, Real last, Real slack) {
    using E = NormalError<Real>;
    Real t = rest + s * z;
    if constexpr (kClamped) {
        t = t < Real(0) ? Real(0) : t;
        t = t > last ? last : t;
    }
    const Real q = small_nearest(t);
    return {q, std::fabs(t - q) + (s * (E::kSquare * square + E::kConstant) + slack)};
}

// Roundings of rest, t and the test that are not in proportion to s: of 1/2 and, clamped, of
// `last`.
template <class Real>
inline Real slack_of(double last, bool refine_all) {
    constexpr double kUnit = std::numeric_limits<Real>::epsilon();
    return refine_all ? Real(1) : static_cast<Real>(kUnit * (2.0 + 3.0 * last));
}

// 0 if both elements are certain, else 1. (NaN is not below 1/2.)
template <class Real>
inline Real doubt_of(const box_muller::Pair<Real>& pair, Real reach, Real other) {
    using E = NormalError<Real>;
    Real doubt = reach < Real(0.5) ? Real(0) : Real(1);
    doubt = other < Real(0.5) ? doubt : Real(1);
    doubt = pair.u >= E::kLeast ? doubt : Real(1);
    return pair.square >= E::kLeastSquare ? doubt : Real(1);
}

// Writes the integers of the batch of elements first, first + 1, ... (n of them) to q. The law has
// arrays rest() and s() of kBatch<Real> elements; for element i of them, precise_rest(i) and
// precise_s(i), to the last place of a double, and ideal(i), the real numbers behind both.
// kClamped: integers are 0, ..., last.
template <bool kClamped, class Real, class Law>
class NormalBatch {
    static constexpr std::size_t kN = kBatch<Real>;
    static constexpr std::size_t kPairs = kN / 2;
    using Word = typename box_muller::Bits<Real>::Word;

  public:
    NormalBatch(const NoiseKey& key, bool refine_all, double last)
        : key_(key), refine_all_(refine_all), last_(last) {}

    void draw(const std::uint32_t* keystream, const Law& law, std::size_t first, std::size_t n,
              Real* q) {
        alignas(64) Word words[kN];
        alignas(64) Real doubt[kPairs];
        std::memcpy(words, keystream, sizeof words);
        const Real* rest = law.rest();
        const Real* s = law.s();
        const Real last = static_cast<Real>(last_);
        const Real slack = slack_of<Real>(last_, refine_all_);
        Real worst = 0;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = 0; i < kPairs; ++i) {
            const std::size_t k = kPairs + i;
            const auto pair = box_muller::pair_of<Real>(words[i], words[k]);
            const auto a =
                round_cell<kClamped>(rest[i], s[i], pair.first, pair.square, last, slack);
            const auto b =
                round_cell<kClamped>(rest[k], s[k], pair.second, pair.square, last, slack);
            q[i] = a.q;
            q[k] = b.q;
            const Real here = doubt_of(pair, a.reach, b.reach);
            doubt[i] = here;
            worst = here > worst ? here : worst;
        }
        if (worst == Real(0)) return;
        for (std::size_t i = 0; i < kPairs && i < n; ++i) {
            if (doubt[i] != Real(0)) settle(words[i], words[kPairs + i], law, first + i, i, q);
        }
    }

  private:
    // With 64-bit words where the batch has fewer, then with all bits. `number` is the position of
    // the pair's first word.
    __attribute__((noinline)) void settle(Word radius, Word angle, const Law& law,
                                          std::uint64_t number, std::size_t i, Real* q) const {
        const std::size_t k = kPairs + i;
        const PairWords words = full_words(radius, angle, refinement_block(key_, number));
        if constexpr (sizeof(Real) < sizeof(double)) {
            const double slack = slack_of<double>(last_, refine_all_);
            const auto pair = box_muller::pair_of<double>(words.radius, words.angle);
            const auto a = round_cell<kClamped>(law.precise_rest(i), law.precise_s(i), pair.first,
                                                pair.square, last_, slack);
            const auto b = round_cell<kClamped>(law.precise_rest(k), law.precise_s(k), pair.second,
                                                pair.square, last_, slack);
            if (doubt_of(pair, a.reach, b.reach) == 0.0) {
                q[i] = static_cast<Real>(a.q);
                q[k] = static_cast<Real>(b.q);
                return;
            }
        }
        const IntegerPair both =
            ideal_integers({key_, number, words.radius, words.angle}, law.ideal(i), law.ideal(k));
        q[i] = clamped(both.first);
        q[k] = clamped(both.second);
    }

    Real clamped(double integer) const {
        if (!kClamped) return static_cast<Real>(integer);
        const double above = integer < 0.0 ? 0.0 : integer;
        return static_cast<Real>(above > last_ ? last_ : above);
    }

    const NoiseKey& key_;
    bool refine_all_;
    double last_;
};

}  // namespace grid
}  // namespace
}  // namespace tightnoise
