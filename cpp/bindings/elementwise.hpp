// Functions of numbers, over arrays.
#pragma once

#include <algorithm>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
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
    Released nogil;
    parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (i % 16 == 0) poll();
            to[i] = function(i);
        }
    });
}

// The function `name` of arrays: out[i] = function(first[i], second[i], ...), each an array as long
// as out or one value. With Self it is a method, whose function takes the object first.
template <class... Self, class Scope, class Function, class... Names>
void def_elementwise(Scope& scope, const char* name, Function function, Names... names) {
    scope.def(
        name,
        [function](const Self&... self, ArrayOf<Names>... from, Float64Array out) {
            const std::tuple columns{Column(from, length(out))...};
            fill(out, [&](std::size_t i) {
                const auto at = [&](const auto&... column) {
                    return function(self..., column[i]...);
                };
                return std::apply(at, columns);
            });
        },
        py::arg(names)..., py::arg("out").noconvert());
}

// The same, and before it the function of numbers, without the microseconds that arrays cost.
template <class Function, class... Names>
void def_scalar_and_elementwise(py::module_& m, const char* name, Function function,
                                Names... names) {
    m.def(name, function, py::call_guard<Released>(), py::arg(names)...);
    def_elementwise(m, name, function, names...);
}

}  // namespace tightnoise
