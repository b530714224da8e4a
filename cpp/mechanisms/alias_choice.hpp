// Choosing components by an alias table, 256 at a time. Kernel-side header: internal linkage, one
// copy a level.
//
// The 32 bits of a word nearly always decide which side of the column's threshold the coin lies on.
// Where they do not, one time in 2^(32 - index_bits), the other 96 bits of the coin come from a
// block of its own (coin_block), whose number is the position of the word in the keystream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mechanisms/sampled_noise.hpp"
#include "random/chacha20.hpp"
#include "random/ideal_bits.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

class AliasChoice {
  public:
    AliasChoice(const AliasColumns& columns, const NoiseKey& key)
        : columns_(columns), key_(key), low_bits_((std::uint32_t{1} << columns.index_bits) - 1) {}

    // The components of 256 elements from their words, the first of which has this position.
    void choose(const std::uint32_t* words, std::uint64_t position, std::int32_t* index) const {
        if (!decide(words, index)) settle(words, position, index);
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

    __attribute__((noinline)) void settle(const std::uint32_t* words, std::uint64_t position,
                                          std::int32_t* index) const {
        for (int i = 0; i < chacha20::kBatchWords; ++i) {
            const std::uint32_t column = words[i] >> (32 - columns_.index_bits);
            const std::uint32_t entry = columns_.packed[column];
            if (!decision(words[i], column, entry).undecided) continue;
            const auto block = coin_block(key_, position + static_cast<unsigned>(i));
            Share coin = words[i];
            for (int k = 0; k < 3; ++k) coin = coin << 32 | block.word[k];
            const bool own = coin << columns_.index_bits < columns_.threshold[column];
            index[i] = static_cast<std::int32_t>(own ? column : entry & low_bits_);
        }
    }

    AliasColumns columns_;
    NoiseKey key_;
    std::uint32_t low_bits_;
};

// Calls sample(words, index, position, first, n) with the words and components of n elements from
// `first` on: kBatch<Word> of them, or what is left; `position` is that of the first of these words
// in the keystream. There, every batch of words for components is followed by those for the rest of
// the same elements.
template <class Word, class Sample>
inline void for_each_choice(const AliasColumns& columns, const NoiseKey& key, std::size_t begin,
                            std::size_t end, Sample&& sample) {
    constexpr std::size_t kN = box_muller::kBatch<Word>;
    constexpr std::size_t kGroup = chacha20::kBatchWords;  // elements whose components one chooses
    constexpr std::size_t kBatches = kGroup / kN;
    const AliasChoice choice(columns, key);
    std::uint64_t number = (key.first + begin) / kGroup * (1 + kBatches);  // of a batch
    chacha20::Keystream stream(key, number);
    for (std::size_t first = begin; first < end;) {
        alignas(64) std::int32_t index[kGroup];
        choice.choose(stream.next_batch(), number * chacha20::kBatchWords, index);
        ++number;
        for (std::size_t i = 0; i < kGroup; i += kN, first += kN, ++number) {
            const std::uint32_t* words = stream.next_batch();
            if (first >= end) break;
            const std::size_t n = end - first < kN ? end - first : kN;
            sample(words, index + i, number * kN, first, n);
        }
    }
}

}  // namespace
}  // namespace tightnoise
