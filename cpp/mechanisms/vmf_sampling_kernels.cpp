#include "mechanisms/vmf_sampling_kernels.hpp"

#include <cmath>
#include <cstring>

#include "mechanisms/vmf_range.hpp"
#include "mechanisms/vmf_rejection.hpp"
#include "mechanisms/vmf_short_rows.hpp"
#include "mechanisms/vmf_sums.hpp"
#include "numeric/double_double.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

using box_muller::kBatch;

static_assert(kVmfAlignment % kBatch<float> == 0 && kVmfAlignment % kBatch<double> == 0,
              "parts begin with a batch");

// Calls body(z, first, n) with the normals of each batch.
template <class Real, class Body>
inline void for_each_normal(const VmfTask<Real>& task, std::size_t row, std::size_t begin,
                            std::size_t end, Body&& body) {
    constexpr std::size_t batch = kBatch<Real>;
    const std::uint64_t of_row = std::uint64_t{row} * ((task.dim + batch - 1) / batch);
    chacha20::Keystream stream(task.key, of_row + begin / batch);
    alignas(64) Real z[batch];
    for (std::size_t first = begin; first < end; first += batch) {
        box_muller::normals_of(stream.next_batch(), z);
        body(z, first, end - first < batch ? end - first : batch);
    }
}

template <class Real>
VmfSums project(const VmfTask<Real>& task, std::size_t row, double scale, std::size_t begin,
                std::size_t end) {
    const Real* direction = task.direction + row * task.stride;
    Real* out = task.out + row * task.dim;
    ThreeSums sums;
    alignas(64) Real last[kBatch<Real>];
    for_each_normal(task, row, begin, end, [&](Real* z, std::size_t first, std::size_t n) {
        const Real* x = direction + first;
        Real* to = out + first;
        if (n == kBatch<Real>) {
            if (!task.in_place) {
                std::memcpy(to, z, sizeof last);
            }
        } else {  // the end of the row: zeros up to the padding
            if (!task.in_place) std::memcpy(to, z, n * sizeof(Real));
            std::memcpy(last, x, n * sizeof(Real));
            for (std::size_t i = n; i < padded(n); ++i) last[i] = z[i] = Real(0);
            x = last;
        }
        sums.add_batch(x, scale, z, padded(n));
    });
    return total_of(sums, scale);
}

VmfSums add_parts(const VmfSums* parts, std::size_t n) {
    VmfSums total{parts[0].scale, {}, {}, {}};
    for (std::size_t i = 0; i < n; ++i) {
        add(total.xx, parts[i].xx);
        add(total.xn, parts[i].xn);
        add(total.nn, parts[i].nn);
    }
    return total;
}

template <class Real>
double scale_of_row(const VmfTask<Real>& task, std::size_t row, const VmfSums& total) {
    if (in_range(total.xx.sum)) return 1.0;
    return scale_of(task.direction + row * task.stride, task.dim);
}

// In double-double arithmetic, so that the two factors are right to half a unit of the last place:
// they are all that keeps |y| from 1. |t|^2 = |n|^2 - a^2 loses nothing to speak of: a^2 is more
// than 0.9 of |n|^2 with probability 1e-65 at 129 coordinates.
template <class Real>
VmfLine choose(const VmfTask<Real>& task, std::size_t row, const VmfSums& total, VmfDraws& draws) {
    const DoubleDouble nn = two_sum(total.nn.sum, total.nn.error);
    if (total.xx.sum == 0.0 || task.kappa == 0.0) {
        return {total.scale, 0.0, rounded(DoubleDouble{1.0, 0.0} / square_root(nn))};
    }
    const DoubleDouble norm = square_root(two_sum(total.xx.sum, total.xx.error));
    const DoubleDouble along = two_sum(total.xn.sum, total.xn.error) / norm;
    const DoubleDouble tangent = nn - along * along;
    const Proposal p = proposal(task.kappa, static_cast<double>(task.dim - 1));
    double g = along.hi;
    double G = tangent.hi;
    settle(task.key, p, row, 1, &g, &G, draws);
    const CosineSine c = on_circle(cosine_of(p, g, G));
    const DoubleDouble along_n = c.sine / square_root(tangent);
    const DoubleDouble along_x = (c.cosine - along_n * along) / norm;
    return {total.scale, rounded(along_x), rounded(along_n)};
}

template <class Real>
void combine(const VmfTask<Real>& task, std::size_t row, const VmfLine& line, std::size_t begin,
             std::size_t end) {
    const Real* direction = task.direction + row * task.stride;
    Real* out = task.out + row * task.dim;
    const double scale = line.scale;
    const double along_x = line.along_x;
    const double along_n = line.along_n;
    const auto write = [=](const Real* normals, std::size_t first, std::size_t n) {
        const Real* x = direction + first;
        Real* y = out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double scaled = static_cast<double>(x[i]) * scale;
            y[i] = static_cast<Real>(along_x * scaled + along_n * static_cast<double>(normals[i]));
        }
    };
    if (task.in_place) {
        for_each_normal(task, row, begin, end, write);
    } else {
        write(out + begin, begin, end - begin);
    }
}

template <class Real>
constexpr VmfKernels<Real> kKernels = {short_rows<Real>,   project<Real>, add_parts,
                                       scale_of_row<Real>, choose<Real>,  combine<Real>};

}  // namespace

extern const VmfKernelTable TIGHTNOISE_AT_LEVEL(vmf_sampling_kernels) = {kKernels<double>,
                                                                         kKernels<float>};

}  // namespace tightnoise
