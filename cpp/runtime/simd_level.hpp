// Instruction-set levels. Kernel files are compiled once per x86-64 level (v1 = SSE2 baseline,
// v3 = AVX2 + FMA, v4 = AVX-512) and the best level the machine has is picked once, at run time.
// Off x86-64 there is one level, called v1.
//
// A kernel file exports nothing but one constant table of function pointers named after its level:
//
//     // foo_kernels.hpp
//     struct FooKernels { void (*foo)(const double*, double*, std::size_t); };
//     TIGHTNOISE_KERNEL_TABLE(FooKernels, foo_kernels)
//
//     // foo_kernels.cpp (compiled per level; everything else in an anonymous namespace)
//     extern const FooKernels TIGHTNOISE_AT_LEVEL(foo_kernels) = {foo};
//
//     // anywhere
//     foo_kernels().foo(x, y, n);
//
// Anything with a weak symbol (std containers, inline functions or templates with external
// linkage) is forbidden in kernel files: the linker could keep the AVX-512 copy for everybody.
#pragma once

namespace tightnoise {

enum class SimdLevel { v1, v3, v4 };

// The level in use: the one that TIGHTNOISE_SIMD=v1|v3|v4 asks for, else the best one available.
// Throws std::runtime_error when the one asked for is unknown or not available on this machine.
SimdLevel simd_level();

const char* simd_level_name();

}  // namespace tightnoise

#define TIGHTNOISE_PASTE_(a, b) a##_##b
#define TIGHTNOISE_PASTE(a, b) TIGHTNOISE_PASTE_(a, b)
#define TIGHTNOISE_AT_LEVEL(name) TIGHTNOISE_PASTE(name, TIGHTNOISE_LEVEL)

#ifdef TIGHTNOISE_X86_LEVELS
#define TIGHTNOISE_KERNEL_TABLE(Table, name)             \
    extern const Table name##_v1, name##_v3, name##_v4;  \
    [[maybe_unused]] static inline const Table& name() { \
        switch (::tightnoise::simd_level()) {            \
            case ::tightnoise::SimdLevel::v4:            \
                return name##_v4;                        \
            case ::tightnoise::SimdLevel::v3:            \
                return name##_v3;                        \
            default:                                     \
                return name##_v1;                        \
        }                                                \
    }
#else
#define TIGHTNOISE_KERNEL_TABLE(Table, name)             \
    extern const Table name##_v1;                        \
    [[maybe_unused]] static inline const Table& name() { \
        return name##_v1;                                \
    }
#endif
