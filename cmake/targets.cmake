# Which compilers can build the core, and for which SIMD levels. Reads what CMake knows of the
# compiler and the target, and whether the baseline is enough; sets TIGHTNOISE_LEVELS.

# GNU vectors and builtins are used throughout. clang-cl has them: its id is Clang, though CMake sets
# MSVC for it as well.
if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  message(FATAL_ERROR "tightnoise needs GCC or Clang: Microsoft's compiler lacks the vector types "
                      "that it is written in. On Windows, take clang-cl: "
                      "-DCMAKE_CXX_COMPILER=clang-cl")
endif()

# On macOS, what is compiled for need not be the machine that compiles. A universal binary is
# compiled with one set of flags, so that it has the level that both its halves have.
set(processors "${CMAKE_SYSTEM_PROCESSOR}")
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin" AND CMAKE_OSX_ARCHITECTURES)
  set(processors "${CMAKE_OSX_ARCHITECTURES}")
endif()

set(TIGHTNOISE_LEVELS v1)
if(processors MATCHES "^(x86_64|AMD64)$" AND NOT (TIGHTNOISE_BASELINE OR TIGHTNOISE_SANITIZE))
  list(APPEND TIGHTNOISE_LEVELS v3 v4)
endif()
message(STATUS "tightnoise: SIMD levels ${TIGHTNOISE_LEVELS} for ${processors}")
