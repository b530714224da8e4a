#include <pybind11/pybind11.h>

#include "runtime/interruption.hpp"
#include "runtime/parallel.hpp"
#include "runtime/simd_level.hpp"

namespace py = pybind11;

namespace tightnoise {
namespace {

// Python runs its signal handlers in the main thread; in any other this does nothing.
void raise_from_signals() {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

void bind_runtime(py::module_& m) {
    set_interruption_check(raise_from_signals);
    m.def("simd_level", &simd_level_name);
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, py::arg("threads"));
}

}  // namespace tightnoise
