// Numbers of 320 bits, for what doubles leave open: the one file that includes
// Boost.Multiprecision. Never in a kernel file: it is full of weak symbols.
//
// The ideal uniform behind a keystream word goes on where the word ends: with the words of a block
// of the refinement stream, and after these with half a unit. 256 bits leave open what is decided
// here with probability 2^-160 at most.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>

#include "random/ideal_bits.hpp"
#include "random/ideal_normal.hpp"

namespace tightnoise {
namespace {

using Big =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<
                                      320, boost::multiprecision::digit_base_2, void, std::int64_t>,
                                  boost::multiprecision::et_off>;

// Made when the module is loaded: a function's own static would be a lock, which a child forked
// meanwhile finds locked for ever.
const Big kHalfPi = boost::math::constants::half_pi<Big>();

// (head.words[first], ..., words[first + 5] and half a unit) 2^exponent: an integer of its 64 or
// fewer bits, continued by 192.
inline Big continued(std::uint64_t head, const chacha20::Block& block, int first, int exponent) {
    Big x = head;
    for (int i = first; i < first + 6; ++i) x = x * 4294967296.0 + block.word[i];
    return ldexp(x + 0.5, exponent - 192);
}

// near* of a word's lower 63 bits (uniform.hpp): uniform on (0, 1/2).
inline Big ideal_near(std::uint64_t bits, const chacha20::Block& block) {
    return continued(bits & 0x7fffffffffffffffu, block, 2, -64);
}

// The ideal pair of normals (ideal_normal.hpp).
struct BigPair {
    Big first;
    Big second;
};
inline BigPair ideal_pair(const PairWords& words, const chacha20::Block& block) {
    const Big near = ideal_near(words.radius, block);
    const Big u = words.radius >> 63 != 0 ? 1 - near : near;
    const Big f = continued(words.angle >> 12, block, 8, -52) - 0.5;
    Big r = sqrt(-2 * log(u));
    if ((words.angle & 2) != 0) r = -r;
    const Big x = r * cos(kHalfPi * f);
    const Big y = r * sin(kHalfPi * f);
    return (words.angle & 1) != 0 ? BigPair{y, x} : BigPair{x, y};
}

// The nearest integer; of two, the upper one.
inline Big nearest(const Big& t) {
    return floor(t + 0.5);
}

}  // namespace
}  // namespace tightnoise
