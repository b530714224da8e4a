// Overwriting what must not stay in memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace tightnoise {

// Writes zeros that no compiler leaves out, though nothing reads them. Inlined everywhere, so that
// kernel files share no copy of it.
[[gnu::always_inline]] inline void erase(void* memory, std::size_t bytes) {
    std::memset(memory, 0, bytes);
    asm volatile("" : : "r"(memory) : "memory");
}

// Erases what functions that have returned left on this thread's stack, `Bytes` deep: registers
// that they had no room for, among them words of keys and of keystream.
template <std::size_t Bytes>
[[gnu::noinline]] void erase_stack_below() {
    char frame[Bytes];
    erase(frame, sizeof frame);
}

}  // namespace tightnoise
