// Choosing components by an alias table, 256 at a time. Kernel-side header: internal linkage, one
// copy a level.
//
// The 32 bits of a word nearly always decide which side of the column's threshold the coin lies on.
// Where they do not, one time in 2^(32 - index_bits), the lower half of a 64-bit coin comes from a
// far region of the same key's stream, so that every element has its own place there too.
#pragma once

#include <cstdint>

#include "additive/alias_columns.hpp"
#include "random/chacha20.hpp"

namespace tightnoise {
namespace {

class AliasChoice {
  public:
    AliasChoice(const AliasColumns& columns, const NoiseKey& key)
        : columns_(columns), key_(key), low_bits_((std::uint32_t{1} << columns.index_bits) - 1) {}

    // The components of 256 elements from their words; `group` is the number of these elements.
    void choose(const std::uint32_t* words, std::uint64_t group, std::int32_t* index) const {
        if (!decide(words, index)) decide_by_64_bits(words, group, index);
    }

  private:
    template <class Word>
    struct Decision {
        Word index;
        Word undecided;
    };

    // Of one word, or of a register of them.
    template <class Word>
    Decision<Word> decision(Word word, Word column, Word entry) const {
        const Word coin = word << columns_.index_bits;
        const Word threshold = entry & ~low_bits_;
        return {coin < threshold ? column : entry & low_bits_, (Word)(coin == threshold)};
    }

    // False where an element is undecided.
    bool decide(const std::uint32_t* words, std::int32_t* index) const {
        const int shift = 32 - columns_.index_bits;
#if defined(__AVX512F__) && !defined(__clang__)
        // Two registers hold a small table; a permutation is faster than a gather.
        if (columns_.index_bits <= 5) {
            using chacha20::kLanes;
            using chacha20::Lanes;
            static_assert(kSmallestAliasTable == 2 * kLanes);
            Lanes first, second;
            std::memcpy(&first, columns_.packed, sizeof first);
            std::memcpy(&second, columns_.packed + kLanes, sizeof second);
            Lanes undecided = {};
            for (int i = 0; i < chacha20::kBatchWords; i += kLanes) {
                Lanes word;
                std::memcpy(&word, words + i, sizeof word);
                const Lanes column = word >> shift;
                const Lanes entry = __builtin_shuffle(first, second, column);
                const Decision<Lanes> d = decision(word, column, entry);
                std::memcpy(index + i, &d.index, sizeof d.index);
                undecided |= d.undecided;
            }
            std::uint32_t any = 0;
            for (int lane = 0; lane < kLanes; ++lane) any |= undecided[lane];
            return any == 0;
        }
#endif
        const std::uint32_t* packed = columns_.packed;
        std::uint32_t any = 0;
#pragma omp simd reduction(| : any)
        for (int i = 0; i < chacha20::kBatchWords; ++i) {
            const std::uint32_t column = words[i] >> shift;
            const auto d = decision(words[i], column, packed[column]);
            index[i] = static_cast<std::int32_t>(d.index);
            any |= d.undecided;
        }
        return any == 0;
    }

    __attribute__((noinline)) void decide_by_64_bits(const std::uint32_t* words,
                                                     std::uint64_t group,
                                                     std::int32_t* index) const {
        constexpr std::uint64_t kFarRegion = std::uint64_t{1} << 58;  // of 2^60 batches
        chacha20::Keystream stream(key_, kFarRegion + group);
        const std::uint32_t* more = stream.next_batch();
        for (int i = 0; i < chacha20::kBatchWords; ++i) {
            const std::uint32_t column = words[i] >> (32 - columns_.index_bits);
            const std::uint64_t word = std::uint64_t{words[i]} << 32 | more[i];
            const bool own = word << columns_.index_bits < columns_.threshold[column];
            index[i] =
                static_cast<std::int32_t>(own ? column : columns_.packed[column] & low_bits_);
        }
    }

    AliasColumns columns_;
    NoiseKey key_;
    std::uint32_t low_bits_;
};

}  // namespace
}  // namespace tightnoise
