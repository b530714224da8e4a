#include "random/noise_source.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "random/chacha20.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>
#define TIGHTNOISE_HAS_FORK 1
#else
#include <random>
#endif

namespace tightnoise {
namespace {

constexpr int kCountBits = 56;  // of a stream number, below the law's

// One lock for all sources: it is held for less than a microsecond, and a fork can wait for it.
std::mutex& lock() {
    static std::mutex mutex;
    return mutex;
}

std::atomic<std::uint64_t> forks{0};

#ifdef TIGHTNOISE_HAS_FORK
// A fork while another thread is in next() would leave the child a locked lock and half a batch.
void watch_forks() {
    static const int registered = pthread_atfork([] { lock().lock(); }, [] { lock().unlock(); },
                                                 [] {
                                                     forks.fetch_add(1);
                                                     lock().unlock();
                                                 });
    if (registered != 0) {
        throw std::system_error(registered, std::generic_category(), "pthread_atfork");
    }
}

// Differs from that of every ancestor: by their number even where a process number comes again, by
// the process number even where a clone ran no handlers.
std::uint64_t this_process() {
    return fork_count() << 32 | static_cast<std::uint32_t>(getpid());
}

void fill_from_system(void* to, std::size_t bytes) {
    if (getentropy(to, bytes) != 0) {
        throw std::system_error(errno, std::generic_category(), "getentropy");
    }
}
#else
void watch_forks() {}
std::uint64_t this_process() {
    return 0;
}

void fill_from_system(void* to, std::size_t bytes) {
    std::random_device device;  // on Windows, the system's generator
    for (std::size_t i = 0; i < bytes; i += sizeof(unsigned)) {
        const unsigned word = device();
        std::memcpy(static_cast<char*>(to) + i, &word, sizeof word);
    }
}
#endif

}  // namespace

std::uint64_t fork_count() {
    return forks.load(std::memory_order_relaxed);
}

NoiseSource::NoiseSource() : is_seeded_(false) {
    watch_forks();
    const std::lock_guard<std::mutex> guard(lock());
    start_afresh();
}

NoiseSource::NoiseSource(const NoiseKey& seed, std::uint64_t drawn)
    : is_seeded_(true), drawn_(drawn) {
    watch_forks();
    std::memcpy(words_, seed.words, sizeof seed.words);
}

NoiseSource::NoiseSource(const NoiseKey& reserved)
    : is_seeded_(true), is_reserved_(true), drawn_(reserved.stream) {
    watch_forks();
    std::memcpy(words_, reserved.words, sizeof reserved.words);
}

NoiseSource::~NoiseSource() {
    erase(words_, sizeof words_);
}

NoiseKey NoiseSource::next(NoiseLaw law, std::uint64_t first) {
    constexpr std::uint64_t kAlignment = 256, kMost = std::uint64_t{1} << 56;
    if (first % kAlignment != 0 || first > kMost) {
        throw std::invalid_argument("core: first must be a multiple of 256, at most 2**56");
    }
    NoiseKey key = take();
    key.stream |= static_cast<std::uint64_t>(law) << kCountBits;
    key.first = first;
    return key;
}

std::unique_ptr<NoiseSource> NoiseSource::reserve() {
    return std::make_unique<NoiseSource>(take());
}

NoiseKey NoiseSource::reserved() const {
    if (!is_reserved_) throw std::logic_error("core: not the source of one array");
    NoiseKey key = key_at(0);
    key.stream = drawn_;
    return key;
}

NoiseKey NoiseSource::take() {
    if (is_reserved_) return reserved();
    const std::lock_guard<std::mutex> guard(lock());
    if (!is_seeded_ && process_ != this_process()) start_afresh();
    if (drawn_ >> kCountBits != 0) throw std::overflow_error("2**56 arrays drawn from one stream");
    NoiseKey key = is_seeded_ ? key_at(0) : take_key();
    key.stream = drawn_++;
    return key;
}

void NoiseSource::start_afresh() {
    keys_left_ = 0;
    fill_from_system(words_, kKeyWords * sizeof *words_);
    process_ = this_process();
    drawn_ = 0;
}

NoiseKey NoiseSource::key_at(int index) const {
    NoiseKey key{};
    std::memcpy(key.words, words_ + index * kKeyWords, sizeof key.words);
    return key;
}

NoiseKey NoiseSource::take_key() {
    static_assert(sizeof words_ == chacha20::kBatchBytes);
    if (keys_left_ == 0) {
        chacha20::Keystream stream(key_at(0), 0);
        std::memcpy(words_, stream.next_batch(), sizeof words_);
        keys_left_ = kKeys - 1;
        erase_stack_below<2 * chacha20::kBatchBytes>();
    }
    const int taken = kKeys - keys_left_--;
    NoiseKey key = key_at(taken);
    erase(words_ + taken * kKeyWords, sizeof key.words);
    return key;
}

}  // namespace tightnoise
