#include <pybind11/pybind11.h>

#include <atomic>

#include "runtime/interruption.hpp"
#include "runtime/parallel.hpp"
#include "runtime/simd_level.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define TIGHTNOISE_HAS_FORK 1
#endif

namespace py = pybind11;

namespace tightnoise {
namespace {

std::atomic<unsigned long> main_thread{0};
std::atomic<bool> ends_long_work{false};

// Python runs its signal handlers in the main thread. The others must not wait for the GIL here: a
// daemon thread would never get it once the interpreter goes.
void raise_from_signals() {
    const bool ends = ends_long_work.load();
    if (!ends && PyThread_get_thread_ident() != main_thread.load()) return;
    const py::gil_scoped_acquire gil;
    if (ends) PyErr_SetNone(PyExc_KeyboardInterrupt);
    if (ends || PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void watch_signals() {
    const py::object thread = py::module_::import("threading").attr("main_thread")();
    main_thread.store(thread.attr("ident").cast<unsigned long>());
#ifdef TIGHTNOISE_HAS_FORK
    // In a child the thread that forked is all there is.
    pthread_atfork(nullptr, nullptr, [] { main_thread.store(PyThread_get_thread_ident()); });
#endif
    set_interruption_check(raise_from_signals);
}

}  // namespace

void bind_runtime(py::module_ m) {
    watch_signals();
    // While set, long work raises KeyboardInterrupt, in whatever thread it is.
    m.def("end_long_work", [](bool end) { ends_long_work.store(end); }, py::arg("end"));
    m.def("simd_level", &simd_level_name);
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, py::arg("threads"));
}

}  // namespace tightnoise
