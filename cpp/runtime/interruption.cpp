#include "runtime/interruption.hpp"

#include <chrono>

namespace tightnoise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval{50};

std::atomic<void (*)()> interruption_check{nullptr};
thread_local const std::atomic<bool>* stop_of_helper = nullptr;
thread_local Clock::time_point next_check{};

}  // namespace

void set_interruption_check(void (*check)()) {
    interruption_check.store(check);
}

void poll() {
    if (stop_of_helper != nullptr) {
        if (stop_of_helper->load(std::memory_order_relaxed)) throw detail::Stopped{};
        return;
    }
    const Clock::time_point now = Clock::now();
    if (now < next_check) return;
    next_check = now + kInterval;
    if (void (*const check)() = interruption_check.load()) check();
}

namespace detail {

Helping::Helping(const std::atomic<bool>& stop) {
    stop_of_helper = &stop;
}

Helping::~Helping() {
    stop_of_helper = nullptr;
}

}  // namespace detail
}  // namespace tightnoise
