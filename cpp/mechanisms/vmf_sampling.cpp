#include "mechanisms/vmf_sampling.hpp"

#include <algorithm>

#include "random/erase.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kSerialBelow = 100000;
constexpr std::size_t kChunk = std::size_t{1} << 14;
constexpr std::size_t kMaxParts = 64;
constexpr std::size_t kStack = std::size_t{64} << 10;  // the deepest, of short rows, takes 57 KB
static_assert(kChunk % kVmfAlignment == 0, "parts begin with a batch");

// Into how many parts the sums of a row are cut: its length alone says.
std::size_t part_count(std::size_t dim) {
    return dim < kSerialBelow ? 1 : std::clamp<std::size_t>(dim / kChunk, 1, kMaxParts);
}

template <class Real>
class LongRow {
  public:
    LongRow(const VmfKernels<Real>& kernels, const VmfTask<Real>& task, std::size_t row)
        : kernels_(kernels), task_(task), row_(row), parts_(part_count(task.dim)) {}

    void sample(VmfDraws& draws) {
        VmfSums total = project(1.0);
        const double scale = kernels_.scale(task_, row_, total);
        if (scale != 1.0) total = project(scale);
        const VmfLine line = kernels_.choose(task_, row_, total, draws);
        parallel_blocks(parts_, [&](std::size_t part) {
            kernels_.combine(task_, row_, line, begin(part), begin(part + 1));
            if (parts_ > 1) erase_stack_below<kStack>();  // that of another thread
        });
    }

  private:
    std::size_t begin(std::size_t part) const {
        const std::size_t batches = (task_.dim + kVmfAlignment - 1) / kVmfAlignment;
        return std::min(task_.dim, batches * part / parts_ * kVmfAlignment);
    }

    VmfSums project(double scale) const {
        VmfSums sums[kMaxParts];
        parallel_blocks(parts_, [&](std::size_t part) {
            sums[part] = kernels_.project(task_, row_, scale, begin(part), begin(part + 1));
            if (parts_ > 1) erase_stack_below<kStack>();
        });
        return kernels_.add(sums, parts_);
    }

    const VmfKernels<Real>& kernels_;
    const VmfTask<Real>& task_;
    std::size_t row_;
    std::size_t parts_;
};

template <class Real>
void sample_rows(const VmfKernels<Real>& kernels, const VmfTask<Real>& task, std::size_t first,
                 std::size_t last) {
    if (task.dim <= kVmfShort) {
        kernels.short_rows(task, first, last);
        return;
    }
    VmfDraws draws;
    for (std::size_t row = first; row < last; ++row) {
        LongRow<Real>(kernels, task, row).sample(draws);
    }
}

// Threads share the rows, or each row if it is long.
template <class Real>
void sample(const VmfKernels<Real>& kernels, const VmfTask<Real>& task, std::size_t rows) {
    const std::size_t each =
        rows * task.dim < kSerialBelow || task.dim >= kSerialBelow
            ? rows
            : std::max(kChunk / task.dim, kVmfSharing) / kVmfSharing * kVmfSharing;
    if (rows == 0) return;
    parallel_blocks((rows + each - 1) / each, [&](std::size_t block) {
        sample_rows(kernels, task, block * each, std::min(rows, (block + 1) * each));
        erase_stack_below<kStack>();
    });
}

}  // namespace

void sample_von_mises_fisher(const VmfTask<double>& task, std::size_t rows) {
    sample(vmf_sampling_kernels().float64, task, rows);
}

void sample_von_mises_fisher(const VmfTask<float>& task, std::size_t rows) {
    sample(vmf_sampling_kernels().float32, task, rows);
}

}  // namespace tightnoise
