// Reading an Operand inside a kernel. For kernel files only: internal linkage, one copy a level.
#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime/operand.hpp"

namespace tightnoise {
namespace {

struct RoundToNearest {
    template <class Real, class From>
    static Real convert(From value) {
        return static_cast<Real>(value);
    }
};

// A block of an operand as Real: elements begin, ..., begin + n - 1. Points into the array where it
// can, else converts into its own buffer.
template <std::size_t Capacity, class Real = double, class Rounding = RoundToNearest>
class OperandBlock {
  public:
    const Real* load(const Operand& operand, std::size_t begin, std::size_t n) {
        if (!operand.is_scalar && operand.is_float32 == std::is_same_v<Real, float>) {
            return static_cast<const Real*>(operand.data) + begin;
        }
        if (!operand.is_scalar || filled_ < n) fill_from(operand, begin, n);
        return buffer_;
    }

  private:
    // Not inline: a copy for every kernel and operand makes the module larger by a tenth.
    __attribute__((noinline)) void fill_from(const Operand& operand, std::size_t begin,
                                             std::size_t n) {
        operand.is_float32
            ? fill(static_cast<const float*>(operand.data), operand.is_scalar, begin, n)
            : fill(static_cast<const double*>(operand.data), operand.is_scalar, begin, n);
    }

    template <class From>
    void fill(const From* from, bool is_scalar, std::size_t begin, std::size_t n) {
        if (is_scalar) {
            const Real value = Rounding::template convert<Real>(*from);
            for (std::size_t i = filled_; i < n; ++i) buffer_[i] = value;
            filled_ = n;
            return;
        }
        for (std::size_t i = 0; i < n; ++i) {
            buffer_[i] = Rounding::template convert<Real>(from[begin + i]);
        }
    }

    std::size_t filled_ = 0;  // a scalar is written once, not once a block
    alignas(64) Real buffer_[Capacity];
};

}  // namespace
}  // namespace tightnoise
