// Ideal random numbers: reals with bits without end, of which a keystream word has the first ones.
// Internal linkage, one copy a level.
//
// Element j of an array has words of its own in the array's keystream, and a block of the
// *refinement stream*: the array's stream number with bit 63 set, which no array has. The block's
// number is the position of the element's first word in the keystream, counted in words of its
// type. What a float evaluation of the words cannot decide is decided with the words of that block,
// so that it is a function of key, stream number and j alone: of no level, compiler or machine.
#pragma once

#include <cstdint>

#include "random/chacha20.hpp"

namespace tightnoise {
namespace {

constexpr std::uint64_t kRefinementStream = std::uint64_t{1} << 63;

inline chacha20::Block refinement_block(const NoiseKey& key, std::uint64_t number) {
    NoiseKey refinement = key;
    refinement.stream |= kRefinementStream;
    return chacha20::block_at(refinement, number);
}

// The same of coins, which choose between two components of a mixture: bit 62, and words of 32
// bits.
constexpr std::uint64_t kCoinStream = std::uint64_t{1} << 62;

inline chacha20::Block coin_block(const NoiseKey& key, std::uint64_t number) {
    NoiseKey coin = key;
    coin.stream |= kCoinStream;
    return chacha20::block_at(coin, number);
}

}  // namespace
}  // namespace tightnoise
