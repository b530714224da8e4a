#include "mechanisms/vmf_grid_kernels.hpp"

#include <cmath>
#include <cstring>

#include "mechanisms/grid_cells.hpp"
#include "mechanisms/vmf_ideal_row.hpp"
#include "mechanisms/vmf_range.hpp"
#include "mechanisms/vmf_rejection.hpp"
#include "mechanisms/vmf_short_rows.hpp"
#include "mechanisms/vmf_sums.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

constexpr std::size_t kWide = box_muller::kBatch<double>;
static_assert(kVmfAlignment % kWide == 0, "parts begin with a batch");

// 1 where the float evaluation says nothing of t: off by at most `error`, which is below 1/2 or
// NaN.
inline double open_cell(double t, double q, double error) {
    return std::fabs(t - q) + error < 0.5 ? 0.0 : 1.0;
}

// Normals within kNormalError of the ideal ones.
struct NearIdeal {
    static void normals(const NoiseKey& key, std::uint64_t batch, const std::uint32_t* keystream,
                        double* z) {
        constexpr std::size_t kPairs = kWide / 2;
        alignas(64) std::uint64_t words[kWide];
        alignas(64) double far[kPairs];
        std::memcpy(words, keystream, sizeof words);
        double any = 0.0;
#pragma omp simd reduction(max : any)
        for (std::size_t i = 0; i < kPairs; ++i) {
            const auto pair = box_muller::pair_of<double>(words[i], words[kPairs + i]);
            z[i] = pair.first;
            z[kPairs + i] = pair.second;
            double is_far = pair.u >= kLeastUniform ? 0.0 : 1.0;
            is_far = pair.square >= kLeastSquare ? is_far : 1.0;
            far[i] = is_far;
            any = is_far > any ? is_far : any;
        }
        if (any == 0.0) return;
        for (std::size_t i = 0; i < kPairs; ++i) {
            if (far[i] == 0.0) continue;
            const RoundedPair pair =
                rounded_ideal_pair(key, batch * kWide + i, words[i], words[kPairs + i]);
            z[i] = pair.first;
            z[kPairs + i] = pair.second;
        }
    }
};

// --- long rows -----------------------------------------------------------------------------------

template <class Real>
inline std::uint64_t first_batch(const VmfTask<Real>& task, std::size_t row) {
    return std::uint64_t{row} * ((task.dim + kWide - 1) / kWide);
}

template <class Real>
double scale(const VmfTask<Real>& task, std::size_t row) {
    return scale_of(task.direction + row * task.stride, task.dim);
}

template <class Real>
VmfSums project(const VmfTask<Real>& task, std::size_t row, double scale, std::size_t begin,
                std::size_t end) {
    const Real* direction = task.direction + row * task.stride;
    Real* out = task.out + row * task.dim;
    std::uint64_t batch = first_batch(task, row) + begin / kWide;
    chacha20::Keystream stream(task.key, batch);
    ThreeSums sums;
    alignas(64) double z[kWide];
    alignas(64) Real last[kWide];
    for (std::size_t first = begin; first < end; first += kWide, ++batch) {
        NearIdeal::normals(task.key, batch, stream.next_batch(), z);
        const Real* x = direction + first;
        const std::size_t n = end - first < kWide ? end - first : kWide;
        if (n < kWide) {  // the end of the row: zeros up to the padding
            std::memcpy(last, x, n * sizeof(Real));
            for (std::size_t i = n; i < padded(n); ++i) last[i] = Real(0), z[i] = 0.0;
            x = last;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) out[first + i] = static_cast<Real>(z[i]);
        sums.add_batch(x, scale, z, padded(n));
    }
    return total_of(sums, scale);
}

template <class Real>
VmfGridLine choose(const VmfTask<Real>& task, std::size_t row, const VmfSums& total,
                   VmfDraws& draws) {
    const Accuracy& by = kLongRow;
    const bool is_directed = total.xx.sum != 0.0;
    const double norm = std::sqrt(total.xx.sum + total.xx.error);
    const double square = total.nn.sum + total.nn.error;
    const double first = static_cast<double>(task.out[row * task.dim]);
    const double along = is_directed ? (total.xn.sum + total.xn.error) / norm : first;
    const double tangent = square - along * along;
    const Proposal p = proposal(task.kappa, static_cast<double>(task.dim - 1));
    const double relative = relative_error(by, task.dim, std::sqrt(square));
    double g = along;
    double G = tangent;
    double v_error = cosine_error(relative);
    settle<true>(task.key, p, row, 1, &g, &G, &v_error, by, draws);
    const LineOnGrid line =
        line_on_grid(p, along, tangent, relative, g, G, v_error, is_directed, by);
    const double cells = 1.0 / task.step;
    const double of_x = is_directed ? (line.w - line.of_tangent * along) / norm : 0.0;
    const double error_of_x = is_directed ? line.error_of_mu / norm : 0.0;
    return {total.scale,
            of_x * cells,
            line.of_tangent * cells,
            error_of_x * cells,
            line.error_of_n * cells,
            line.error * cells + slack<double>(task.refine_all)};
}

// Writes the points of a batch; 0 if none of them is open. Normals may be those in `out`.
template <class Real, class Normal>
inline double write_points(const VmfGridLine& line, double error_of_n, double step, const Real* x,
                           const Normal* normals, Real* out) {
    double any = 0.0;
#pragma omp simd reduction(max : any)
    for (std::size_t i = 0; i < kWide; ++i) {
        const double of_direction = line.scale * static_cast<double>(x[i]);
        const double normal = static_cast<double>(normals[i]);
        const double t = line.of_x * of_direction + line.of_n * normal;
        const double q = small_nearest(t);
        const double error = line.error_of_x * std::fabs(of_direction) +
                             (error_of_n * std::fabs(normal) + line.error);
        const double open = open_cell(t, q, error);
        any = open > any ? open : any;
        out[i] = static_cast<Real>(step * q);
    }
    return any;
}

// The same where `out` holds normals that are rounded to its type: with those that are not, if need
// be.
template <class Real>
inline double write_batch(const VmfGridLine& line, const VmfTask<Real>& task, std::uint64_t batch,
                          const Real* x, Real* out) {
    if (sizeof(Real) == sizeof(double)) {
        return write_points(line, line.error_of_n, task.step, x, out, out);
    }
    const double rounding = 0x1.01p-24 * std::fabs(line.of_n);  // in cells
    if (write_points(line, line.error_of_n + rounding, task.step, x, out, out) == 0.0) return 0.0;
    chacha20::Keystream stream(task.key, batch);
    alignas(64) double z[kWide];
    NearIdeal::normals(task.key, batch, stream.next_batch(), z);
    return write_points(line, line.error_of_n, task.step, x, z, out);
}

template <class Real>
bool combine(const VmfTask<Real>& task, std::size_t row, const VmfGridLine& line, std::size_t begin,
             std::size_t end) {
    const Real* x = task.direction + row * task.stride;
    Real* out = task.out + row * task.dim;
    std::uint64_t batch = first_batch(task, row) + begin / kWide;
    double any = 0.0;
    std::size_t first = begin;
    for (; first + kWide <= end; first += kWide, ++batch) {
        any += write_batch(line, task, batch, x + first, out + first);
    }
    if (first < end) {
        alignas(64) Real last[kWide] = {}, points[kWide] = {};
        const std::size_t bytes = (end - first) * sizeof(Real);
        std::memcpy(last, x + first, bytes);
        std::memcpy(points, out + first, bytes);
        any += write_batch(line, task, batch, last, points);
        std::memcpy(out + first, points, bytes);
    }
    return any == 0.0;
}

// --- short rows ----------------------------------------------------------------------------------

// Rows that are sampled together, eight side by side, as by ShortRows.
template <class Real>
class Rows {
  public:
    explicit Rows(const VmfTask<Real>& task)
        : task_(task), proposal_(proposal(task.kappa, static_cast<double>(task.dim - 1))) {}

    void sample(std::size_t first, std::size_t rows, Normals<NearIdeal>& normals, VmfDraws& draws,
                unsigned char* open) {
        const std::size_t dim = task_.dim;
        const std::size_t octets = (rows + (kOctet - 1)) / kOctet * kOctet;
        for (std::size_t at = 0; at < octets; at += kOctet) {
            normals.take(tangent_ + at * dim, dim);
            load_directions(first + at, rows - at < kOctet ? rows - at : kOctet, at);
            project(at);
        }
        choose(first, octets, draws);
        for (std::size_t at = 0; at < octets; at += kOctet) {
            combine(at);
            for (std::size_t k = 0; k < kOctet && at + k < rows; ++k) {
                open[at + k] = open_[at + k] != 0.0 ? 1 : 0;
                if (!open[at + k]) write(first + at + k, tangent_ + at * dim + k);
            }
        }
    }

  private:
    // Divided by their norms. Zeros for rows beyond the last.
    void load_directions(std::size_t row, std::size_t count, std::size_t at) {
        const std::size_t dim = task_.dim;
        double* mu = mu_ + at * dim;
        if (count < kOctet) std::memset(mu, 0, kOctet * dim * sizeof(double));
        for (std::size_t k = 0; k < count; ++k) {
            const Real* x = task_.direction + (row + k) * task_.stride;
            const double scale = scale_of(x, dim);
            for (std::size_t i = 0; i < dim; ++i) {
                mu[kOctet * i + k] = static_cast<double>(x[i]) * scale;
            }
        }
        double* squares = directed_ + at;
        store(squares, dot(mu, mu, dim));
        alignas(64) double inverse[kOctet];
#pragma omp simd
        for (std::size_t k = 0; k < kOctet; ++k) {
            const double is_zero = squares[k] == 0.0 ? 1.0 : 0.0;
            inverse[k] = (1.0 - is_zero) / std::sqrt(squares[k] + is_zero);
        }
        const Octet factor = load_octet(inverse);
        for (std::size_t i = 0; i < dim; ++i) {
            store(mu + kOctet * i, load_octet(mu + kOctet * i) * factor);
        }
    }

    void project(std::size_t at) {
        const std::size_t dim = task_.dim;
        const double* mu = mu_ + at * dim;
        double* tangent = tangent_ + at * dim;
        const Octet along = dot(mu, tangent, dim);
        subtract(tangent, along, mu, dim);
        store(along_ + at, along);
        store(squares_ + at, dot(tangent, tangent, dim));
        for (std::size_t k = 0; k < kOctet; ++k) {
            const bool is_directed = directed_[at + k] != 0.0;
            const double first = tangent[k];
            along_[at + k] = is_directed ? along_[at + k] : first;
            squares_[at + k] -= is_directed ? 0.0 : first * first;
        }
    }

    void choose(std::size_t first, std::size_t rows, VmfDraws& draws) {
        const Accuracy by = kShortRow;
        const Proposal p = proposal_;
        const std::size_t dim = task_.dim;
        const double cells = 1.0 / task_.step;
        const double slack = grid::slack<double>(task_.refine_all);
        alignas(64) double g[kTogether];
        alignas(64) double G[kTogether];
        alignas(64) double v_error[kTogether];
        alignas(64) double relative[kTogether];
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) {
            g[i] = along_[i];
            G[i] = squares_[i];
            relative[i] = relative_error(by, dim, std::sqrt(g[i] * g[i] + G[i]));
            v_error[i] = cosine_error(relative[i]);
        }
        settle<true>(task_.key, p, first, rows, g, G, v_error, by, draws);
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) {
            const LineOnGrid line = line_on_grid(p, along_[i], squares_[i], relative[i], g[i], G[i],
                                                 v_error[i], directed_[i] != 0.0, by);
            of_mu_[i] = line.w * cells;
            of_tangent_[i] = line.of_tangent * cells;
            error_of_mu_[i] = line.error_of_mu * cells;
            error_of_tangent_[i] = line.error_of_n * cells;
            error_[i] = line.error * cells + slack;
        }
    }

    // Leaves the points where the tangent was, in cells.
    void combine(std::size_t at) {
        const double* mu = mu_ + at * task_.dim;
        double* tangent = tangent_ + at * task_.dim;
        double* open = open_ + at;
        for (std::size_t k = 0; k < kOctet; ++k) open[k] = 0.0;
        for (std::size_t i = 0; i < task_.dim; ++i, mu += kOctet, tangent += kOctet) {
#pragma omp simd
            for (std::size_t k = 0; k < kOctet; ++k) {
                const double t = of_mu_[at + k] * mu[k] + of_tangent_[at + k] * tangent[k];
                const double q = small_nearest(t);
                const double error =
                    error_of_mu_[at + k] * std::fabs(mu[k]) +
                    (error_of_tangent_[at + k] * std::fabs(tangent[k]) + error_[at + k]);
                open[k] += open_cell(t, q, error);
                tangent[k] = q;
            }
        }
    }

    void write(std::size_t row, const double* q) {
        Real* out = task_.out + row * task_.dim;
        for (std::size_t k = 0; k < task_.dim; ++k) {
            out[k] = static_cast<Real>(task_.step * q[kOctet * k]);
        }
    }

    const VmfTask<Real>& task_;
    Proposal proposal_;
    alignas(64) double mu_[kInFlight];
    alignas(64) double tangent_[kInFlight];
    alignas(64) double directed_[kTogether];  // whether there is a direction
    alignas(64) double along_[kTogether];
    alignas(64) double squares_[kTogether];
    alignas(64) double of_mu_[kTogether];
    alignas(64) double of_tangent_[kTogether];
    alignas(64) double error_of_mu_[kTogether];
    alignas(64) double error_of_tangent_[kTogether];
    alignas(64) double error_[kTogether];
    alignas(64) double open_[kTogether];
};

template <class Real>
void short_rows(const VmfTask<Real>& task, std::size_t first, std::size_t last,
                unsigned char* open) {
    const std::size_t together = rows_together(task.dim);
    Normals<NearIdeal> normals(task.key, first / kVmfSharing * task.dim);
    VmfDraws draws;
    Rows<Real> rows(task);
    for (std::size_t row = first; row < last; row += together) {
        rows.sample(row, last - row < together ? last - row : together, normals, draws,
                    open + (row - first));
    }
}

template <class Real>
constexpr VmfGridKernels<Real> kKernels = {short_rows<Real>, scale<Real>, project<Real>,
                                           choose<Real>, combine<Real>};

}  // namespace grid
}  // namespace

extern const VmfGridKernelTable TIGHTNOISE_AT_LEVEL(vmf_grid_kernels) = {grid::kKernels<double>,
                                                                         grid::kKernels<float>};

}  // namespace tightnoise
