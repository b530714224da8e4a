#include "numeric/special_kernels.hpp"

#include "numeric/bessel.hpp"
#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"
#include "numeric/lanes.hpp"
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
        if (output_.is_float32) round_into(begin, n);
    }

  private:
    // Not inline, as the conversion of operands.
    __attribute__((noinline)) void round_into(std::size_t begin, std::size_t n) {
        float* to = static_cast<float*>(output_.data) + begin;
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<float>(buffer_[i]);
    }

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

template <double (*F)(double, double)>
void apply_binary(const double* u, const double* v, double* y, std::size_t n) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = F(u[i], v[i]);
}

// One form everywhere, then the other one where it is needed. `y` may be `nu` or `x`.
void apply_log_iv(const double* nu, const double* x, double* y, std::size_t n) {
    std::size_t where[kChunk];
    double orders[kChunk];
    double arguments[kChunk];
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        where[count] = i;
        orders[count] = nu[i];
        arguments[count] = x[i];
        count += is_settled(nu[i], x[i]) ? 0 : 1;
    }
    apply_binary<log_iv_settled>(nu, x, y, n);
    apply_binary<log_iv_unsettled>(orders, arguments, arguments, count);
    for (std::size_t k = 0; k < count; ++k) y[where[k]] = arguments[k];
}

template <void (*Apply)(const double*, const double*, double*, std::size_t)>
void map_binary(const Operand& u, const Operand& v, const Output& y, std::size_t begin,
                std::size_t n) {
    OperandBlock<kChunk> from_u;
    OperandBlock<kChunk> from_v;
    OutputBlock to(y);
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        Apply(from_u.load(u, begin + offset, m), from_v.load(v, begin + offset, m),
              to.at(begin + offset), m);
        to.store(begin + offset, m);
    });
}

void map_log_sphere_mean_rise(const Operand& nu, const Operand& x, const Operand& increase,
                              const Output& y, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from_nu;
    OperandBlock<kChunk> from_x;
    OperandBlock<kChunk> from_increase;
    OutputBlock to(y);
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* order = from_nu.load(nu, begin + offset, m);
        const double* lower = from_x.load(x, begin + offset, m);
        const double* width = from_increase.load(increase, begin + offset, m);
        double* result = to.at(begin + offset);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) {
            result[i] = log_sphere_mean_rise(order[i], lower[i], width[i]);
        }
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

// Data in DRAM is asked for this far ahead.
constexpr std::size_t kPrefetchBytes = 2048;

// One register of T at this level.
template <class T>
struct Wide {
    typedef T Vector __attribute__((vector_size(sizeof(Lanes))));
    static constexpr std::size_t kCount = sizeof(Lanes) / sizeof(T);
};

// Two chains of comparisons and sums, for each step waits for the one before it.
template <class T>
double magnitude_of(const T* x, std::size_t n) {
    using Vector = typename Wide<T>::Vector;
    constexpr std::size_t count = Wide<T>::kCount;
    Vector largest[2] = {};
    Vector poison[2] = {};  // NaN from 0 * infinity and 0 * NaN, which comparisons do not see
    std::size_t i = 0;
    for (; i + 2 * count <= n; i += 2 * count) {
        __builtin_prefetch(reinterpret_cast<const char*>(x + i) + kPrefetchBytes);
        __builtin_prefetch(reinterpret_cast<const char*>(x + i) + kPrefetchBytes + sizeof(Lanes));
        for (std::size_t chain = 0; chain < 2; ++chain) {
            Vector v;
            std::memcpy(&v, x + i + chain * count, sizeof v);
            const Vector a = v > -v ? v : -v;
            largest[chain] = a > largest[chain] ? a : largest[chain];
            poison[chain] += a * T(0);
        }
    }
    double result = 0.0;
    auto add = [&result](double a) { result = (a > result ? a : result) + 0.0 * a; };
    for (std::size_t lane = 0; lane < count; ++lane) {
        add(static_cast<double>(largest[0][lane]) + static_cast<double>(poison[0][lane]));
        add(static_cast<double>(largest[1][lane]) + static_cast<double>(poison[1][lane]));
    }
    for (; i < n; ++i) add(std::fabs(static_cast<double>(x[i])));
    return result;
}

double block_magnitude(const Operand& x, std::size_t begin, std::size_t n) {
    return x.is_float32 ? magnitude_of(static_cast<const float*>(x.data) + begin, n)
                        : magnitude_of(static_cast<const double*>(x.data) + begin, n);
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
    map<apply<exp>>,
    map<apply<log>>,
    map<apply<log1p>>,
    map<apply<expm1>>,
    map<apply<expm1mx>>,
    map<apply_erfcx>,
    map<apply<ndtr>>,
    map<apply<log_ndtr>>,
    map<apply<hazard>>,
    map<apply<mills>>,
    map<apply<ndtri>>,
    map<apply<ndtri_exp>>,
    map_binary<apply_binary<log_ndtr_diff>>,
    map_binary<apply_binary<iv_ratio>>,
    map_binary<apply_binary<iv_ratio_complement>>,
    map_binary<apply_log_iv>,
    map_binary<apply_binary<log_sphere_mean>>,
    map_binary<apply_binary<log_peak_to_mean>>,
    map_log_sphere_mean_rise,
    sum,
    combine_sums,
    block_magnitude,
    block_maximum,
    maximum,
    block_sum_of_exp,
    combine_log_sum_exp,
};

}  // namespace tightnoise
