// How NumPy arrays reach the core. The Python layer has validated and broadcast before: every array
// is C-contiguous, aligned and float32 or float64; anything else here is a bug and raises
// TypeError.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

#include "runtime/operand.hpp"

namespace py = pybind11;

namespace tightnoise {

using Float64Array = py::array_t<double, py::array::c_style>;
using Float32Array = py::array_t<float, py::array::c_style>;
using Int64Array = py::array_t<std::int64_t, py::array::c_style>;

template <class T>
std::size_t length(const py::array_t<T, py::array::c_style>& array) {
    return static_cast<std::size_t>(array.size());
}

// Arrays of n elements each.
template <class... Types>
void check_lengths(std::size_t n, const py::array_t<Types, py::array::c_style>&... arrays) {
    if (((length(arrays) != n) || ...)) throw py::type_error("core: an array of the wrong length");
}

// An argument for n elements: an array of n, or one value for all of them.
inline Operand operand(const py::array& array, std::size_t n) {
    const bool is_float32 = py::isinstance<Float32Array>(array);
    if (!is_float32 && !py::isinstance<Float64Array>(array)) {
        throw py::type_error("core: expected a C-contiguous float32 or float64 array");
    }
    const auto size = static_cast<std::size_t>(array.size());
    if (size != n && size != 1) throw py::type_error("core: operand of the wrong length");
    return {array.data(), is_float32, size != n || n == 1};
}

// One array for each type of a pack: what a template that names its arguments takes.
template <class>
using ArrayOf = const py::array&;

// The same as operand, of float64.
inline Operand float64_operand(const py::array& array, std::size_t n) {
    const Operand from = operand(array, n);
    if (from.is_float32) throw py::type_error("core: expected float64");
    return from;
}

}  // namespace tightnoise
