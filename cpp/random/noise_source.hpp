// A secret and a count of what was drawn with it: where the keys of noise arrays come from, no two
// with the same key and stream number.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "random/noise_key.hpp"

namespace tightnoise {

// With a seed, all arrays share one key; array number n (from 0, whatever the laws) of a law has
// the stream number law * 2^56 + n.
//
// Without one, every array has a key of its own, and no key outlives its array ("Fast-key-erasure
// random-number generators", Bernstein 2017): a batch of keystream of the operating system's 256
// bits overwrites them by the next secret and 31 keys, each of which is erased as it is handed out.
// Whoever reads the memory later learns nothing of the noise drawn before.
//
// For any number of threads. In a forked child a source without a seed takes a new secret from the
// operating system first; one with a seed goes on as its parent's does.
class NoiseSource {
  public:
    NoiseSource();  // throws std::system_error where the operating system has no randomness
    NoiseSource(const NoiseKey& seed, std::uint64_t drawn);
    ~NoiseSource();
    NoiseSource(const NoiseSource&) = delete;
    NoiseSource& operator=(const NoiseSource&) = delete;

    // The key of the next array, of which `first` is the first element that is asked for. Throws
    // std::overflow_error after 2^56 arrays, std::invalid_argument where `first` is not allowed.
    NoiseKey next(NoiseLaw law, std::uint64_t first = 0);

    // A source of the next array alone: it gives the same key again and again, for parts of that
    // array. Who draws one part twice draws the same noise.
    std::unique_ptr<NoiseSource> reserve();
    // Of such a source, its key, with the array's number in place of a stream number.
    NoiseKey reserved() const;
    explicit NoiseSource(const NoiseKey& reserved);

    bool is_seeded() const { return is_seeded_; }

  private:
    static constexpr int kKeyWords = 8;
    static constexpr int kKeys = 32;  // in a batch

    NoiseKey take();  // the next array's, with its number in place of a stream number
    void start_afresh();
    NoiseKey key_at(int index) const;
    NoiseKey take_key();

    const bool is_seeded_;
    const bool is_reserved_ = false;
    std::uint64_t drawn_ = 0;
    std::uint64_t process_ = 0;               // the one that took the secret
    int keys_left_ = 0;                       // at the end of words_
    std::uint32_t words_[kKeys * kKeyWords];  // the secret (or the seed's key), then keys
};

// How many forks, of those that ran the handlers of pthread_atfork, led to this process since the
// first source was made: what was drawn when it was less was the parent's.
std::uint64_t fork_count();

}  // namespace tightnoise
