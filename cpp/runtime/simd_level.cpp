#include "runtime/simd_level.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tightnoise {
namespace {

SimdLevel best_level() {
#ifdef TIGHTNOISE_X86_LEVELS
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v4) return SimdLevel::v4;
    if (v3) return SimdLevel::v3;
#endif
    return SimdLevel::v1;
}

const char* name_of(SimdLevel level) {
    switch (level) {
        case SimdLevel::v4:
            return "v4";
        case SimdLevel::v3:
            return "v3";
        default:
            return "v1";
    }
}

SimdLevel select_level() {
    const SimdLevel best = best_level();
    const char* variable = std::getenv("TIGHTNOISE_SIMD");
    if (variable == nullptr || *variable == '\0') return best;
    const std::string wanted = variable;
    for (const SimdLevel level : {SimdLevel::v1, SimdLevel::v3, SimdLevel::v4}) {
        if (wanted == name_of(level) && level <= best) return level;
    }
    throw std::runtime_error("TIGHTNOISE_SIMD is '" + wanted + "'; this machine allows v1 up to " +
                             name_of(best));
}

}  // namespace

SimdLevel simd_level() {
    static const SimdLevel level = select_level();
    return level;
}

const char* simd_level_name() {
    return name_of(simd_level());
}

}  // namespace tightnoise
