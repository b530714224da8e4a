#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/grid_normals.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {
namespace grid {

// Letters 0, ..., last of samples x: the integer nearest to (x - lower) last / (upper - lower),
// clamped. The error of this position has room in NormalError and slack_of: it matters only between
// the letters, where theta is within s z of them.
template <class Real, bool kShared>
struct LetterLaw {
    static constexpr Integers kIntegers = Integers::some;
    const Real* theta;
    Each<Real, kShared> lower;
    Each<Real, kShared> per_unit;
    Each<Real, kShared> s;
    Real* out;

    Real whole(std::size_t) const { return 0; }
    Real rest(std::size_t i, Real) const { return (theta[i] - lower[i]) * per_unit[i]; }
    Real value(std::size_t, Real, Real q) const { return q; }
};

// Letters 0 and 1 as signs, of theta by 2 sigma, whose reciprocal must be a normal Real: `lower` is
// not used. Next to 0, s = 1/2 and the sum are exact: NormalError has room for two roundings of the
// quotient in place of theirs.
template <class Real, bool kShared>
struct SignLaw : LetterLaw<Real, kShared> {
    static constexpr Integers kIntegers = Integers::two;
    Real rest(std::size_t i, Real) const { return this->theta[i] * this->per_unit[i]; }
    Real value(std::size_t, Real, Real q) const { return q == Real(0) ? Real(-1) : Real(1); }
};

// Batches of a task with parameters and theta padded.
template <class Real, class Output>
class Letters {
    static constexpr std::size_t kN = kBatch<Real>;

  public:
    Letters(const GridTask<Output>& task, double last) : task_(task), last_(last) {}

    // Bounds or, without them, -sigma and sigma: the sign of x says which one is nearer.
    bool has_bounds() const { return task_.lower.data != nullptr; }
    bool is_shared() const {
        return task_.sigma.is_scalar &&
               (!has_bounds() || (task_.lower.is_scalar && task_.upper.is_scalar));
    }

    // Writes what the law makes of the letters to out, which has room for a batch.
    template <class Law>
    void draw(const std::uint32_t* keystream, std::size_t first, std::size_t n, Real* out) {
        constexpr bool kCentred = Law::kIntegers == Integers::two;
        load(first, n);
        Law law{};
        law.theta = theta_;
        law.lower = {lower_};
        if (task_.theta_low != nullptr) {
            for (std::size_t i = 0; i < kN; ++i) {
                const double low = i < n ? task_.theta_low[first + i] : 0.0;
                above_[i] = theta_[i] - (kCentred ? Real(0) : lower_[i]) + static_cast<Real>(low);
            }
            law.theta = above_;
            law.lower = {kZeros};
        }
        law.per_unit = {per_unit_};
        law.s = {s_};
        law.out = out;
        draw_batch<Law::kIntegers, Real>(
            keystream, law, task_.key, task_.refine_all, static_cast<Real>(last_), first, n,
            [this](std::size_t i) {
                const double cells = last_ / (precise_upper_[i] - precise_lower_[i]);
                const double from = kCentred ? 0.0 : precise_lower_[i];
                return Precise{(theta_[i] - from) * cells, precise_sigma_[i] * cells};
            },
            [this](std::size_t i) {
                const bool has_low = i < n_ && task_.theta_low != nullptr;
                const double low = has_low ? task_.theta_low[first_ + i] : 0.0;
                return IdealElement{theta_[i],         low,  precise_sigma_[i], precise_lower_[i],
                                    precise_upper_[i], last_};
            });
    }

    // The letters as numpy.linspace(lower, upper, last + 1) has them, by a product that is rounded:
    // the sum reads it from memory, so that no compiler can fuse the two.
    void write(const Real* letters) const {
        alignas(64) double above_lower[kN];
#pragma omp simd
        for (std::size_t i = 0; i < n_; ++i) {
            above_lower[i] = letters[i] * ((precise_upper_[i] - precise_lower_[i]) / last_);
        }
        asm volatile("" : : "r"(above_lower) : "memory");
        Output* out = task_.out + first_;
#pragma omp simd
        for (std::size_t i = 0; i < n_; ++i) {
            const double letter = precise_lower_[i] + above_lower[i];
            out[i] = static_cast<Output>(letters[i] == last_ ? precise_upper_[i] : letter);
        }
    }

  private:
    void load(std::size_t first, std::size_t n) {
        first_ = first;
        n_ = n;
        theta_ = theta_block_.load(task_.theta, first, n);
        // Doubtful pairs read theta once more when the samples are written, perhaps over it.
        if (n < kN || static_cast<const void*>(theta_) == task_.out + first) {
            std::memcpy(padded_, theta_, n * sizeof(Real));
            for (std::size_t i = n; i < kN; ++i) padded_[i] = Real(0);
            theta_ = padded_;
        }
        if (is_shared() && !is_new_) return;
        is_new_ = false;
        const double* sigma = sigma_block_.load(task_.sigma, first, n);
        const double* lower = has_bounds() ? lower_block_.load(task_.lower, first, n) : nullptr;
        const double* upper = has_bounds() ? upper_block_.load(task_.upper, first, n) : sigma;
        for (std::size_t i = 0; i < kN; ++i) {
            const std::size_t of = i < n ? i : 0;
            precise_sigma_[i] = sigma[of];
            precise_upper_[i] = upper[of];
            precise_lower_[i] = lower == nullptr ? -sigma[of] : lower[of];
            const double cells = last_ / (precise_upper_[i] - precise_lower_[i]);
            lower_[i] = static_cast<Real>(precise_lower_[i]);
            per_unit_[i] = static_cast<Real>(cells);
            s_[i] = static_cast<Real>(precise_sigma_[i] * cells);
        }
    }

    const GridTask<Output>& task_;
    const double last_;
    bool is_new_ = true;
    std::size_t first_ = 0;
    std::size_t n_ = 0;
    OperandBlock<kN, Real> theta_block_;
    OperandBlock<kN> sigma_block_;
    OperandBlock<kN> lower_block_;
    OperandBlock<kN> upper_block_;
    alignas(64) double precise_sigma_[kN];
    alignas(64) double precise_lower_[kN];
    alignas(64) double precise_upper_[kN];
    static constexpr Real kZeros[kN] = {};
    const Real* theta_ = nullptr;
    alignas(64) Real padded_[kN];
    alignas(64) Real above_[kN];  // lower, of theta with what it has below its last place
    alignas(64) Real lower_[kN];
    alignas(64) Real per_unit_[kN];
    alignas(64) Real s_[kN];
};

template <class Output>
void quantized_gaussian(const GridTask<Output>& task, std::size_t begin, std::size_t end) {
    Letters<double, Output> letters(task, task.levels - 1.0);
    const bool is_shared = letters.is_shared();
    alignas(64) double drawn[kBatch<double>];
    chacha20::for_each_batch<kBatch<double>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            is_shared ? letters.template draw<LetterLaw<double, true>>(keystream, first, n, drawn)
                      : letters.template draw<LetterLaw<double, false>>(keystream, first, n, drawn);
            letters.write(drawn);
        });
}

template <class Real>
void stochastic_sign(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    Letters<Real, Real> letters(task, 1.0);
    const bool is_shared = letters.is_shared();
    alignas(64) Real padded[kBatch<Real>];
    chacha20::for_each_batch<kBatch<Real>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            prefetch(task, first);
            Real* out = n < kBatch<Real> ? padded : task.out + first;
            is_shared ? letters.template draw<SignLaw<Real, true>>(keystream, first, n, out)
                      : letters.template draw<SignLaw<Real, false>>(keystream, first, n, out);
            if (n < kBatch<Real>) std::memcpy(task.out + first, padded, n * sizeof(Real));
        });
}

}  // namespace grid
}  // namespace

extern const LetterKernels TIGHTNOISE_AT_LEVEL(letter_kernels) = {
    {grid::quantized_gaussian<double>, grid::quantized_gaussian<float>},
    {grid::stochastic_sign<double>, grid::stochastic_sign<float>}};

}  // namespace tightnoise
