#include "mechanisms/letter_kernels.hpp"

#include "mechanisms/grid_normals.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {
namespace grid {

// Letters 0, ..., last of samples x: the integer nearest to (x - lower) last / (upper - lower),
// clamped. The error of this position has room in NormalError and slack_of: it matters only between
// the letters, where theta is within s z of them.
template <class Real, class Output>
class Letters {
    static constexpr std::size_t kN = kBatch<Real>;

  public:
    Letters(const GridTask<Output>& task, double last) : task_(task), last_(last) {}

    void load(std::size_t first, std::size_t n) {
        const Real* theta = theta_block_.load(task_.theta, first, n);
        first_ = first;
        n_ = n;
        std::memcpy(theta_, theta, n * sizeof(Real));
        for (std::size_t i = n; i < kN; ++i) theta_[i] = Real(0);
        if (is_new_ || !are_shared()) load_parameters(first, n);
        is_new_ = false;
#pragma omp simd
        for (std::size_t i = 0; i < kN; ++i) rest_[i] = (theta_[i] - lower_[i]) * per_unit_[i];
    }

    const Real* rest() const { return rest_; }
    const Real* s() const { return s_; }
    double precise_rest(std::size_t i) const {
        return (theta_[i] - precise_lower_[i]) * (last_ / (precise_upper_[i] - precise_lower_[i]));
    }
    double precise_s(std::size_t i) const {
        return precise_sigma_[i] * (last_ / (precise_upper_[i] - precise_lower_[i]));
    }
    IdealElement ideal(std::size_t i) const {
        const bool has_low = i < n_ && task_.theta_low != nullptr;
        const double low = has_low ? task_.theta_low[first_ + i] : 0.0;
        return {theta_[i], low, precise_sigma_[i], precise_lower_[i], precise_upper_[i], last_};
    }

    // The letters as numpy.linspace(lower, upper, last + 1) has them.
    void write(const Real* q) const {
        Output* out = task_.out + first_;
#pragma omp simd
        for (std::size_t i = 0; i < n_; ++i) {
            const double step = (precise_upper_[i] - precise_lower_[i]) / last_;
            const double letter = precise_lower_[i] + q[i] * step;
            out[i] = static_cast<Output>(q[i] == last_ ? precise_upper_[i] : letter);
        }
    }
    // Letters 0 and 1 as signs.
    void write_signs(const Real* q) const {
        Output* out = task_.out + first_;
#pragma omp simd
        for (std::size_t i = 0; i < n_; ++i) out[i] = q[i] + q[i] - Real(1);
    }

  private:
    bool has_bounds() const { return task_.lower.data != nullptr; }
    bool are_shared() const {
        return task_.sigma.is_scalar &&
               (!has_bounds() || (task_.lower.is_scalar && task_.upper.is_scalar));
    }

    // Without bounds, -sigma and sigma: the sign of x says which one is nearer.
    void load_parameters(std::size_t first, std::size_t n) {
        const double* sigma = sigma_block_.load(task_.sigma, first, n);
        const double* lower = has_bounds() ? lower_block_.load(task_.lower, first, n) : nullptr;
        const double* upper = has_bounds() ? upper_block_.load(task_.upper, first, n) : sigma;
        for (std::size_t i = 0; i < kN; ++i) {
            const bool padding = i >= n;
            precise_sigma_[i] = padding ? 1.0 : sigma[i];
            precise_upper_[i] = padding ? 1.0 : upper[i];
            precise_lower_[i] = padding ? -1.0 : lower == nullptr ? -sigma[i] : lower[i];
            lower_[i] = static_cast<Real>(precise_lower_[i]);
            per_unit_[i] = static_cast<Real>(last_ / (precise_upper_[i] - precise_lower_[i]));
            s_[i] = static_cast<Real>(precise_s(i));
        }
    }

    const GridTask<Output>& task_;
    double last_;
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
    alignas(64) Real theta_[kN];
    alignas(64) Real lower_[kN];
    alignas(64) Real per_unit_[kN];
    alignas(64) Real rest_[kN];
    alignas(64) Real s_[kN];
};

// Calls write(letters, q) for every batch.
template <class Real, class Output, class Write>
inline void for_each_letter(const GridTask<Output>& task, double last, std::size_t begin,
                            std::size_t end, Write&& write) {
    constexpr std::size_t kN = kBatch<Real>;
    chacha20::Keystream stream(task.key, begin / kN);
    Letters<Real, Output> letters(task, last);
    NormalBatch<true, Real, Letters<Real, Output>> noise(task.key, task.refine_all, last);
    alignas(64) Real q[kN];
    for (std::size_t first = begin; first < end; first += kN) {
        const std::size_t n = end - first < kN ? end - first : kN;
        letters.load(first, n);
        noise.draw(stream.next_batch(), letters, first, n, q);
        write(letters, q);
    }
}

template <class Output>
void quantized_gaussian(const GridTask<Output>& task, std::size_t begin, std::size_t end) {
    using Doubles = Letters<double, Output>;
    for_each_letter<double>(task, task.levels - 1.0, begin, end,
                            [](const Doubles& letters, const double* q) { letters.write(q); });
}

template <class Output>
void stochastic_sign(const GridTask<Output>& task, std::size_t begin, std::size_t end) {
    using Same = Letters<Output, Output>;
    for_each_letter<Output>(task, 1.0, begin, end,
                            [](const Same& letters, const Output* q) { letters.write_signs(q); });
}

template <class Output>
constexpr LetterSamplers<Output> kSamplers = {quantized_gaussian<Output>, stochastic_sign<Output>};

}  // namespace grid
}  // namespace

extern const LetterKernels TIGHTNOISE_AT_LEVEL(letter_kernels) = {grid::kSamplers<double>,
                                                                  grid::kSamplers<float>};

}  // namespace tightnoise
