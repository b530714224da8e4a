// Functions of numbers, over arrays.
#pragma once

#include <algorithm>

#include "bindings/arrays.hpp"
#include "runtime/interruption.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {

// A float64 argument: an array of n elements, or one value for all.
class Column {
  public:
    Column(const py::array& array, std::size_t n) : from_(float64_operand(array, n)) {}
    double operator[](std::size_t i) const { return float64_at(from_, i); }

  private:
    Operand from_;
};

// out[i] = function(i): searches of microseconds each, or longer ones that poll themselves.
template <class Function>
void fill(Float64Array& out, Function function) {
    constexpr std::size_t kBlock = 1024;
    const std::size_t n = length(out);
    double* to = out.mutable_data();
    py::gil_scoped_release nogil;
    parallel_blocks((n + kBlock - 1) / kBlock, [&](std::size_t block) {
        const std::size_t end = std::min(n, (block + 1) * kBlock);
        for (std::size_t i = block * kBlock; i < end; ++i) {
            if (i % 16 == 0) poll();
            to[i] = function(i);
        }
    });
}

}  // namespace tightnoise
