// Long work ends when the user wants it to: Ctrl-C.
//
// Every loop that may take longer than a second calls poll() now and then. What that asks is up to
// whoever runs the core; here nothing knows of signals, or of Python.
#pragma once

#include <atomic>

namespace tightnoise {

// `check` returns, or throws what is to end the work. It is called on threads that called the core,
// never on those that the core started, and no more often than every 50 ms.
void set_interruption_check(void (*check)());

// Calls the check if it is time to. Some 30 ns: for every microsecond of work, not for less. What
// it throws passes through everything between here and the caller of the core, and may leave
// outputs half written.
void poll();

namespace detail {

// What poll throws on a thread that works for another one.
struct Stopped {};

// While this lives, its thread works for another one: all that poll looks at is `stop`.
class Helping {
  public:
    explicit Helping(const std::atomic<bool>& stop);
    ~Helping();
    Helping(const Helping&) = delete;
    Helping& operator=(const Helping&) = delete;
};

}  // namespace detail
}  // namespace tightnoise
