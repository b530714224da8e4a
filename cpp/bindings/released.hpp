// The interpreter's lock, given up while C++ works.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace tightnoise {

// Takes the lock back at the end. Where the interpreter has gone by then, there is nothing that a
// daemon thread could come back to: it waits for the process to end, as Python has it from 3.14 on.
// Before, Python unwinds such a thread's stack, which ends the process with an abort if it leaves a
// destructor.
class Released {
  public:
    Released() : state_(PyEval_SaveThread()) {}
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    ~Released() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

  private:
    PyThreadState* state_;
};

}  // namespace tightnoise
