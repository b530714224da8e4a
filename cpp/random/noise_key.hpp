// What determines a noise array: element j of it depends on key, stream number, dtype and j alone.
#pragma once

#include <cstdint>

#include "random/erase.hpp"

namespace tightnoise {

struct NoiseKey {
    std::uint32_t words[8];  // the 256-bit ChaCha20 key, little-endian as in RFC 8439
    std::uint64_t stream;    // a number never used twice with the same key
    std::uint64_t first;     // the j of a sampler's element 0: a multiple of kSampleAlignment

    [[gnu::always_inline]] ~NoiseKey() { erase(words, sizeof words); }
};

// What is drawn. Every law has streams of its own: one seed gives independent noise for each.
// Numbers are for ever: a seed means its bits.
enum class NoiseLaw : std::uint8_t {
    uniform = 1,
    standard_normal = 2,
    gaussian = 3,
    stochastic_sign = 4,
    rectified_gaussian = 5,
    truncated_gaussian = 6,
    quantized_gaussian = 7,
    bounded_laplace = 8,
    von_mises_fisher = 9,
    multi_gaussian = 10,
    quasi_gaussian = 11,
    scale_mixture = 12,
    laplace = 13,
    truncated_laplace = 14,
    tulap = 15,
    staircase = 16,
    bit_stream = 17,
};

}  // namespace tightnoise
