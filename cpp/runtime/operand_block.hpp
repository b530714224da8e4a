// Reading an Operand inside a kernel. For kernel files only: internal linkage, one copy a level.
#pragma once

#include <cstddef>

#include "runtime/operand.hpp"

namespace tightnoise {
namespace {

// A block of an operand as float64: elements begin, ..., begin + n - 1, in data(). Points into the
// array where it can, else converts into its own buffer.
template <std::size_t Capacity>
class OperandBlock {
  public:
    const double* load(const Operand& operand, std::size_t begin, std::size_t n) {
        if (!operand.is_scalar && !operand.is_float32) {
            return static_cast<const double*>(operand.data) + begin;
        }
        if (!operand.is_scalar) {
            const float* from = static_cast<const float*>(operand.data) + begin;
            for (std::size_t i = 0; i < n; ++i) buffer_[i] = static_cast<double>(from[i]);
            return buffer_;
        }
        if (filled_ < n) {
            const double value = operand.is_float32
                                     ? static_cast<double>(*static_cast<const float*>(operand.data))
                                     : *static_cast<const double*>(operand.data);
            for (std::size_t i = filled_; i < n; ++i) buffer_[i] = value;
            filled_ = n;
        }
        return buffer_;
    }

  private:
    std::size_t filled_ = 0;  // a scalar is written once, not once a block
    double buffer_[Capacity];
};

}  // namespace
}  // namespace tightnoise
