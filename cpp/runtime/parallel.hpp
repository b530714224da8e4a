// Threads. This header and parallel.cpp are the only files that know OpenMP.
//
// Work is cut into blocks whose size depends on the work alone, never on the number of threads, so
// results (and noise) are the same for one thread or many. A caller that reduces stores one partial
// result per block and combines them in block order afterwards.
#pragma once

#include <cstddef>

namespace tightnoise {

// Number of threads the next call may use: set_num_threads, else OMP_NUM_THREADS, else all CPUs.
// Always 1 in a process forked from one that had already used threads: the OpenMP runtime would
// wait there for threads that fork did not copy.
int num_threads();
void set_num_threads(int threads);

namespace detail {
void run_blocks(std::size_t blocks, void (*run)(void* context, std::size_t block), void* context);
}

// Calls body(block) for block = 0, ..., blocks - 1, on several threads when there are several
// blocks, and polls before each (interruption.hpp). What a body throws, poll's exceptions above
// all, ends the rest and is thrown again here.
template <class Body>
void parallel_blocks(std::size_t blocks, Body&& body) {
    auto run = [](void* context, std::size_t block) { (*static_cast<Body*>(context))(block); };
    detail::run_blocks(blocks, run, const_cast<void*>(static_cast<const void*>(&body)));
}

// Calls body(begin, end) for ranges of `size` of the numbers 0, ..., n - 1, the last one perhaps
// shorter.
template <class Body>
void parallel_ranges(std::size_t n, std::size_t size, Body&& body) {
    parallel_blocks((n + size - 1) / size, [&](std::size_t block) {
        const std::size_t begin = block * size;
        body(begin, n - begin < size ? n : begin + size);
    });
}

}  // namespace tightnoise
