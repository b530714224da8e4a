#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define TIGHTNOISE_HAS_FORK 1
#endif

namespace tightnoise {
namespace {

std::atomic<int> requested_threads{0};  // 0: not set by the user
std::atomic<bool> used_threads{false};
std::atomic<bool> forked_after_use{false};

#ifdef _OPENMP
// Registered before the first parallel region; runs in the child of every later fork.
void note_threads_used() {
#ifdef TIGHTNOISE_HAS_FORK
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { forked_after_use.store(used_threads.load()); });
    (void)registered;
#endif
    used_threads.store(true);
}
#endif

}  // namespace

int num_threads() {
#ifdef _OPENMP
    if (forked_after_use.load()) return 1;
    const int requested = requested_threads.load();
    return requested > 0 ? requested : omp_get_max_threads();
#else
    return 1;
#endif
}

void set_num_threads(int threads) {
    requested_threads.store(threads);
}

namespace detail {

void run_blocks(std::size_t blocks, void (*run)(void*, std::size_t), void* context) {
#ifdef _OPENMP
    const int threads =
        static_cast<int>(std::min<std::size_t>(blocks, static_cast<std::size_t>(num_threads())));
    // Inside another library's parallel region a second team would only get in the way.
    if (threads > 1 && !omp_in_parallel()) {
        note_threads_used();
        const auto last = static_cast<std::ptrdiff_t>(blocks);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (std::ptrdiff_t block = 0; block < last; ++block) {
            run(context, static_cast<std::size_t>(block));
        }
        return;
    }
#endif
    for (std::size_t block = 0; block < blocks; ++block) run(context, block);
}

}  // namespace detail
}  // namespace tightnoise
