// One argument of an elementwise kernel: a scalar or an array, float32 or float64, read block by
// block as float64, so that no argument is ever copied in full.
#pragma once

#include <cstddef>

namespace tightnoise {

struct Operand {
    const void* data;
    bool is_float32;
    bool is_scalar;  // one value for every element
};

namespace {  // kernels read with it, too: one copy a level

// Element i of a float64 operand.
inline double float64_at(const Operand& from, std::size_t i) {
    return static_cast<const double*>(from.data)[from.is_scalar ? 0 : i];
}

// Element i of either type.
inline double element_at(const Operand& from, std::size_t i) {
    return from.is_float32
               ? static_cast<double>(static_cast<const float*>(from.data)[from.is_scalar ? 0 : i])
               : float64_at(from, i);
}

}  // namespace
}  // namespace tightnoise
