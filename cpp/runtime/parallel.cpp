#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/interruption.hpp"

#ifdef _OPENMP
#include <chrono>
#include <exception>
#include <thread>

#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define TIGHTNOISE_HAS_FORK 1
#endif

namespace tightnoise {
namespace {

std::atomic<int> requested_threads{0};  // 0: not set by the user

#ifdef _OPENMP
std::atomic<bool> used_threads{false};
std::atomic<bool> forked_after_use{false};

#ifdef TIGHTNOISE_HAS_FORK
// Runs in the child of every fork. Registered as the core is loaded: in a child forked meanwhile, a
// static variable of a function would stay half initialised, and whoever asks for it would wait.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { forked_after_use.store(used_threads.load()); });
#endif

// Blocks that several threads take one after another. The thread that called is the only one that
// may poll, and does so as long as any of them works.
class Team {
  public:
    Team(std::size_t blocks, void (*run)(void*, std::size_t), void* context)
        : blocks_(blocks), run_(run), context_(context) {}

    void call() {
        try {
            work();
            // Next to no time, unless what is left takes long.
            for (int round = 0; done_.load() < blocks_ && !stop_.load(); ++round) {
                poll();
                if (round < 4096) {
                    std::this_thread::yield();
                } else {
                    std::this_thread::sleep_for(std::chrono::microseconds(100));
                }
            }
        } catch (...) {
            fail();
        }
    }

    void help() {
        const detail::Helping helping(stop_);
        try {
            work();
        } catch (...) {
            fail();
        }
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void work() {
        for (std::size_t block; (block = next_++) < blocks_ && !stop_.load();) {
            poll();
            run_(context_, block);
            ++done_;
        }
    }

    // The first failure counts; the others only stop for it.
    void fail() {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
        stop_.store(true);
    }

    const std::size_t blocks_;
    void (*const run_)(void*, std::size_t);
    void* const context_;
    std::atomic<std::size_t> next_{0}, done_{0};
    std::atomic<bool> stop_{false}, failed_{false};
    std::exception_ptr failure_;
};
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
        used_threads.store(true);
        Team team(blocks, run, context);
#pragma omp parallel num_threads(threads)
        {
            if (omp_get_thread_num() == 0) {
                team.call();
            } else {
                team.help();
            }
        }
        team.rethrow();
        return;
    }
#endif
    for (std::size_t block = 0; block < blocks; ++block) {
        poll();
        run(context, block);
    }
}

}  // namespace detail
}  // namespace tightnoise
