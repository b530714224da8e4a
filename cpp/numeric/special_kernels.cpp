#include "numeric/special_kernels.hpp"

#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"
#include "numeric/log_sum_exp.hpp"
#include "numeric/normal.hpp"
#include "numeric/normal_interval.hpp"
#include "numeric/normal_quantile.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kChunk = 1024;  // stays in the first-level cache

// body(offset, m) for pieces of at most kChunk of n elements.
template <class Body>
void in_chunks(std::size_t n, Body body) {
    for (std::size_t offset = 0; offset < n; offset += kChunk) {
        body(offset, n - offset < kChunk ? n - offset : kChunk);
    }
}

// Where a chunk of results goes: into a float64 array directly, into a float32 one by a buffer.
class OutputBlock {
  public:
    explicit OutputBlock(const Output& output) : output_(output) {}

    double* at(std::size_t begin) {
        return output_.is_float32 ? buffer_ : static_cast<double*>(output_.data) + begin;
    }

    void store(std::size_t begin, std::size_t n) {
        if (!output_.is_float32) return;
        float* to = static_cast<float*>(output_.data) + begin;
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<float>(buffer_[i]);
    }

  private:
    Output output_;
    double buffer_[kChunk];
};

template <double (*F)(double)>
void apply(const double* x, double* y, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = F(x[i]);
}

void apply_erfcx(const double* x, double* y, std::size_t n) {
    double least = 0.0;
#pragma omp simd reduction(min : least)
    for (std::size_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least;
    // Without negative arguments no exponential is needed: 2.5 times faster.
    (least < 0.0 ? apply<erfcx> : apply<erfcx_positive>)(x, y, n);
}

template <void (*Apply)(const double*, double*, std::size_t)>
void map(const Operand& x, const Output& y, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    OutputBlock to(y);
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        Apply(from.load(x, begin + offset, m), to.at(begin + offset), m);
        to.store(begin + offset, m);
    });
}

void map_log_ndtr_diff(const Operand& u, const Operand& v, const Output& y, std::size_t begin,
                       std::size_t n) {
    OperandBlock<kChunk> from_u;
    OperandBlock<kChunk> from_v;
    OutputBlock to(y);
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* lower = from_u.load(u, begin + offset, m);
        const double* upper = from_v.load(v, begin + offset, m);
        double* result = to.at(begin + offset);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) result[i] = log_ndtr_diff(lower[i], upper[i]);
        to.store(begin + offset, m);
    });
}

PartialSum sum(const Operand& x, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    CompensatedSum total;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* values = from.load(x, begin + offset, m);
        add(total, compensated_sum(m, [=](std::size_t i) { return values[i]; }));
    });
    return {total.sum, total.error};
}

CompensatedSum combine(const PartialSum* blocks, std::size_t n) {
    CompensatedSum total;
    for (std::size_t i = 0; i < n; ++i) add(total, CompensatedSum{blocks[i].sum, blocks[i].error});
    return total;
}

double combine_sums(const PartialSum* blocks, std::size_t n) {
    return value(combine(blocks, n));
}

double block_magnitude(const Operand& x, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    double largest = 0.0;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* values = from.load(x, begin + offset, m);
        double here = 0.0;
        double poison = 0.0;  // NaN from 0 * infinity and 0 * NaN, which comparisons do not see
#pragma omp simd reduction(max : here) reduction(+ : poison)
        for (std::size_t i = 0; i < m; ++i) {
            const double a = std::fabs(values[i]);
            here = a > here ? a : here;
            poison += 0.0 * a;
        }
        largest = (here > largest ? here : largest) + poison;
    });
    return largest;
}

double block_maximum(const Operand& x, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    double largest = -kInfinity;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double here = maximum(from.load(x, begin + offset, m), m);
        largest = here > largest ? here : largest;
    });
    return largest;
}

PartialSum block_sum_of_exp(const Operand& x, double largest, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    CompensatedSum total;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        add(total, sum_of_exp(from.load(x, begin + offset, m), m, log_sum_exp_shift(largest)));
    });
    return {total.sum, total.error};
}

double combine_log_sum_exp(const PartialSum* blocks, double largest, std::size_t n) {
    return log_sum_exp(combine(blocks, n), log_sum_exp_shift(largest));
}

}  // namespace

extern const SpecialKernels TIGHTNOISE_AT_LEVEL(special_kernels) = {
    map<apply<exp>>,     map<apply<log>>,
    map<apply<log1p>>,   map<apply<expm1>>,
    map<apply<expm1mx>>, map<apply_erfcx>,
    map<apply<ndtr>>,    map<apply<log_ndtr>>,
    map<apply<hazard>>,  map<apply<mills>>,
    map<apply<ndtri>>,   map<apply<ndtri_exp>>,
    map_log_ndtr_diff,   sum,
    combine_sums,        block_magnitude,
    block_maximum,       maximum,
    block_sum_of_exp,    combine_log_sum_exp,
};

}  // namespace tightnoise
