#include "numeric/clipped_sum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/interruption.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 17;  // numbers: read twice, then from the cache
constexpr std::size_t kChunkRows = 4;                 // at least: a sum is stored so often less
constexpr std::size_t kColumns = 1024;                // their sums stay in the first-level cache
constexpr std::size_t kLeastRows = 16;  // a task: its own sums are small beside what it reads
constexpr std::size_t kLeastTask = std::size_t{1} << 17;

ClippedRows rows_of(const ClippedSum& problem) {
    int exponent = 0;
    const double mantissa = std::frexp(problem.bound, &exponent);
    const double shrunk = 1.0 - 0x1p-20;
    const double most = problem.bound / problem.unit;
    return {problem.rows,
            problem.is_float32,
            problem.width,
            problem.norm,
            std::ldexp(1.0, -exponent),
            mantissa * shrunk,
            most * shrunk,
            most};
}

void add_rows(const ClippedRows& rows, std::size_t begin, std::size_t end, std::int64_t* sums) {
    const ClippedSumKernels& kernels = clipped_sum_kernels();
    const std::size_t chunk = std::max(kChunkRows, kChunk / rows.width);
    std::vector<double> factors(std::min(chunk, end - begin));
    for (; begin < end; begin += chunk) {
        poll();
        const std::size_t stop = std::min(end, begin + chunk);
        kernels.factors(rows, begin, stop, factors.data());
        for (std::size_t first = 0; first < rows.width; first += kColumns) {
            const std::size_t last = std::min(rows.width, first + kColumns);
            kernels.add(rows, factors.data(), begin, stop, first, last, sums);
        }
    }
}

}  // namespace

void add_clipped(const ClippedSum& problem, std::int64_t* sums) {
    const std::size_t width = problem.width;
    if (width == 0) return;
    const ClippedRows rows = rows_of(problem);
    // Integers: how the rows are split up does not show.
    const std::size_t most =
        std::min(problem.count / kLeastRows, problem.count * width / kLeastTask);
    const std::size_t tasks =
        std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(num_threads()));
    std::vector<std::vector<std::int64_t>> parts(tasks);
    parallel_blocks(tasks, [&](std::size_t task) {
        if (task > 0) parts[task].assign(width, 0);
        add_rows(rows, problem.count * task / tasks, problem.count * (task + 1) / tasks,
                 task > 0 ? parts[task].data() : sums);
    });
    for (std::size_t task = 1; task < tasks; ++task) {
        for (std::size_t j = 0; j < width; ++j) sums[j] += parts[task][j];
    }
}

}  // namespace tightnoise
