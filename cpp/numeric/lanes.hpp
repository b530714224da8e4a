// One register of doubles at the level this is compiled for. Kernel-side header: internal linkage.
//
// The compiler's generic vectors, not intrinsics. Plain loops are vectorised as well; these are for
// loops whose running sums have to stay in registers, which a loop over arrays does not promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tightnoise {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kLanes = 8;
#elif defined(__AVX__)
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
typedef std::int64_t LaneBits __attribute__((vector_size(kLanes * sizeof(double))));

inline Lanes load_lanes(const double* from) {
    Lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

inline Lanes absolute(Lanes v) {
    return v > -v ? v : -v;
}
inline double absolute(double v) {
    return __builtin_fabs(v);
}

inline double lane_sum(Lanes v) {
    double sum = 0.0;
    for (std::size_t i = 0; i < kLanes; ++i) sum += v[i];
    return sum;
}

}  // namespace
}  // namespace tightnoise
