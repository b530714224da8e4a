// What a sampler reads of an AliasTable.
#pragma once

#include <cstdint>

namespace tightnoise {

// 2^index_bits equally likely columns, each shared by two components: a random coin of 64 bits less
// index_bits chooses the column's own one (of the same number) below the threshold, else its alias.
struct AliasColumns {
    const std::uint64_t* threshold;  // times 2^index_bits
    const std::uint32_t* packed;     // upper half of threshold, its lowest index_bits the alias
    int index_bits;
};

constexpr int kSmallestAliasTable = 32;  // entries of `packed` there are at least

}  // namespace tightnoise
