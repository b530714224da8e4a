#include "mechanisms/grid_kernels.hpp"

#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/grid_cells.hpp"
#include "mechanisms/grid_normals.hpp"

namespace tightnoise {
namespace {
namespace grid {

// theta + sigma z in cells.
template <class Real>
class GaussianCells : public Cells<Real> {
    static constexpr std::size_t kN = kBatch<Real>;

  public:
    explicit GaussianCells(const GridTask<Real>& task) : task_(task) {}

    void load(std::size_t first, std::size_t n) {
        const bool shared = task_.sigma.is_scalar && task_.step.is_scalar && !is_new_;
        Cells<Real>::load(task_, first, n);
        first_ = first;
        n_ = n;
        if (shared) return;
        is_new_ = false;
        const double* sigma = sigma_block_.load(task_.sigma, first, n);
        for (std::size_t i = 0; i < kN; ++i) {
            precise_s_[i] = i < n ? sigma[i] * static_cast<double>(this->inverse_step()[i]) : 1.0;
            s_[i] = static_cast<Real>(precise_s_[i]);
        }
    }

    const Real* s() const { return s_; }
    double precise_rest(std::size_t i) const { return this->rest()[i]; }
    double precise_s(std::size_t i) const { return precise_s_[i]; }
    IdealElement ideal(std::size_t i) const {
        const double low = i < n_ ? this->low(task_, first_ + i, i) : 0.0;
        return {precise_rest(i), low, precise_s(i), 0.0, 1.0, 1.0};
    }

  private:
    const GridTask<Real>& task_;
    bool is_new_ = true;
    std::size_t first_ = 0;
    std::size_t n_ = 0;
    OperandBlock<kN> sigma_block_;
    alignas(64) double precise_s_[kN];
    alignas(64) Real s_[kN];
};

// Calls write(cells, q, first, n) with K - whole of every batch.
template <class Real, class Write>
inline void for_each_batch(const GridTask<Real>& task, std::size_t begin, std::size_t end,
                           Write&& write) {
    constexpr std::size_t kN = kBatch<Real>;
    chacha20::Keystream stream(task.key, begin / kN);
    GaussianCells<Real> cells(task);
    NormalBatch<false, Real, GaussianCells<Real>> noise(task.key, task.refine_all, 0.0);
    alignas(64) Real q[kN];
    for (std::size_t first = begin; first < end; first += kN) {
        const std::size_t n = end - first < kN ? end - first : kN;
        cells.load(first, n);
        noise.draw(stream.next_batch(), cells, first, n, q);
        write(cells, q, first, n);
    }
}

template <class Real>
void gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_batch(task, begin, end,
                   [&](const Cells<Real>& cells, const Real* q, std::size_t first, std::size_t n) {
                       cells.write(q, task, first, n);
                   });
}

template <class Real>
void rectified_gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    Bounds<Real> bounds;
    for_each_batch(task, begin, end,
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
