// What a sampler reads of an AliasTable.
#pragma once

#include <cstdint>

namespace tightnoise {

// Of 2^128.
__extension__ using Share = unsigned __int128;

// 2^index_bits equally likely columns, each shared by two components: a random coin of 128 bits
// less index_bits chooses the column's own one (of the same number) below the threshold, else its
// alias.
struct AliasColumns {
    const Share* threshold;       // times 2^index_bits
    const std::uint32_t* packed;  // upper 32 bits of threshold, its lowest index_bits the alias
    int index_bits;
};

constexpr int kSmallestAliasTable = 32;  // entries of `packed` there are at least

}  // namespace tightnoise
