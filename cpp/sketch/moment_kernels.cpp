#include "sketch/moment_kernels.hpp"

#include <cstdint>
#include <cstring>

#include "numeric/lanes.hpp"

namespace tightnoise {
namespace {

typedef float HalfLanes __attribute__((vector_size(kLanes * sizeof(float))));

// Data in DRAM is asked for this far ahead; the hardware prefetcher alone loses up to a factor 4.
constexpr std::size_t kPrefetchBytes = 2048;

template <class V>
inline V load(const double* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V>
inline V load(const float* from);
template <>
inline Lanes load<Lanes>(const float* from) {
    HalfLanes v;
    std::memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, Lanes);
}
template <>
inline double load<double>(const float* from) {
    return static_cast<double>(*from);
}

// Running sums of the products T_a(x) T_4b(x), a < 4, b < Groups: as many operations as one
// recurrence and one sum a moment, but short chains of dependent ones. V is Lanes, or double for
// the last few elements. Steps elements (registers) are added up before they meet the sums: where
// the sums do not fit into registers, each waits in memory for its last addition.
template <std::size_t Groups, std::size_t Steps, class V>
struct ChebyshevSums {
    V product[4 * Groups] = {};
    V least = V{} + __builtin_inf();
    V greatest = {};

    inline __attribute__((always_inline)) void add(const V (&t)[Steps], double scale) {
        V x[Steps], t2[Steps], t3[Steps], two_t4[Steps], previous[Steps], current[Steps];
        for (std::size_t s = 0; s < Steps; ++s) {
            least = t[s] < least ? t[s] : least;
            greatest = t[s] > greatest ? t[s] : greatest;
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

template <std::size_t Groups, class T>
Extent chebyshev_of(const T* theta, std::size_t n, double centre, double half_width, double* sums) {
    constexpr std::size_t steps = kLanes == 8 ? 1 : 2;
    const double scale = 2.0 / half_width;
    ChebyshevSums<Groups, steps, Lanes> wide;
    std::size_t i = 0;
    for (; i + steps * kLanes <= n; i += steps * kLanes) {
        __builtin_prefetch(reinterpret_cast<const char*>(theta + i) + kPrefetchBytes);
        Lanes t[steps];
        for (std::size_t s = 0; s < steps; ++s) {
            t[s] = absolute(load<Lanes>(theta + i + s * kLanes) - centre);
        }
        wide.add(t, scale);
    }
    ChebyshevSums<Groups, 1, double> rest;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        rest.least = wide.least[lane] < rest.least ? wide.least[lane] : rest.least;
        rest.greatest = wide.greatest[lane] > rest.greatest ? wide.greatest[lane] : rest.greatest;
    }
    for (; i < n; ++i) {
        const double t[1] = {absolute(load<double>(theta + i) - centre)};
        rest.add(t, scale);
    }

    // 2 T_a T_4b = T_{4b+a} + T_{4b-a}
    sums[0] = static_cast<double>(n);
    for (std::size_t k = 1; k < 4 * Groups; ++k) {
        const double product = lane_sum(wide.product[k]) + rest.product[k];
        const std::size_t a = k % 4;
        sums[k] = a == 0 || k < 4 ? product : 2.0 * product - sums[k - 2 * a];
    }
    return {rest.least, rest.greatest + 0.0 * sums[1]};
}

template <class T>
Extent chebyshev_by_count(const T* theta, std::size_t n, double centre, double half_width,
                          std::size_t count, double* sums) {
    switch (count) {
        case 8:
            return chebyshev_of<2>(theta, n, centre, half_width, sums);
        case 12:
            return chebyshev_of<3>(theta, n, centre, half_width, sums);
        case 16:
            return chebyshev_of<4>(theta, n, centre, half_width, sums);
        case 24:
            return chebyshev_of<6>(theta, n, centre, half_width, sums);
        default:
            return chebyshev_of<8>(theta, n, centre, half_width, sums);
    }
}

Extent chebyshev(const void* theta, bool is_float32, std::size_t n, double centre,
                 double half_width, std::size_t count, double* sums) {
    return is_float32 ? chebyshev_by_count(static_cast<const float*>(theta), n, centre, half_width,
                                           count, sums)
                      : chebyshev_by_count(static_cast<const double*>(theta), n, centre, half_width,
                                           count, sums);
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

template <class T>
Extent place(const T* theta, std::size_t n, double centre, double per_scale, Places& places) {
    double least = __builtin_inf();
    double greatest = 0.0;
    double poison = 0.0;  // becomes NaN where t is NaN or infinite, which comparisons do not see
#pragma omp simd reduction(min : least) reduction(max : greatest) reduction(+ : poison)
    for (std::size_t i = 0; i < n; ++i) {
        const double t = __builtin_fabs(static_cast<double>(theta[i]) - centre);
        least = t < least ? t : least;
        greatest = t > greatest ? t : greatest;
        poison += 0.0 * t;
        const double unclamped = 1.0 + t * per_scale;
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
    return {least, greatest + poison};
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

template <class T>
Extent bins_of(const T* theta, std::size_t n, double centre, double scale, double* table) {
    constexpr std::size_t copy = kTableRows * kBinMoments;
    const double per_scale = 1.0 / scale;
    Extent extent = {__builtin_inf(), 0.0};
    alignas(64) Places places;
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
        const std::size_t length = n - begin < kChunk ? n - begin : kChunk;
        const Extent here = place(theta + begin, length, centre, per_scale, places);
        extent.least = here.least < extent.least ? here.least : extent.least;
        const bool is_nan = here.greatest != here.greatest;
        extent.greatest =
            is_nan || here.greatest > extent.greatest ? here.greatest : extent.greatest;
        std::size_t i = 0;
        for (; i + kTableCopies <= length; i += kTableCopies) {
            // Of the next chunk, a little at a time: all at once would wait.
            __builtin_prefetch(theta + begin + kChunk + i);
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
    return extent;
}

Extent bins(const void* theta, bool is_float32, std::size_t n, double centre, double scale,
            double* table) {
    return is_float32 ? bins_of(static_cast<const float*>(theta), n, centre, scale, table)
                      : bins_of(static_cast<const double*>(theta), n, centre, scale, table);
}

constexpr int kCountRestBits = 52 - 7;
static_assert(kCountsPerOctave == std::size_t{1} << (52 - kCountRestBits),
              "rows are bits of the mantissa");
constexpr double kCountEnd = static_cast<double>(std::uint64_t{1} << kCountOctaves);

template <class T>
void count_of(const T* theta, std::size_t n, double centre, double scale, std::uint64_t* table) {
    const double per_scale = 1.0 / scale;
    std::uint64_t rows[kChunk];
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
        const std::size_t length = n - begin < kChunk ? n - begin : kChunk;
#pragma omp simd
        for (std::size_t i = 0; i < length; ++i) {
            const double t = __builtin_fabs(static_cast<double>(theta[begin + i]) - centre);
            const double unclamped = 1.0 + t * per_scale;
            const double y = unclamped < kCountEnd ? unclamped : kCountEnd;
            std::uint64_t bits;
            std::memcpy(&bits, &y, sizeof bits);
            rows[i] = (bits >> kCountRestBits) - (kOneBits >> kCountRestBits);
        }
        std::size_t i = 0;
        for (; i + kTableCopies <= length; i += kTableCopies) {
#pragma GCC unroll 4
            for (std::size_t j = 0; j < kTableCopies; ++j) ++table[j * kCounts + rows[i + j]];
        }
        for (; i < length; ++i) ++table[rows[i]];
    }
}

void count(const void* theta, bool is_float32, std::size_t n, double centre, double scale,
           std::uint64_t* table) {
    is_float32 ? count_of(static_cast<const float*>(theta), n, centre, scale, table)
               : count_of(static_cast<const double*>(theta), n, centre, scale, table);
}

}  // namespace

extern const MomentKernels TIGHTNOISE_AT_LEVEL(moment_kernels) = {chebyshev, bins, count};

}  // namespace tightnoise
