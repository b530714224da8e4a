#include <pybind11/pybind11.h>

#include "runtime/parallel.hpp"
#include "runtime/simd_level.hpp"

namespace py = pybind11;

namespace tightnoise {

void bind_runtime(py::module_& m) {
    m.def("simd_level", &simd_level_name);
    m.def("num_threads", &num_threads);
    m.def("set_num_threads", &set_num_threads, py::arg("threads"));
}

}  // namespace tightnoise
