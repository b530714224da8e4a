// Eight doubles side by side, in as few registers as the level has for them: what is computed eight
// at a time has the same bits at every level. Kernel-side header: internal linkage.
#pragma once

#include <cstddef>
#include <cstring>

#include "numeric/lanes.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kOctet = 8;
constexpr std::size_t kOctetVectors = kOctet / kLanes;

struct Octet {
    Lanes part[kOctetVectors];
};

inline Octet load_octet(const double* from) {
    Octet v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// Eight elements as doubles.
template <class Real>
inline Octet widened(const Real* from) {
    if constexpr (sizeof(Real) == sizeof(double)) return load_octet(from);
    typedef Real Narrow __attribute__((vector_size(kLanes * sizeof(Real))));
    Narrow narrow[kOctetVectors];
    std::memcpy(narrow, from, sizeof narrow);
    Octet wide;
    for (std::size_t k = 0; k < kOctetVectors; ++k) {
        wide.part[k] = __builtin_convertvector(narrow[k], Lanes);
    }
    return wide;
}

inline void store(double* to, const Octet& v) {
    std::memcpy(to, &v, sizeof v);
}

// What f makes of each of the operands' vectors.
template <class Function, class... Operand>
inline Octet each(Function f, const Operand&... of) {
    Octet result;
    for (std::size_t k = 0; k < kOctetVectors; ++k) result.part[k] = f(of.part[k]...);
    return result;
}

inline Octet operator+(const Octet& a, const Octet& b) {
    return each([](Lanes x, Lanes y) { return x + y; }, a, b);
}
inline Octet& operator+=(Octet& a, const Octet& b) {
    return a = a + b;
}
inline Octet operator-(const Octet& a, const Octet& b) {
    return each([](Lanes x, Lanes y) { return x - y; }, a, b);
}
inline Octet operator*(const Octet& a, const Octet& b) {
    return each([](Lanes x, Lanes y) { return x * y; }, a, b);
}
inline Octet operator*(double a, const Octet& b) {
    return each([a](Lanes x) { return a * x; }, b);
}
// The parts that hold 26 bits: their squares are exact.
inline Octet upper_half(const Octet& a) {
    return each([](Lanes x) { return (Lanes)((LaneBits)x & -0x8000000); }, a);
}

}  // namespace
}  // namespace tightnoise
