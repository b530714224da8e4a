// A stream of random words for those who take them one at a time, as NumPy's generators do.
#pragma once

#include <cstdint>
#include <memory>

#include "random/noise_source.hpp"

namespace tightnoise {

// ChaCha20 keystream under the next key of a source, in the order in which batches hold it.
//
// Of a seeded source: one key, and so the same words on every machine; a forked child repeats them.
// Else every batch of 256 words has a key of its own, and words are erased as they are handed out:
// memory tells nothing of words drawn before, and a forked child takes a new key before its first
// word. One thread at a time. What throws (no randomness in the operating system) ends the process:
// C code that calls this has no way to say so, and must not go on.
class BitStream {
  public:
    explicit BitStream(NoiseSource& source);  // which must live as long
    ~BitStream();
    BitStream(const BitStream&) = delete;
    BitStream& operator=(const BitStream&) = delete;

    std::uint32_t next32() noexcept;
    std::uint64_t next64() noexcept;  // the earlier word is the lower half
    double next_double() noexcept;    // k / 2^53, k uniform on 0, ..., 2^53 - 1

  private:
    struct Words;

    NoiseSource& source_;
    std::unique_ptr<Words> words_;
};

}  // namespace tightnoise
