#include "mechanisms/grid_kernels.hpp"

#include <cstring>

#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/grid_cells.hpp"
#include "mechanisms/ideal_release.hpp"
#include "random/ideal_normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

// The integer nearest to t = rest + s z, and how far t may be from it: certain below 1/2.
template <class Real>
struct Rounded {
    Real q;
    Real reach;
};
template <class Real>
inline Rounded<Real> round_cell(Real rest, Real s, Real z, Real square, Real slack) {
    using E = NormalError<Real>;
    const Real t = rest + s * z;
    const Real q = small_nearest(t);
    return {q, std::fabs(t - q) + (s * (E::kSquare * square + E::kConstant) + slack)};
}

// 0 if both elements are certain, else 1. (NaN is not below 1/2.)
template <class Real>
inline Real doubt_of(const box_muller::Pair<Real>& pair, Real reach, Real other) {
    using E = NormalError<Real>;
    Real doubt = reach < Real(0.5) ? Real(0) : Real(1);
    doubt = other < Real(0.5) ? doubt : Real(1);
    doubt = pair.u >= E::kLeast ? doubt : Real(1);
    return pair.square >= E::kLeastSquare ? doubt : Real(1);
}

// Noise of a batch in cells, s = sigma / step.
template <class Real>
class NormalCells {
    static constexpr std::size_t kN = kBatch<Real>;
    static constexpr std::size_t kPairs = kN / 2;
    using Word = typename box_muller::Bits<Real>::Word;

  public:
    // Writes K - whole of the batch of elements first, first + 1, ... to q.
    void draw(const std::uint32_t* keystream, const GridTask<Real>& task, const Cells<Real>& cells,
              std::size_t first, std::size_t n, Real* q) {
        load_sigma(task, cells, first, n);
        std::memcpy(words_, keystream, sizeof words_);
        const Real* rest = cells.rest();
        const Real* s = s_;
        const Word* words = words_;
        const Real slack = grid::slack<Real>(task.refine_all);
        alignas(64) Real doubt[kPairs];
        Real worst = 0;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = 0; i < kPairs; ++i) {
            const auto pair = box_muller::pair_of<Real>(words[i], words[kPairs + i]);
            const auto a = round_cell(rest[i], s[i], pair.first, pair.square, slack);
            const auto b =
                round_cell(rest[kPairs + i], s[kPairs + i], pair.second, pair.square, slack);
            q[i] = a.q;
            q[kPairs + i] = b.q;
            const Real here = doubt_of(pair, a.reach, b.reach);
            doubt[i] = here;
            worst = here > worst ? here : worst;
        }
        if (worst == Real(0)) return;
        for (std::size_t i = 0; i < kPairs && i < n; ++i) {
            if (doubt[i] != Real(0)) settle(i, task, cells, first, n, q);
        }
    }

  private:
    void load_sigma(const GridTask<Real>& task, const Cells<Real>& cells, std::size_t first,
                    std::size_t n) {
        if (!first_ && task.sigma.is_scalar && task.step.is_scalar) return;
        first_ = false;
        const double* sigma = sigma_block_.load(task.sigma, first, n);
        for (std::size_t i = 0; i < kN; ++i) {
            exact_s_[i] = i < n ? sigma[i] * static_cast<double>(cells.inverse_step()[i]) : 1.0;
            s_[i] = static_cast<Real>(exact_s_[i]);
        }
    }

    // With 64-bit words where the batch has fewer, then with all bits.
    __attribute__((noinline)) void settle(std::size_t i, const GridTask<Real>& task,
                                          const Cells<Real>& cells, std::size_t first,
                                          std::size_t n, Real* q) const {
        const std::size_t k = kPairs + i;
        // Position of the pair's first word.
        const std::uint64_t number = first + i;
        const chacha20::Block block = refinement_block(task.key, number);
        const PairWords words = full_words(words_[i], words_[k], block);
        if constexpr (sizeof(Real) < sizeof(double)) {
            const double slack = grid::slack<double>(task.refine_all);
            const auto pair = box_muller::pair_of<double>(words.radius, words.angle);
            const auto a =
                round_cell<double>(cells.rest()[i], exact_s_[i], pair.first, pair.square, slack);
            const auto b =
                round_cell<double>(cells.rest()[k], exact_s_[k], pair.second, pair.square, slack);
            if (doubt_of(pair, a.reach, b.reach) == 0.0) {
                q[i] = static_cast<Real>(a.q);
                q[k] = static_cast<Real>(b.q);
                return;
            }
        }
        const auto element = [&](std::size_t e) {
            const double low = e < n ? cells.low(task, first + e, e) : 0.0;
            return IdealElement{cells.rest()[e], low, 0.0, exact_s_[e]};
        };
        const NearestPair both = ideal_nearest({task.key, number, words.radius, words.angle},
                                               element(i), element(k), 1.0, 1.0);
        q[i] = static_cast<Real>(both.first);
        q[k] = static_cast<Real>(both.second);
    }

    bool first_ = true;
    OperandBlock<kN> sigma_block_;
    alignas(64) double exact_s_[kN];
    alignas(64) Real s_[kN];
    alignas(64) Word words_[kN];
};

template <class Real, class Write>
inline void for_each_normal_batch(const GridTask<Real>& task, std::size_t begin, std::size_t end,
                                  Write&& write) {
    constexpr std::size_t kN = kBatch<Real>;
    chacha20::Keystream stream(task.key, begin / kN);
    Cells<Real> cells;
    NormalCells<Real> noise;
    alignas(64) Real q[kN];
    for (std::size_t first = begin; first < end; first += kN) {
        const std::size_t n = end - first < kN ? end - first : kN;
        cells.load(task, first, n);
        noise.draw(stream.next_batch(), task, cells, first, n, q);
        write(cells, q, first, n);
    }
}

template <class Real>
void gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_normal_batch(task, begin, end,
                          [&](const Cells<Real>& cells, const Real* q, std::size_t first,
                              std::size_t n) { cells.write(q, task, first, n); });
}

template <class Real>
void rectified_gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    Bounds<Real> bounds;
    for_each_normal_batch(
        task, begin, end,
        [&](const Cells<Real>& cells, const Real* q, std::size_t first, std::size_t n) {
            bounds.load(task, cells, first, n);
            bounds.write(cells, q, task, first, n);
        });
}

template <class Real>
constexpr GridSamplers<Real> kSamplers = {gaussian<Real>, rectified_gaussian<Real>};

}  // namespace grid
}  // namespace

extern const GridKernels TIGHTNOISE_AT_LEVEL(grid_kernels) = {grid::kSamplers<double>,
                                                              grid::kSamplers<float>};

}  // namespace tightnoise
