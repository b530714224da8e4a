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

inline void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    a += b;
    d = rotate_left<16>(d ^ a);
    c += d;
    b = rotate_left<12>(b ^ c);
    a += b;
    d = rotate_left<8>(d ^ a);
    c += d;
    b = rotate_left<7>(b ^ c);
}

// Writes batch number `batch` of the key's stream.
inline void keystream_batch(const NoiseKey& key, std::uint64_t batch, std::uint32_t* out) {
    const std::uint64_t first = batch * kBlocks;  // its low word cannot carry within the batch
    const Lanes zero = {};
    Lanes iota;
    for (int lane = 0; lane < kLanes; ++lane) iota[lane] = static_cast<std::uint32_t>(lane);

    for (int lane = 0; lane < kBlocks; lane += kLanes) {
        const std::uint32_t low = static_cast<std::uint32_t>(first) + static_cast<unsigned>(lane);
        const Lanes input[kWords] = {
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
            iota + low,
            zero + static_cast<std::uint32_t>(first >> 32),
            zero + static_cast<std::uint32_t>(key.stream),
            zero + static_cast<std::uint32_t>(key.stream >> 32),
        };
        Lanes x0 = input[0], x1 = input[1], x2 = input[2], x3 = input[3];
        Lanes x4 = input[4], x5 = input[5], x6 = input[6], x7 = input[7];
        Lanes x8 = input[8], x9 = input[9], x10 = input[10], x11 = input[11];
        Lanes x12 = input[12], x13 = input[13], x14 = input[14], x15 = input[15];
        for (int round = 0; round < 20; round += 2) {
            quarter_round(x0, x4, x8, x12);
            quarter_round(x1, x5, x9, x13);
            quarter_round(x2, x6, x10, x14);
            quarter_round(x3, x7, x11, x15);
            quarter_round(x0, x5, x10, x15);
            quarter_round(x1, x6, x11, x12);
            quarter_round(x2, x7, x8, x13);
            quarter_round(x3, x4, x9, x14);
        }
        const Lanes output[kWords] = {x0, x1, x2,  x3,  x4,  x5,  x6,  x7,
                                      x8, x9, x10, x11, x12, x13, x14, x15};
        for (int word = 0; word < kWords; ++word) {
            const Lanes sum = output[word] + input[word];
            std::memcpy(out + word * kBlocks + lane, &sum, sizeof sum);
        }
    }
}

}  // namespace chacha20
}  // namespace
}  // namespace tightnoise
