// Integers as theta: n unit, exact whatever the size of n.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/operand.hpp"

namespace tightnoise {

// unit and steps are powers of two, unit at most 2^60 steps; abs(n[j]) <= 2^62.
//
// Writes theta[j] + low[j] = n[j] unit - step W, W the integer nearest to n[j] unit / step, and
// then, from integers K of samples of that theta, W + K.
void split_integers(const std::int64_t* n, double unit, const Operand& step, std::size_t count,
                    double* theta, double* low);

// step (W + K), rounded once.
void join_integers(const std::int64_t* n, double unit, const Operand& step,
                   const std::int64_t* noise, std::size_t count, double* out);
// W + K itself; what is beyond an int64 becomes the nearest one.
void join_integers(const std::int64_t* n, double unit, const Operand& step,
                   const std::int64_t* noise, std::size_t count, std::int64_t* out);

}  // namespace tightnoise
