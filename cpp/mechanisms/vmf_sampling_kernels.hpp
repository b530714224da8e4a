// Sampling the von Mises-Fisher distribution on the unit sphere, density proportional to
// e^(kappa y . mu) with mu the direction divided by its norm, in two passes over memory.
//
// From a vector n of dim normals, a = n . mu and the tangent t = n - a mu: y = w mu + sqrt(1 - w^2)
// t / |t|, where the cosine w is drawn by vmf_cosine.hpp, its first proposal from a and |t|^2.
// Rows of more than kVmfShort coordinates: pass 1 (`project`) leaves n in `out` and sums |x|^2, x.n
// and |n|^2 of the direction x as given; `choose` makes of them the two factors of
// y = (w - s a/|t|)/|x| x + s/|t| n; pass 2 (`combine`) writes that.
// Shorter rows stay in the first-level cache, eight of them side by side (`short_rows`).
//
// kappa = 0 and a direction of zeros give n / |n|, uniform on the sphere.
//
// Keystream batches: the normals of long rows take as many whole batches as they need, row by row.
// Those of short rows follow one another, coordinate by coordinate for eight rows at a time:
// coordinate i of row r is normal 8 (dim (r / 8) + i) + r % 8. 128 rows share the batches that
// cosines are drawn from, each has word r % 128 of them: batch 2^58 + r / 128 for the first
// acceptance, three batches from 2^59 + 2^20 (r / 128) on for each later proposal.
// So row r depends on the key, the element type, dim, kappa, the direction and r alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/compensated_sum.hpp"
#include "random/noise_key.hpp"
#include "runtime/simd_level.hpp"

namespace tightnoise {

constexpr std::size_t kVmfShort = 128;
constexpr std::size_t kVmfAlignment = 256;
constexpr std::size_t kVmfSharing = 128;  // rows
constexpr std::size_t kVmfAttemptsKept = 4;

template <class Real>
struct VmfTask {
    NoiseKey key;
    const Real* direction;
    std::size_t stride;  // from one row's direction to the next: dim, or 0 for one of all rows
    std::size_t dim;     // at least 2
    double kappa;        // at least 0
    Real* out;
    bool in_place;  // out is direction
    // On a grid (vmf_grid_kernels.hpp), where step is not 0.
    double step;
    bool refine_all;
};

// Sums over a part of a row; x times `scale`.
struct VmfSums {
    double scale;
    CompensatedSum xx, xn, nn;
};

// y = along_x (scale x) + along_n n.
struct VmfLine {
    double scale;
    double along_x;
    double along_n;
};

// A keystream batch that 128 rows share.
struct VmfWords {
    std::uint64_t of_row[kVmfSharing];
};

struct VmfAttempt {
    std::uint64_t batch = ~std::uint64_t{0};
    VmfWords radius;
    VmfWords angle;
    VmfWords limit;
};

// What has been made of them, kept for the rows that follow.
struct VmfDraws {
    std::uint64_t first_share = ~std::uint64_t{0};
    VmfWords first;
    VmfAttempt attempts[kVmfAttemptsKept];
};

template <class Real>
struct VmfKernels {
    // Rows first, ..., last - 1; dim at most kVmfShort, first a multiple of kVmfSharing. Float32 is
    // float64, rounded.
    void (*short_rows)(const VmfTask<Real>& task, std::size_t first, std::size_t last);
    // Elements begin, ..., end - 1 of a longer row; begin is a multiple of kVmfAlignment.
    VmfSums (*project)(const VmfTask<Real>& task, std::size_t row, double scale, std::size_t begin,
                       std::size_t end);
    VmfSums (*add)(const VmfSums* parts, std::size_t n);
    // A power of two that brings squares of x into range, or 1 where `total` is in range already.
    double (*scale)(const VmfTask<Real>& task, std::size_t row, const VmfSums& total);
    VmfLine (*choose)(const VmfTask<Real>& task, std::size_t row, const VmfSums& total,
                      VmfDraws& draws);
    void (*combine)(const VmfTask<Real>& task, std::size_t row, const VmfLine& line,
                    std::size_t begin, std::size_t end);
};

struct VmfKernelTable {
    VmfKernels<double> float64;
    VmfKernels<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(VmfKernelTable, vmf_sampling_kernels)

// Rows of samples, on several threads; the same bits for any number of them. Directions must be
// finite; with a NaN or an infinity a row becomes NaN (uniform for kappa = 0).
void sample_von_mises_fisher(const VmfTask<double>& task, std::size_t rows);
void sample_von_mises_fisher(const VmfTask<float>& task, std::size_t rows);

}  // namespace tightnoise
