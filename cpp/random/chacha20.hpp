// The ChaCha20 keystream (RFC 8439, section 2.3) in batches of 16 blocks = 1 KB.
// Kernel-side header: internal linkage, one copy a level.
//
// State of block number c of a stream: four constant words, eight key words, c (64 bits, words 12
// and 13) and the stream number (64 bits, words 14 and 15). The RFC's 32-bit counter and 96-bit
// nonce are the same layout with the first nonce word as the upper half of c.
//
// Batch b holds blocks 16 b, ..., 16 b + 15, word-sliced: batch[word * 16 + lane] is a word of
// block 16 b + lane. So vectors run across blocks and nothing is ever transposed; every level
// writes the same bytes, be its vectors of 4, 8 or 16 lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "random/noise_key.hpp"

namespace tightnoise {
namespace {
namespace chacha20 {

constexpr int kWords = 16;
constexpr int kBlocks = 16;
constexpr int kBatchWords = kWords * kBlocks;
constexpr int kBatchBytes = 4 * kBatchWords;

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

using Lanes = std::uint32_t __attribute__((vector_size(4 * kLanes)));

template <int Bits>
inline Lanes rotate_left(Lanes x) {
#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
    // A rotation by whole bytes is one shuffle here; GCC does not find it in the shifts.
    using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));
    if constexpr (Bits == 16) {
        constexpr Bytes kBy16 = {2,  3,  0,  1,  6,  7,  4,  5,  10, 11, 8,  9,  14, 15, 12, 13,
                                 18, 19, 16, 17, 22, 23, 20, 21, 26, 27, 24, 25, 30, 31, 28, 29};
        return reinterpret_cast<Lanes>(__builtin_shuffle(reinterpret_cast<Bytes>(x), kBy16));
    }
    if constexpr (Bits == 8) {
        constexpr Bytes kBy8 = {3,  0,  1,  2,  7,  4,  5,  6,  11, 8,  9,  10, 15, 12, 13, 14,
                                19, 16, 17, 18, 23, 20, 21, 22, 27, 24, 25, 26, 31, 28, 29, 30};
        return reinterpret_cast<Lanes>(__builtin_shuffle(reinterpret_cast<Bytes>(x), kBy8));
    }
#endif
    return (x << Bits) | (x >> (32 - Bits));
}

template <int Bits>
inline std::uint32_t rotate_left(std::uint32_t x) {
    return (x << Bits) | (x >> (32 - Bits));
}

// Of one block, or of the same word of kLanes blocks.
template <class Word>
inline void quarter_round(Word& a, Word& b, Word& c, Word& d) {
    a += b;
    d = rotate_left<16>(d ^ a);
    c += d;
    b = rotate_left<12>(b ^ c);
    a += b;
    d = rotate_left<8>(d ^ a);
    c += d;
    b = rotate_left<7>(b ^ c);
}

// The state of one block, or those of kLanes blocks side by side.
template <class Word>
struct State {
    Word word[kWords];
};

// `iota` is added to the number `first`, whose low word must not carry.
template <class Word>
inline State<Word> initial_state(const NoiseKey& key, std::uint64_t first, Word iota) {
    const Word zero = {};
    return {{
        zero + 0x61707865u,  // "expand 32-byte k"
        zero + 0x3320646eu,
        zero + 0x79622d32u,
        zero + 0x6b206574u,
        zero + key.words[0],
        zero + key.words[1],
        zero + key.words[2],
        zero + key.words[3],
        zero + key.words[4],
        zero + key.words[5],
        zero + key.words[6],
        zero + key.words[7],
        iota + static_cast<std::uint32_t>(first),
        zero + static_cast<std::uint32_t>(first >> 32),
        zero + static_cast<std::uint32_t>(key.stream),
        zero + static_cast<std::uint32_t>(key.stream >> 32),
    }};
}

// Of blocks first, first + 1, ...; a multiple of kLanes.
inline State<Lanes> initial_states(const NoiseKey& key, std::uint64_t first) {
    Lanes iota;
    for (int lane = 0; lane < kLanes; ++lane) iota[lane] = static_cast<std::uint32_t>(lane);
    return initial_state(key, first, iota);
}

template <class Word>
inline void two_rounds(Word (&x)[kWords]) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
}

// Two states fill the 32 registers of AVX-512: each works while the other waits for its own
// results. Elsewhere one is too much already.
constexpr int kStates = kLanes == 16 ? 2 : 1;
constexpr int kBatchesAtOnce = kLanes == 16 ? kStates : 1;

// Writes batches `batch`, ..., `batch` + kBatchesAtOnce - 1 of the key's stream.
inline void keystream_batches(const NoiseKey& key, std::uint64_t batch, std::uint32_t* out) {
    for (int block = 0; block < kBatchesAtOnce * kBlocks; block += kStates * kLanes) {
        const std::uint64_t first = batch * kBlocks + static_cast<unsigned>(block);
        State<Lanes> x[kStates];
#pragma GCC unroll 2
        for (int s = 0; s < kStates; ++s) x[s] = initial_states(key, first + s * kLanes);
        for (int round = 0; round < 20; round += 2) {
#pragma GCC unroll 2
            for (int s = 0; s < kStates; ++s) two_rounds(x[s].word);
        }
#pragma GCC unroll 2
        for (int s = 0; s < kStates; ++s) {
            const State<Lanes> input = initial_states(key, first + s * kLanes);
            const int of = block + s * kLanes;
            std::uint32_t* to = out + of / kBlocks * kBatchWords + of % kBlocks;
#pragma GCC unroll 16
            for (int word = 0; word < kWords; ++word) {
                const Lanes sum = x[s].word[word] + input.word[word];
                std::memcpy(to + word * kBlocks, &sum, sizeof sum);
            }
        }
    }
}

// The words of one block, in the order of RFC 8439.
struct Block {
    std::uint32_t word[kWords];
};
inline Block block_at(const NoiseKey& key, std::uint64_t number) {
    const State<std::uint32_t> input = initial_state(key, number, std::uint32_t{0});
    State<std::uint32_t> x = input;
    for (int round = 0; round < 20; round += 2) two_rounds(x.word);
    Block block;
    for (int word = 0; word < kWords; ++word) block.word[word] = x.word[word] + input.word[word];
    return block;
}

// Batches first, first + 1, ... of a key's stream, on the stack and so in the first-level cache.
class Keystream {
  public:
    Keystream(const NoiseKey& key, std::uint64_t first) : key_(key), next_(first) {}
    ~Keystream() { erase(words_, sizeof words_); }
    Keystream(const Keystream&) = delete;
    Keystream& operator=(const Keystream&) = delete;

    // kBatchWords words, which last until the next call.
    const std::uint32_t* next_batch() {
        if (used_ == kBatchesAtOnce) {
            keystream_batches(key_, next_, words_);
            next_ += kBatchesAtOnce;
            used_ = 0;
        }
        return words_ + kBatchWords * used_++;
    }

  private:
    NoiseKey key_;
    std::uint64_t next_;
    int used_ = kBatchesAtOnce;
    alignas(64) std::uint32_t words_[kBatchesAtOnce * kBatchWords];
};

// Calls draw(words, first, n) for the batches of elements begin, ..., end - 1 of an array, of which
// kElements have their words in one; n is less at the end.
template <std::size_t kElements, class Draw>
inline void for_each_batch(const NoiseKey& key, std::size_t begin, std::size_t end, Draw&& draw) {
    Keystream stream(key, (key.first + begin) / kElements);
    for (std::size_t first = begin; first < end; first += kElements) {
        draw(stream.next_batch(), first, end - first < kElements ? end - first : kElements);
    }
}

}  // namespace chacha20
}  // namespace
}  // namespace tightnoise
