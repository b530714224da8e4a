#include "sketch/moment_kernels.hpp"

#include <cstdint>
#include <cstring>

#include "numeric/lanes.hpp"

namespace tightnoise {
namespace {

Extent extent_of(const double* t, std::size_t n) {
    Lanes low = Lanes{} + __builtin_inf();
    Lanes high = {};
    Lanes poison = {};  // becomes NaN where t is NaN or infinite, which comparisons do not see
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const Lanes here = load_lanes(t + i);
        low = here < low ? here : low;
        high = here > high ? here : high;
        poison += 0.0 * here;
    }
    Extent extent = {__builtin_inf(), 0.0};
    double rest = lane_sum(poison);
    const auto widen = [&extent](double least, double greatest) {
        extent.least = least < extent.least ? least : extent.least;
        extent.greatest = greatest > extent.greatest ? greatest : extent.greatest;
    };
    for (std::size_t lane = 0; lane < kLanes; ++lane) widen(low[lane], high[lane]);
    for (; i < n; ++i) {
        widen(t[i], t[i]);
        rest += 0.0 * t[i];
    }
    extent.greatest += rest;
    return extent;
}

template <class T>
Extent distances_of(const T* theta, std::size_t n, double centre, double* t) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        t[i] = __builtin_fabs(static_cast<double>(theta[i]) - centre);
    }
    return extent_of(t, n);
}

Extent distances(const void* theta, bool is_float32, std::size_t n, double centre, double* t) {
    return is_float32 ? distances_of(static_cast<const float*>(theta), n, centre, t)
                      : distances_of(static_cast<const double*>(theta), n, centre, t);
}

// Running sums of the products T_a(x) T_4b(x), a < 4, b < Groups: as many operations as one
// recurrence and one sum a moment, but short chains of dependent ones. V is Lanes, or double for
// the last few elements. Steps elements (registers) are added up before they meet the sums: where
// the sums do not fit into registers, each waits in memory for its last addition.
template <std::size_t Groups, std::size_t Steps, class V>
struct ChebyshevSums {
    V product[4 * Groups] = {};

    inline __attribute__((always_inline)) void add(const V (&t)[Steps], double scale) {
        V x[Steps], t2[Steps], t3[Steps], two_t4[Steps], previous[Steps], current[Steps];
        for (std::size_t s = 0; s < Steps; ++s) {
            x[s] = t[s] * scale - 1.0;
            const V two_x = x[s] + x[s];
            t2[s] = two_x * x[s] - 1.0;
            t3[s] = two_x * t2[s] - x[s];
            current[s] = two_x * t3[s] - t2[s];
            two_t4[s] = current[s] + current[s];
            previous[s] = V{} + 1.0;
        }
        product[1] += sum(x);
        product[2] += sum(t2);
        product[3] += sum(t3);
#pragma GCC unroll 8
        for (std::size_t group = 1; group < Groups; ++group) {
            product[4 * group] += sum(current);
            add_product(product[4 * group + 1], x, current);
            add_product(product[4 * group + 2], t2, current);
            add_product(product[4 * group + 3], t3, current);
            for (std::size_t s = 0; s < Steps; ++s) {
                const V next = two_t4[s] * current[s] - previous[s];
                previous[s] = current[s];
                current[s] = next;
            }
        }
    }

  private:
    static inline __attribute__((always_inline)) V sum(const V (&a)[Steps]) {
        return Steps == 1 ? a[0] : a[0] + a[Steps - 1];
    }
    static inline __attribute__((always_inline)) void add_product(V& to, const V (&a)[Steps],
                                                                  const V (&b)[Steps]) {
        to += Steps == 1 ? a[0] * b[0] : a[0] * b[0] + a[Steps - 1] * b[Steps - 1];
    }
};

template <std::size_t Groups>
void chebyshev_of(const double* t, std::size_t n, double half_width, double* sums) {
    constexpr std::size_t steps = kLanes == 8 ? 1 : 2;
    const double scale = 2.0 / half_width;
    ChebyshevSums<Groups, steps, Lanes> wide;
    std::size_t i = 0;
    for (; i + steps * kLanes <= n; i += steps * kLanes) {
        Lanes here[steps];
        for (std::size_t s = 0; s < steps; ++s) here[s] = load_lanes(t + i + s * kLanes);
        wide.add(here, scale);
    }
    ChebyshevSums<Groups, 1, double> rest;
#pragma GCC unroll 1
    for (; i < n; ++i) rest.add({t[i]}, scale);

    // 2 T_a T_4b = T_{4b+a} + T_{4b-a}
    sums[0] = static_cast<double>(n);
    for (std::size_t k = 1; k < 4 * Groups; ++k) {
        const double product = lane_sum(wide.product[k]) + rest.product[k];
        const std::size_t a = k % 4;
        sums[k] = a == 0 || k < 4 ? product : 2.0 * product - sums[k - 2 * a];
    }
}

void chebyshev(const double* t, std::size_t n, double half_width, std::size_t count, double* sums) {
    switch (count) {
        case 8:
            return chebyshev_of<2>(t, n, half_width, sums);
        case 12:
            return chebyshev_of<3>(t, n, half_width, sums);
        case 16:
            return chebyshev_of<4>(t, n, half_width, sums);
        case 20:
            return chebyshev_of<5>(t, n, half_width, sums);
        case 24:
            return chebyshev_of<6>(t, n, half_width, sums);
        default:
            return chebyshev_of<8>(t, n, half_width, sums);
    }
}

// Where an element goes: the offset of its row in a table, and its place x within the bin with the
// powers that the row is made of.
constexpr std::size_t kChunk = 512;
struct Places {
    std::uint64_t row[kChunk];
    double x[kChunk], x2[kChunk], x4[kChunk];
};

// y = 1 + t / scale as bits: the exponent and the first log2(kBinsPerOctave) bits of the mantissa
// are the bin, the rest of the mantissa is the place within it.
constexpr int kRestBits = 52 - 7;
static_assert(kBinsPerOctave == std::size_t{1} << (52 - kRestBits),
              "bins are bits of the mantissa");
constexpr std::uint64_t kOneBits = std::uint64_t{1023} << 52;
constexpr int kRowBits = 3;
static_assert(kBinMoments == 1 << kRowBits, "rows are found by a shift");
constexpr double kEnd = static_cast<double>(std::uint64_t{1} << kBinOctaves);  // y of the last row

void place(const double* t, std::size_t n, double per_scale, Places& places) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double unclamped = 1.0 + t[i] * per_scale;
        const double y = unclamped < kEnd ? unclamped : kEnd;
        std::uint64_t bits;
        std::memcpy(&bits, &y, sizeof bits);
        places.row[i] = ((bits >> kRestBits) - (kOneBits >> kRestBits)) << kRowBits;
        const std::uint64_t rest = (bits & ((std::uint64_t{1} << kRestBits) - 1)) | kOneBits;
        double within;  // in [1, 1 + 1 / kBinsPerOctave)
        std::memcpy(&within, &rest, sizeof within);
        const double x = (within - 1.0) * static_cast<double>(2 * kBinsPerOctave) - 1.0;
        const double x2 = x * x;
        places.x[i] = x;
        places.x2[i] = x2;
        places.x4[i] = x2 * x2;
    }
}

// row[k] += x^k, k < 8
inline __attribute__((always_inline)) void add_powers(double* row, double x, double x2, double x4) {
#if defined(__AVX512F__)
    const Lanes one = Lanes{} + 1.0;
    const Lanes low = LaneBits{0, -1, 0, -1, 0, -1, 0, -1} ? x - Lanes{} : one;
    const Lanes middle = LaneBits{0, 0, -1, -1, 0, 0, -1, -1} ? x2 - Lanes{} : one;
    const Lanes high = LaneBits{0, 0, 0, 0, -1, -1, -1, -1} ? x4 - Lanes{} : one;
    const Lanes powers[1] = {low * middle * high};
#elif defined(__AVX__)
    const Lanes one = Lanes{} + 1.0;
    const Lanes low = LaneBits{0, -1, 0, -1} ? x - Lanes{} : one;
    const Lanes middle = LaneBits{0, 0, -1, -1} ? x2 - Lanes{} : one;
    const Lanes first = low * middle;
    const Lanes powers[2] = {first, first * x4};
#else
    const Lanes first = {1.0, x};
    const Lanes second = first * x2;
    const Lanes powers[4] = {first, second, first * x4, second * x4};
#endif
    for (std::size_t k = 0; k < kBinMoments / kLanes; ++k) {
        Lanes sum;
        std::memcpy(&sum, row + k * kLanes, sizeof sum);
        sum += powers[k];
        std::memcpy(row + k * kLanes, &sum, sizeof sum);
    }
}

void bins(const double* t, std::size_t n, double scale, double* table) {
    constexpr std::size_t copy = kTableRows * kBinMoments;
    const double per_scale = 1.0 / scale;
    alignas(64) Places places;
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
        const std::size_t length = n - begin < kChunk ? n - begin : kChunk;
        place(t + begin, length, per_scale, places);
        std::size_t i = 0;
        for (; i + kTableCopies <= length; i += kTableCopies) {
#pragma GCC unroll 4
            for (std::size_t j = 0; j < kTableCopies; ++j) {
                add_powers(table + j * copy + places.row[i + j], places.x[i + j], places.x2[i + j],
                           places.x4[i + j]);
            }
        }
        for (; i < length; ++i) {
            add_powers(table + places.row[i], places.x[i], places.x2[i], places.x4[i]);
        }
    }
}

constexpr int kCountRestBits = 52 - 7;
static_assert(kCountsPerOctave == std::size_t{1} << (52 - kCountRestBits),
              "rows are bits of the mantissa");
constexpr double kCountEnd = static_cast<double>(std::uint64_t{1} << kCountOctaves);

void count(const double* t, std::size_t n, double scale, std::uint32_t* table, const char* next,
           std::size_t width) {
    const double per_scale = 1.0 / scale;
    std::uint32_t rows[kChunk];
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
        const std::size_t length = n - begin < kChunk ? n - begin : kChunk;
#pragma omp simd
        for (std::size_t i = 0; i < length; ++i) {
            const double unclamped = 1.0 + t[begin + i] * per_scale;
            const double y = unclamped < kCountEnd ? unclamped : kCountEnd;
            std::uint64_t bits;
            std::memcpy(&bits, &y, sizeof bits);
            const std::uint64_t row = (bits >> kCountRestBits) - (kOneBits >> kCountRestBits);
            rows[i] = static_cast<std::uint32_t>(row);
        }
        std::size_t i = 0;
        for (; i + kCountCopies <= length; i += kCountCopies) {
            // Data in DRAM, a little at a time: all at once would wait.
            __builtin_prefetch(next + (begin + i) * width);
#pragma GCC unroll 8
            for (std::size_t j = 0; j < kCountCopies; ++j) ++table[j * kCounts + rows[i + j]];
        }
        for (; i < length; ++i) ++table[rows[i]];
    }
}

}  // namespace

extern const MomentKernels TIGHTNOISE_AT_LEVEL(moment_kernels) = {distances, chebyshev, bins,
                                                                  count};

}  // namespace tightnoise
