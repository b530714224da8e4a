#include "sketch/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "numeric/compensated_sum.hpp"
#include "runtime/parallel.hpp"
#include "sketch/moment_kernels.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = 2048;  // 16 KB of float64: stays in the first-level cache
constexpr std::size_t kMinTask = std::size_t{1} << 16;
constexpr std::size_t kMaxTasks = 64;  // bounds the memory that the tasks' tables take
constexpr std::size_t kMaxMoments = 32;

static_assert(kBinRun % kBlock == 0, "a run is whole blocks");

struct AlignedDelete {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Table = std::unique_ptr<double[], AlignedDelete>;

Table new_table() {
    auto* data =
        static_cast<double*>(::operator new[](kTableSize * sizeof(double), std::align_val_t{64}));
    std::fill_n(data, kTableSize, 0.0);
    return Table(data);
}

// What one task found in its part of theta.
struct Part {
    CompensatedSum interval[kMaxMoments];
    std::vector<double> powers;  // (kTableRows, kBinMoments), or empty: no block needed bins
    Extent extent = {std::numeric_limits<double>::infinity(), 0.0};
    bool finite = true;
    // A copy has an eighth of a task: no row overflows while theta has less than 2^41 elements.
    std::uint32_t counts[kCountCopies * kCounts] = {};
};

void widen(Extent& extent, const Extent& by) {
    extent.least = std::min(extent.least, by.least);
    extent.greatest = std::max(extent.greatest, by.greatest);
}

class Task {
  public:
    Task(const MomentRequest& request, Part& part) : request_(request), part_(part) {}

    void run(std::size_t begin, std::size_t end) {
        const std::size_t width = request_.theta.is_float32 ? sizeof(float) : sizeof(double);
        const auto* theta = static_cast<const char*>(request_.theta.data);
        for (; begin < end; begin += kBlock) {
            const std::size_t n = std::min(kBlock, end - begin);
            const char* block = theta + begin * width;
            const Extent extent = moment_kernels().distances(block, request_.theta.is_float32, n,
                                                             request_.centre, t_);
            widen(part_.extent, extent);
            moment_kernels().count(t_, n, request_.count_scale, part_.counts, block + n * width,
                                   width);
            if (request_.chebyshev > 0 && extent.greatest <= request_.half_width) {
                add_to_interval(n);
            } else {
                add_to_bins(n, extent.greatest);
            }
        }
        flush();
    }

  private:
    void add_to_interval(std::size_t n) {
        double sums[kMaxMoments];
        moment_kernels().chebyshev(t_, n, request_.half_width, request_.chebyshev, sums);
        for (std::size_t k = 0; k < request_.chebyshev; ++k) add(part_.interval[k], sums[k]);
    }

    void add_to_bins(std::size_t n, double greatest) {
        if (!table_) {
            table_ = new_table();
            part_.powers.assign(kTableRows * kBinMoments, 0.0);
        }
        moment_kernels().bins(t_, n, request_.bin_scale, table_.get());
        part_.finite = part_.finite && std::isfinite(greatest);
        run_rows_ = std::max(run_rows_, rows_up_to(greatest));
        run_length_ += n;
        if (run_length_ >= kBinRun) flush();
    }

    // The number of rows that elements with distances of at most t can be in.
    std::size_t rows_up_to(double t) const {
        const double y = 1.0 + t / request_.bin_scale;
        if (!(y < std::ldexp(1.0, static_cast<int>(kBinOctaves)))) return kTableRows;
        const int octave = std::ilogb(y);
        const double place = std::ldexp(y, -octave) - 1.0;
        const auto per_octave = static_cast<double>(kBinsPerOctave);
        // One more: y is rounded here and there.
        return static_cast<std::size_t>(octave * per_octave + place * per_octave) + 2;
    }

    void flush() {
        if (run_length_ == 0) return;
        constexpr std::size_t copy = kTableRows * kBinMoments;
        const std::size_t size = std::min(run_rows_, kTableRows) * kBinMoments;
        double* table = table_.get();
        for (std::size_t i = 0; i < size; ++i) {
            part_.powers[i] +=
                (table[i] + table[copy + i]) + (table[2 * copy + i] + table[3 * copy + i]);
        }
        for (std::size_t j = 0; j < kTableCopies; ++j) std::fill_n(table + j * copy, size, 0.0);
        run_length_ = 0;
        run_rows_ = 0;
    }

    const MomentRequest& request_;
    Part& part_;
    alignas(64) double t_[kBlock];
    Table table_;
    std::size_t run_length_ = 0;  // elements in the table
    std::size_t run_rows_ = 0;    // rows that they can be in
};

// T_k in powers of x.
constexpr double kChebyshevInPowers[kBinMoments][kBinMoments] = {
    {1, 0, 0, 0, 0, 0, 0, 0},      {0, 1, 0, 0, 0, 0, 0, 0},      {-1, 0, 2, 0, 0, 0, 0, 0},
    {0, -3, 0, 4, 0, 0, 0, 0},     {1, 0, -8, 0, 8, 0, 0, 0},     {0, 5, 0, -20, 0, 16, 0, 0},
    {-1, 0, 18, 0, -48, 0, 32, 0}, {0, -7, 0, 56, 0, -112, 0, 64}};

}  // namespace

MomentSummary moments(const MomentRequest& request, double* interval, double* bins,
                      double* counts) {
    const std::size_t tasks = std::clamp<std::size_t>(request.n / kMinTask, 1, kMaxTasks);
    const std::size_t blocks = (request.n + kBlock - 1) / kBlock;
    std::vector<Part> parts(tasks);
    parallel_blocks(tasks, [&](std::size_t task) {
        const std::size_t begin = std::min(request.n, blocks * task / tasks * kBlock);
        const std::size_t end = std::min(request.n, blocks * (task + 1) / tasks * kBlock);
        Task(request, parts[task]).run(begin, end);
    });

    MomentSummary summary = {std::numeric_limits<double>::infinity(), 0.0, 0, true};
    CompensatedSum total[kMaxMoments];
    std::vector<double> powers(kTableRows * kBinMoments, 0.0);
    std::fill_n(counts, kCounts, 0.0);
    for (const Part& part : parts) {
        for (std::size_t k = 0; k < request.chebyshev; ++k) {
            add(total[k], part.interval[k].sum);
            add(total[k], part.interval[k].error);
        }
        for (std::size_t i = 0; i < part.powers.size(); ++i) powers[i] += part.powers[i];
        summary.least = std::min(summary.least, part.extent.least);
        summary.greatest = std::max(summary.greatest, part.extent.greatest);
        summary.finite = summary.finite && part.finite;
        for (std::size_t j = 0; j < kCountCopies; ++j) {
            for (std::size_t i = 0; i < kCounts; ++i) counts[i] += part.counts[j * kCounts + i];
        }
    }
    for (std::size_t k = 0; k < request.chebyshev; ++k) interval[k] = value(total[k]);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double* row = powers.data() + bin * kBinMoments;
        for (std::size_t k = 0; k < kBinMoments; ++k) {
            double sum = 0.0;
            for (std::size_t j = 0; j <= k; ++j) sum += kChebyshevInPowers[k][j] * row[j];
            bins[bin * kBinMoments + k] = sum;
        }
    }
    summary.outside = static_cast<std::size_t>(powers[kBins * kBinMoments]);
    return summary;
}

}  // namespace tightnoise
