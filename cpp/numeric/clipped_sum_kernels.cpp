#include "numeric/clipped_sum_kernels.hpp"

#include <cmath>
#include <cstring>

#include "numeric/octet.hpp"

namespace tightnoise {
namespace {

// --- sizes of rows -------------------------------------------------------------------------------

inline Octet absolute(const Octet& x) {
    return each([](Lanes v) { return absolute(v); }, x);
}

// Of elements that are multiplied by a power of two: what the norm is the sum of.
template <RowNorm norm, class Elements>
inline Elements terms(const Elements& x, double scale) {
    if constexpr (norm == RowNorm::largest) {
        return 0.0 * x;  // NaN for what is not finite
    } else if constexpr (norm == RowNorm::euclidean) {
        const Elements y = scale * x;
        return y * y;
    } else {
        return absolute(scale * x);
    }
}

// The norm of scale * row, of the greatest norm 0; infinity or NaN where the row counts as zeros.
// Summed in an order that the width alone decides.
template <RowNorm norm, class Real>
double size_of(const Real* row, std::size_t width, double scale) {
    constexpr std::size_t octets = 4;
    Octet sums[octets] = {};
    std::size_t j = 0;
    for (; j + octets * kOctet <= width; j += octets * kOctet) {
        for (std::size_t k = 0; k < octets; ++k) {
            sums[k] += terms<norm>(widened(row + j + k * kOctet), scale);
        }
    }
    for (; j + kOctet <= width; j += kOctet) sums[0] += terms<norm>(widened(row + j), scale);
    double lanes[kOctet];
    store(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    double sum = 0.0;
    for (; j < width; ++j) sum += terms<norm>(static_cast<double>(row[j]), scale);
    for (const double lane : lanes) sum += lane;
    return norm == RowNorm::euclidean ? __builtin_sqrt(sum) : sum;
}

template <RowNorm norm, class Real>
void sizes_of(const ClippedRows& rows, std::size_t begin, std::size_t end, double* sizes) {
    const Real* data = static_cast<const Real*>(rows.data);
    for (std::size_t i = begin; i < end; ++i) {
        sizes[i - begin] = size_of<norm>(data + i * rows.width, rows.width, rows.scale);
    }
}

template <class Real>
void sizes_by_norm(const ClippedRows& rows, std::size_t begin, std::size_t end, double* sizes) {
    switch (rows.norm) {
        case RowNorm::sum:
            return sizes_of<RowNorm::sum, Real>(rows, begin, end, sizes);
        case RowNorm::euclidean:
            return sizes_of<RowNorm::euclidean, Real>(rows, begin, end, sizes);
        default:
            return sizes_of<RowNorm::largest, Real>(rows, begin, end, sizes);
    }
}

void factors(const ClippedRows& rows, std::size_t begin, std::size_t end, double* factors) {
    rows.is_float32 ? sizes_by_norm<float>(rows, begin, end, factors)
                    : sizes_by_norm<double>(rows, begin, end, factors);
    const double clipped = rows.clipped, threshold = rows.threshold, scale = rows.scale;
#pragma omp simd
    for (std::size_t i = 0; i < end - begin; ++i) {  // the same time for any row
        const double size = factors[i];
        const double factor = clipped / (size > threshold ? size : threshold) * scale;
        factors[i] = size < __builtin_inf() ? factor : 0.0;
    }
}

// --- sums of integers ----------------------------------------------------------------------------

constexpr double kShift = 0x1.8p52;  // shifted by it, an integer is the low bits of a double
constexpr std::uint64_t kShiftBits = std::uint64_t{0x4338} << 48;

inline double truncated(double v) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
    return __builtin_trunc(v);
#else
    const double size = __builtin_fabs(v);
    const double near = (size + 0x1p52) - 0x1p52;
    return __builtin_copysign(near > size ? near - 1.0 : near, v);
#endif
}

// v towards zero as an integer, plus kShiftBits, for |v| < 2^51.
inline std::uint64_t shifted_integer(double v) {
    const double shifted = truncated(v) + kShift;
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits;
}

constexpr std::size_t kTogether = 4;  // rows: a sum is loaded and stored once for all of them

template <bool clamped, class Real>
void add_of(const ClippedRows& rows, const double* factors, std::size_t begin, std::size_t end,
            std::size_t first, std::size_t last, std::int64_t* sums) {
    const Real* data = static_cast<const Real*>(rows.data);
    const double most = rows.most;
    const std::size_t n = last - first;
    for (std::size_t i = begin; i < end; i += kTogether) {
        const Real* x[kTogether];
        double c[kTogether];
        std::uint64_t counts[kTogether];  // all bits, or none
        std::uint64_t shift = 0;
        for (std::size_t k = 0; k < kTogether; ++k) {
            const std::size_t row = i + k < end ? i + k : i;
            x[k] = data + row * rows.width + first;
            c[k] = i + k < end ? factors[row - begin] : 0.0;
            counts[k] = c[k] != 0.0 ? ~std::uint64_t{0} : 0;
            shift += counts[k] & kShiftBits;
        }
        const Real *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
        const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
        const std::uint64_t k0 = counts[0], k1 = counts[1], k2 = counts[2], k3 = counts[3];
        const auto integer = [most](Real element, double factor) {
            double v = static_cast<double>(element) * factor;
            if (clamped) {
                v = v < most ? v : most;
                v = v > -most ? v : -most;
            }
            return shifted_integer(v);
        };
        std::int64_t* to = sums + first;
#pragma omp simd
        for (std::size_t j = 0; j < n; ++j) {
            const std::uint64_t sum = ((integer(x0[j], c0) & k0) + (integer(x1[j], c1) & k1)) +
                                      ((integer(x2[j], c2) & k2) + (integer(x3[j], c3) & k3));
            to[j] += static_cast<std::int64_t>(sum - shift);
        }
    }
}

void add(const ClippedRows& rows, const double* factors, std::size_t begin, std::size_t end,
         std::size_t first, std::size_t last, std::int64_t* sums) {
    const bool clamped = rows.norm == RowNorm::largest;
    const auto run = rows.is_float32 ? (clamped ? add_of<true, float> : add_of<false, float>)
                                     : (clamped ? add_of<true, double> : add_of<false, double>);
    run(rows, factors, begin, end, first, last, sums);
}

}  // namespace

extern const ClippedSumKernels TIGHTNOISE_AT_LEVEL(clipped_sum_kernels) = {factors, add};

}  // namespace tightnoise
