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

template <auto F, class... Arguments>
void apply(double* y, std::size_t n, const Arguments*... x) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = F(x[i]...);
}

void apply_erfcx(double* y, std::size_t n, const double* x) {
    double least = 0.0;
#pragma omp simd reduction(min : least)
    for (std::size_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least;
    // Without negative arguments no exponential is needed: 2.5 times faster.
    least < 0.0 ? apply<erfcx>(y, n, x) : apply<erfcx_positive>(y, n, x);
}

// One form everywhere, then the other one where it is needed. `y` may be `nu` or `x`.
void apply_log_iv(double* y, std::size_t n, const double* nu, const double* x) {
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
    apply<log_iv_settled>(y, n, nu, x);
    apply<log_iv_unsettled>(arguments, count, orders, arguments);
    for (std::size_t k = 0; k < count; ++k) y[where[k]] = arguments[k];
}

// Calls apply(y, n, x[0], x[1], ...), of Count operands, for each chunk.
template <std::size_t Count, class Apply>
inline void map_by(Apply apply, const Operand* x, const Output& y, std::size_t begin,
                   std::size_t n) {
    OperandBlock<kChunk> from[Count];
    OutputBlock to(y);
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* loaded[Count];
        for (std::size_t k = 0; k < Count; ++k) loaded[k] = from[k].load(x[k], begin + offset, m);
        apply(loaded, to.at(begin + offset), m);
        to.store(begin + offset, m);
    });
}

template <double (*F)(double)>
void map(const Operand* x, const Output& y, std::size_t begin, std::size_t n) {
    map_by<1>([](const auto& at, double* to, std::size_t m) { apply<F>(to, m, at[0]); }, x, y,
              begin, n);
}
template <double (*F)(double, double)>
void map(const Operand* x, const Output& y, std::size_t begin, std::size_t n) {
    map_by<2>([](const auto& at, double* to, std::size_t m) { apply<F>(to, m, at[0], at[1]); }, x,
              y, begin, n);
}
template <double (*F)(double, double, double)>
void map(const Operand* x, const Output& y, std::size_t begin, std::size_t n) {
    map_by<3>(
        [](const auto& at, double* to, std::size_t m) { apply<F>(to, m, at[0], at[1], at[2]); }, x,
        y, begin, n);
}
void map_erfcx(const Operand* x, const Output& y, std::size_t begin, std::size_t n) {
    map_by<1>([](const auto& at, double* to, std::size_t m) { apply_erfcx(to, m, at[0]); }, x, y,
              begin, n);
}
void map_log_iv(const Operand* x, const Output& y, std::size_t begin, std::size_t n) {
    map_by<2>([](const auto& at, double* to, std::size_t m) { apply_log_iv(to, m, at[0], at[1]); },
              x, y, begin, n);
}

CompensatedSum sum(const Operand& x, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from;
    CompensatedSum total;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        const double* values = from.load(x, begin + offset, m);
        add(total, compensated_sum(m, [=](std::size_t i) { return values[i]; }));
    });
    return total;
}

CompensatedSum combine(const CompensatedSum* blocks, std::size_t n) {
    CompensatedSum total;
    for (std::size_t i = 0; i < n; ++i) add(total, blocks[i]);
    return total;
}

double combine_sums(const CompensatedSum* blocks, std::size_t n) {
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

CompensatedSum block_sum_of_exp(const Operand& x, double largest, std::size_t begin,
                                std::size_t n) {
    OperandBlock<kChunk> from;
    CompensatedSum total;
    in_chunks(n, [&](std::size_t offset, std::size_t m) {
        add(total, sum_of_exp(from.load(x, begin + offset, m), m, log_sum_exp_shift(largest)));
    });
    return total;
}

double combine_log_sum_exp(const CompensatedSum* blocks, double largest, std::size_t n) {
    return log_sum_exp(combine(blocks, n), log_sum_exp_shift(largest));
}

}  // namespace

extern const SpecialKernels TIGHTNOISE_AT_LEVEL(special_kernels) = {
    map<exp>,
    map<log>,
    map<log1p>,
    map<expm1>,
    map<expm1mx>,
    map_erfcx,
    map<ndtr>,
    map<log_ndtr>,
    map<hazard>,
    map<mills>,
    map<ndtri>,
    map<ndtri_exp>,
    map<log_ndtr_diff>,
    map<iv_ratio>,
    map<iv_ratio_complement>,
    map_log_iv,
    map<log_sphere_mean>,
    map<log_peak_to_mean>,
    map<log_sphere_mean_rise>,
    sum,
    combine_sums,
    block_magnitude,
    block_maximum,
    maximum,
    block_sum_of_exp,
    combine_log_sum_exp,
};

}  // namespace tightnoise
