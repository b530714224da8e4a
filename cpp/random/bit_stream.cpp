#include "random/bit_stream.hpp"

#include <optional>

#include "random/chacha20.hpp"
#include "random/erase.hpp"

namespace tightnoise {

struct BitStream::Words {
    std::uint32_t batch[chacha20::kBatchWords];
    int used = chacha20::kBatchWords;
    std::uint64_t forks = 0;                    // when the batch was made
    std::optional<chacha20::Keystream> seeded;  // under the one key of a seed

    ~Words() { erase(batch, sizeof batch); }

    void fill(NoiseSource& source) {
        if (seeded) {
            std::memcpy(batch, seeded->next_batch(), sizeof batch);
        } else {
            forks = fork_count();
            chacha20::Keystream stream(source.next(NoiseLaw::bit_stream), 0);
            std::memcpy(batch, stream.next_batch(), sizeof batch);
        }
        used = 0;
    }
};

BitStream::BitStream(NoiseSource& source) : source_(source), words_(std::make_unique<Words>()) {
    if (source.is_seeded()) words_->seeded.emplace(source.next(NoiseLaw::bit_stream), 0);
}

BitStream::~BitStream() = default;

std::uint32_t BitStream::next32() noexcept {
    Words& words = *words_;
    if (words.used == chacha20::kBatchWords || (!words.seeded && words.forks != fork_count())) {
        words.fill(source_);
    }
    const std::uint32_t word = words.batch[words.used];
    if (!words.seeded) words.batch[words.used] = 0;
    ++words.used;
    return word;
}

std::uint64_t BitStream::next64() noexcept {
    const std::uint64_t low = next32();
    return low | static_cast<std::uint64_t>(next32()) << 32;
}

double BitStream::next_double() noexcept {
    return static_cast<double>(next64() >> 11) * 0x1p-53;
}

}  // namespace tightnoise
