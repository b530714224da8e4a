// What determines a noise array: element j of it depends on this key, its dtype and j alone.
#pragma once

#include <cstdint>

namespace tightnoise {

struct NoiseKey {
    std::uint32_t words[8];  // the 256-bit ChaCha20 key, little-endian as in RFC 8439
    std::uint64_t stream;    // a number never used twice with the same key
};

}  // namespace tightnoise
