// Von Mises-Fisher samples of few coordinates, eight rows side by side. Kernel-side header:
// internal linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstring>

#include "mechanisms/vmf_range.hpp"
#include "mechanisms/vmf_rejection.hpp"
#include "numeric/compensated_sum.hpp"
#include "numeric/octet.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

// Rows side by side: coordinate i of row k is a[8 i + k].
inline Octet dot(const double* a, const double* b, std::size_t dim) {
    Octet sum{};
    for (std::size_t i = 0; i < dim; ++i) {
        sum += load_octet(a + kOctet * i) * load_octet(b + kOctet * i);
    }
    return sum;
}

// Makes them a - factor b.
inline void subtract(double* a, const Octet& factor, const double* b, std::size_t dim) {
    for (std::size_t i = 0; i < dim; ++i) {
        store(a + kOctet * i, load_octet(a + kOctet * i) - factor * load_octet(b + kOctet * i));
    }
}

// |y|^2 - 1 to 1e-20, for |y| next to 1: y = h + l with h^2 exact, and 2 h l + l^2 small.
inline Octet excess_of_norm(const double* y, std::size_t dim) {
    CompensatedSumOf<Octet> leading;
    Octet rest{};
    for (std::size_t i = 0; i < dim; ++i) {
        const Octet whole = load_octet(y + kOctet * i);
        const Octet h = upper_half(whole);
        add(leading, h * h);
        rest += (whole - h) * (whole + h);
    }
    const Octet less_1 = each([](Lanes sum) { return sum - 1.0; }, leading.sum);
    return (less_1 + leading.error) + rest;
}

// The normals of a key one after another, in whole octets. Fill::normals makes those of a batch.
template <class Fill>
class Normals {
  public:
    Normals(const NoiseKey& key, std::uint64_t batch)
        : key_(key), batch_(batch), stream_(key, batch) {}

    void take(double* to, std::size_t octets) {
        for (std::size_t i = 0; i < octets; ++i) {
            if (used_ == box_muller::kBatch<double>) refill();
            store(to + kOctet * i, load_octet(z_ + used_));
            used_ += kOctet;
        }
    }

  private:
    void refill() {
        Fill::normals(key_, batch_++, stream_.next_batch(), z_);
        used_ = 0;
    }

    const NoiseKey& key_;
    std::uint64_t batch_;
    chacha20::Keystream stream_;
    std::size_t used_ = box_muller::kBatch<double>;
    alignas(64) double z_[box_muller::kBatch<double>];
};

struct PlainNormals {
    static void normals(const NoiseKey&, std::uint64_t, const std::uint32_t* keystream, double* z) {
        box_muller::normals_of(keystream, z);
    }
};

constexpr std::size_t kInFlight = kOctet * kVmfShort;  // coordinates

// How many rows are sampled together: as many octets as have at most kInFlight coordinates.
inline std::size_t rows_together(std::size_t dim) {
    const std::size_t rows = kInFlight / dim / kOctet * kOctet;
    return rows < kTogether ? rows : kTogether;
}

template <class Real>
class ShortRows {
  public:
    explicit ShortRows(const VmfTask<Real>& task)
        : task_(task),
          proposal_(proposal(task.kappa, static_cast<double>(task.dim - 1))),
          sphere_(sphere_law(task.kappa)) {}

    void sample(std::size_t first, std::size_t rows, Normals<PlainNormals>& normals,
                VmfDraws& draws) {
        const std::size_t padded = (rows + (kOctet - 1)) / kOctet * kOctet;
        for (std::size_t at = 0; at < padded; at += kOctet) {
            const std::size_t count = rows - at < kOctet ? rows - at : kOctet;
            normals.take(tangent_ + at * task_.dim, task_.dim);
            load_directions(first + at, count, at);
            project(at);
        }
        choose(first, padded, draws);
        for (std::size_t at = 0; at < padded; at += kOctet) {
            const std::size_t count = rows - at < kOctet ? rows - at : kOctet;
            combine(at);
            write(first + at, count, tangent_ + at * task_.dim);
        }
    }

  private:
    // Divided by their norms. Zeros for kappa = 0, and for rows beyond the last.
    void load_directions(std::size_t row, std::size_t count, std::size_t at) {
        double* mu = mu_ + at * task_.dim;
        double* squares = directed_ + at;
        const std::size_t dim = task_.dim;
        const std::size_t stride = task_.stride;
        const Real* x = task_.direction + row * stride;
        if (count < kOctet || task_.kappa == 0.0) {
            std::memset(mu, 0, kOctet * dim * sizeof(double));
            std::memset(squares, 0, kOctet * sizeof(double));
        }
        if (task_.kappa == 0.0) return;
        for (std::size_t i = 0; i < dim; ++i) {
            for (std::size_t k = 0; k < count; ++k) {
                mu[kOctet * i + k] = static_cast<double>(x[k * stride + i]);
            }
        }
        store(squares, dot(mu, mu, dim));
        alignas(64) double inverse[kOctet];
        for (std::size_t k = 0; k < kOctet; ++k) {
            if (k < count && !in_range(squares[k])) squares[k] = rescale(x + k * stride, mu + k);
            inverse[k] = squares[k] == 0.0 ? 0.0 : 1.0 / std::sqrt(squares[k]);
        }
        const Octet factor = load_octet(inverse);
        for (std::size_t i = 0; i < dim; ++i) {
            store(mu + kOctet * i, load_octet(mu + kOctet * i) * factor);
        }
    }

    // Brings a direction into range; returns the sum of its squares.
    double rescale(const Real* x, double* mu) {
        const double scale = scale_of(x, task_.dim);
        double squares = 0.0;
        for (std::size_t i = 0; i < task_.dim; ++i) {
            const double scaled = static_cast<double>(x[i]) * scale;
            mu[kOctet * i] = scaled;
            squares += scaled * scaled;
        }
        return squares;
    }

    // Twice: where dim is small the tangent may be much shorter than n, and what rounding left of
    // mu in it would weigh.
    void project(std::size_t at) {
        const std::size_t dim = task_.dim;
        const double* mu = mu_ + at * dim;
        double* tangent = tangent_ + at * dim;
        const Octet once = dot(mu, tangent, dim);
        subtract(tangent, once, mu, dim);
        const Octet again = dot(mu, tangent, dim);
        subtract(tangent, again, mu, dim);
        store(along_ + at, once + again);
        store(squares_ + at, dot(tangent, tangent, dim));
    }

    // y = of_mu mu + of_tangent t. Without a direction y is t / |t|. With probability 1e-16 at
    // dim = 2 no tangent is left of n: the sample is mu or -mu then.
    void choose(std::size_t first, std::size_t rows, VmfDraws& draws) {
        alignas(64) double w[kTogether];
        alignas(64) double sine[kTogether];
        if (task_.dim == 3) {
            cosines_on_sphere(first, rows, draws, w, sine);
        } else {
            cosines(first, rows, draws, w, sine);
        }
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) {
            const double squares = squares_[i];
            const double of_tangent = (directed_[i] == 0.0 ? 1.0 : sine[i]) / std::sqrt(squares);
            const double end = w[i] < 0.0 ? -1.0 : 1.0;
            of_mu_[i] = squares == 0.0 ? end : w[i];
            of_tangent_[i] = squares == 0.0 ? 0.0 : of_tangent;
        }
    }

    void cosines(std::size_t first, std::size_t rows, VmfDraws& draws, double* w, double* sine) {
        const Proposal p = proposal_;
        alignas(64) double g[kTogether];
        alignas(64) double G[kTogether];
        std::memcpy(g, along_, rows * sizeof(double));
        std::memcpy(G, squares_, rows * sizeof(double));
        settle(task_.key, p, first, rows, g, G, draws);
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) {
            const Cosine c = cosine_of(p, g[i], G[i]);
            w[i] = c.w;
            sine[i] = c.sine;
        }
    }

    void cosines_on_sphere(std::size_t first, std::size_t rows, VmfDraws& draws, double* w,
                           double* sine) {
        const SphereLaw law = sphere_;
        alignas(64) std::uint64_t words[kTogether];
        for (std::size_t i = 0; i < rows; ++i) words[i] = first_word(task_.key, first + i, draws);
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) {
            const Cosine c = cosine_on_sphere(law, words[i]);
            w[i] = c.w;
            sine[i] = c.sine;
        }
    }

    // Leaves y where the tangent was, its norm corrected to the rounding of the coordinates.
    void combine(std::size_t at) {
        const std::size_t dim = task_.dim;
        const double* mu = mu_ + at * dim;
        double* y = tangent_ + at * dim;
        const Octet of_mu = load_octet(of_mu_ + at);
        const Octet of_tangent = load_octet(of_tangent_ + at);
        for (std::size_t i = 0; i < dim; ++i) {
            store(y + kOctet * i,
                  of_mu * load_octet(mu + kOctet * i) + of_tangent * load_octet(y + kOctet * i));
        }
        subtract(y, 0.5 * excess_of_norm(y, dim), y, dim);
    }

    void write(std::size_t row, std::size_t count, const double* y) {
        Real* out = task_.out + row * task_.dim;
        for (std::size_t i = 0; i < task_.dim; ++i) {
            for (std::size_t k = 0; k < count; ++k) {
                out[k * task_.dim + i] = static_cast<Real>(y[kOctet * i + k]);
            }
        }
    }

    const VmfTask<Real>& task_;
    Proposal proposal_;
    SphereLaw sphere_;
    alignas(64) double mu_[kInFlight];
    alignas(64) double tangent_[kInFlight];
    alignas(64) double directed_[kTogether];  // whether there is a direction
    alignas(64) double along_[kTogether];
    alignas(64) double squares_[kTogether];
    alignas(64) double of_mu_[kTogether];
    alignas(64) double of_tangent_[kTogether];
};

// `first` is a multiple of kVmfSharing.
template <class Real>
void short_rows(const VmfTask<Real>& task, std::size_t first, std::size_t last) {
    const std::size_t together = rows_together(task.dim);
    Normals<PlainNormals> normals(task.key, first / kVmfSharing * task.dim);
    VmfDraws draws;
    ShortRows<Real> rows(task);
    for (std::size_t row = first; row < last; row += together) {
        rows.sample(row, last - row < together ? last - row : together, normals, draws);
    }
}

}  // namespace
}  // namespace tightnoise
