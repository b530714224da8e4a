#include <algorithm>
#include <atomic>
#include <vector>

#include "mechanisms/vmf_grid_kernels.hpp"
#include "mechanisms/vmf_ideal_row.hpp"
#include "random/erase.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kSerialBelow = 100000;
constexpr std::size_t kChunk = std::size_t{1} << 14;
constexpr std::size_t kMaxParts = 64;
constexpr std::size_t kStack = std::size_t{96} << 10;  // the deepest, of short rows, takes 70 KB
static_assert(kChunk % kVmfAlignment == 0, "parts begin with a batch");

// Into how many parts the sums of a row are cut: its length alone says.
std::size_t part_count(std::size_t dim) {
    return dim < kSerialBelow ? 1 : std::clamp<std::size_t>(dim / kChunk, 1, kMaxParts);
}

// Element at which a part begins.
std::size_t part_begin(std::size_t dim, std::size_t part, std::size_t parts) {
    const std::size_t batches = (dim + kVmfAlignment - 1) / kVmfAlignment;
    return std::min(dim, batches * part / parts * kVmfAlignment);
}

// body(part, begin, end) for the parts of a row.
template <class Body>
void for_each_part(std::size_t dim, std::size_t parts, Body&& body) {
    parallel_blocks(parts, [&](std::size_t part) {
        body(part, part_begin(dim, part, parts), part_begin(dim, part + 1, parts));
        if (parts > 1) erase_stack_below<kStack>();  // that of another thread
    });
}

template <class Real, class Kernels>
VmfSums project(const Kernels& kernels, const VmfTask<Real>& task, std::size_t row, double scale) {
    const std::size_t parts = part_count(task.dim);
    VmfSums sums[kMaxParts];
    for_each_part(task.dim, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
        sums[part] = kernels.project(task, row, scale, begin, end);
    });
    return vmf_sampling_kernels().float64.add(sums, parts);
}

template <class Real>
void sample_long_row(const VmfKernels<Real>& kernels, const VmfTask<Real>& task, std::size_t row,
                     VmfDraws& draws) {
    VmfSums total = project(kernels, task, row, 1.0);
    const double scale = kernels.scale(task, row, total);
    if (scale != 1.0) total = project(kernels, task, row, scale);
    const VmfLine line = kernels.choose(task, row, total, draws);
    for_each_part(task.dim, part_count(task.dim),
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                      kernels.combine(task, row, line, begin, end);
                  });
}

// The direction is kept aside where the row goes in its place: it may be needed once more.
template <class Real>
void sample_long_row(const VmfGridKernels<Real>& kernels, VmfTask<Real> task, std::size_t row,
                     VmfDraws& draws) {
    std::vector<Real> direction;
    if (task.in_place) {
        const Real* x = task.direction + row * task.stride;
        direction.assign(x, x + task.dim);
        task.direction = direction.data();
        task.stride = 0;
    }
    const VmfSums total = project(kernels, task, row, kernels.scale(task, row));
    const VmfGridLine line = kernels.choose(task, row, total, draws);
    std::atomic<bool> is_open{false};
    for_each_part(task.dim, part_count(task.dim),
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                      if (!kernels.combine(task, row, line, begin, end)) is_open = true;
                  });
    if (is_open) write_ideal_row(task, row);
}

template <class Real>
void sample_short_rows(const VmfKernels<Real>& kernels, const VmfTask<Real>& task,
                       std::size_t first, std::size_t last) {
    kernels.short_rows(task, first, last);
}

template <class Real>
void sample_short_rows(const VmfGridKernels<Real>& kernels, const VmfTask<Real>& task,
                       std::size_t first, std::size_t last) {
    std::vector<unsigned char> open(last - first);
    kernels.short_rows(task, first, last, open.data());
    for (std::size_t row = first; row < last; ++row) {
        if (open[row - first]) write_ideal_row(task, row);
    }
}

template <class Kernels, class Real>
void sample_rows(const Kernels& kernels, const VmfTask<Real>& task, std::size_t first,
                 std::size_t last) {
    if (task.dim <= kVmfShort) return sample_short_rows(kernels, task, first, last);
    VmfDraws draws;
    for (std::size_t row = first; row < last; ++row) {
        sample_long_row(kernels, task, row, draws);
    }
}

// Threads share the rows, or each row if it is long.
template <class Kernels, class Real>
void sample(const Kernels& kernels, const VmfTask<Real>& task, std::size_t rows) {
    const std::size_t each =
        rows * task.dim < kSerialBelow || task.dim >= kSerialBelow
            ? rows
            : std::max(kChunk / task.dim, kVmfSharing) / kVmfSharing * kVmfSharing;
    if (rows == 0) return;
    parallel_ranges(rows, each, [&](std::size_t first, std::size_t last) {
        sample_rows(kernels, task, first, last);
        erase_stack_below<kStack>();
    });
}

}  // namespace

void sample_von_mises_fisher(const VmfTask<double>& task, std::size_t rows) {
    if (task.step != 0.0) return sample(vmf_grid_kernels().float64, task, rows);
    sample(vmf_sampling_kernels().float64, task, rows);
}

void sample_von_mises_fisher(const VmfTask<float>& task, std::size_t rows) {
    if (task.step != 0.0) return sample(vmf_grid_kernels().float32, task, rows);
    sample(vmf_sampling_kernels().float32, task, rows);
}

}  // namespace tightnoise
