#include "mechanisms/sampling_kernels.hpp"

#include <cstring>

#include "mechanisms/bounded_laplace_sampling.hpp"
#include "mechanisms/directed_rounding.hpp"
#include "mechanisms/truncated_sampling.hpp"
#include "numeric/polynomial.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"
#include "random/uniform.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {

using box_muller::kBatch;

// The parameters of a batch. Never less noise than asked for (and accounted); and bounds are
// rounded inwards: what is clipped to the smaller support is a function of what is clipped to the
// given one, so its divergences are no larger. (The nearest floats may lie outside and let more
// through than is accounted.)
template <class Real>
class Parameters {
  public:
    const Real *theta, *sigma, *lower, *upper;

    template <class Task>
    void load(const Task& task, std::size_t first, std::size_t n) {
        theta = theta_.load(task.theta, first, n);
        sigma = sigma_.load(task.sigma, first, n);
    }
    template <class Task>
    void load_with_bounds(const Task& task, std::size_t first, std::size_t n) {
        load(task, first, n);
        lower = lower_.load(task.lower, first, n);
        upper = upper_.load(task.upper, first, n);
    }

  private:
    OperandBlock<kBatch<Real>, Real> theta_;
    OperandBlock<kBatch<Real>, Real, RoundUp> sigma_, lower_;
    OperandBlock<kBatch<Real>, Real, RoundDown> upper_;
};

void keystream(const NoiseKey& key, std::uint64_t first, std::uint64_t batches,
               std::uint32_t* out) {
    chacha20::Keystream stream(key, first);
    for (std::uint64_t b = 0; b < batches; ++b) {
        std::memcpy(out + b * chacha20::kBatchWords, stream.next_batch(), chacha20::kBatchBytes);
    }
}

// Calls body(words, first, n) with the words of each batch.
template <class Real, class Task, class Body>
inline void for_each_batch(const Task& task, std::size_t begin, std::size_t end, Body&& body) {
    chacha20::for_each_batch<kBatch<Real>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            alignas(64) typename box_muller::Bits<Real>::Word words[kBatch<Real>];
            std::memcpy(words, keystream, sizeof words);
            body(words, first, n);
        });
}

template <class Real>
void uniform_interval(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_batch<Real>(task, begin, end,
                         [&](const auto* words, std::size_t first, std::size_t n) {
                             Real* out = task.out + first;
#pragma omp simd
                             for (std::size_t i = 0; i < n; ++i)
                                 out[i] = uniform::open_unit(words[i]);
                         });
}

// Calls body(z, first, n) with the normals of each batch.
template <class Normal, class Task, class Body>
inline void for_each_normal(const Task& task, std::size_t begin, std::size_t end, Body&& body) {
    chacha20::for_each_batch<kBatch<Normal>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            alignas(64) Normal z[kBatch<Normal>];
            box_muller::normals_of(keystream, z);
            body(z, first, n);
        });
}

template <class Real>
void standard_normal(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_normal<Real>(task, begin, end, [&](const Real* z, std::size_t first, std::size_t n) {
        std::memcpy(task.out + first, z, n * sizeof(Real));
    });
}

template <class Real>
void gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameters<Real> at;
    for_each_normal<Real>(task, begin, end, [&](const Real* z, std::size_t first, std::size_t n) {
        at.load(task, first, n);
        const Real *theta = at.theta, *sigma = at.sigma;
        Real* out = task.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) out[i] = theta[i] + sigma[i] * z[i];
    });
}

template <class Real>
void rectified_gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameters<Real> at;
    for_each_normal<Real>(task, begin, end, [&](const Real* z, std::size_t first, std::size_t n) {
        at.load_with_bounds(task, first, n);
        const Real *theta = at.theta, *sigma = at.sigma, *lower = at.lower, *upper = at.upper;
        Real* out = task.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const Real x = theta[i] + sigma[i] * z[i];
            const Real y = x < lower[i] ? lower[i] : x;
            out[i] = y > upper[i] ? upper[i] : y;
        }
    });
}

template <class Real>
void stochastic_sign(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameters<Real> at;
    for_each_normal<Real>(task, begin, end, [&](const Real* z, std::size_t first, std::size_t n) {
        at.load(task, first, n);
        const Real *theta = at.theta, *sigma = at.sigma;
        Real* out = task.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const Real x = theta[i] + sigma[i] * z[i];
            out[i] = x >= Real(0) ? Real(1) : Real(-1);
        }
    });
}

// Letter i of 0, ..., levels - 1 is lower + i (upper - lower)/(levels - 1), the last one exactly
// upper: the bits of numpy.linspace(lower, upper, levels). Float32 letters are these, rounded.
template <class Real>
void quantized_gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    constexpr double kInteger = 0x1p52;  // adding and taking away rounds to the nearest integer
    Parameters<double> at;
    const double last = task.levels - 1.0;
    for_each_normal<double>(
        task, begin, end, [&](const double* z, std::size_t first, std::size_t n) {
            at.load_with_bounds(task, first, n);
            const double *theta = at.theta, *sigma = at.sigma, *lower = at.lower, *upper = at.upper;
            Real* out = task.out + first;
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const double step = (upper[i] - lower[i]) / last;
                const double t = (theta[i] + sigma[i] * z[i] - lower[i]) / step;
                const double above = t < 0.0 ? 0.0 : t;
                const double index = ((above > last ? last : above) + kInteger) - kInteger;
                const double letter = lower[i] + index * step;
                out[i] = static_cast<Real>(index == last ? upper[i] : letter);
            }
        });
}

truncated::Inside shared_parameters(const Operand& sigma, const Operand& lower,
                                    const Operand& upper) {
    const bool shared = sigma.is_scalar && lower.is_scalar && upper.is_scalar;
    return shared
               ? truncated::Inside(element_at(sigma, 0), element_at(lower, 0), element_at(upper, 0))
               : truncated::Inside();
}

// This and the other samplers in double round a sample of the given parameters once at the end: a
// function of it, which costs no more.
template <class Real>
void truncated_gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    const truncated::Inside inside = shared_parameters(task.sigma, task.lower, task.upper);
    Parameters<double> at;
    for_each_batch<double>(
        task, begin, end, [&](const std::uint64_t* words, std::size_t first, std::size_t n) {
            at.load_with_bounds(task, first, n);
            alignas(64) double x[kBatch<double>];
            truncated::sample_batch(words, inside, at.theta, at.sigma, at.lower, at.upper, x, n);
            Real* out = task.out + first;
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Real>(x[i]);
        });
}

template <class Real>
void bounded_laplace(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameters<double> at;
    alignas(64) double inverse_scale[kBatch<double>];
    for_each_batch<double>(
        task, begin, end, [&](const std::uint64_t* words, std::size_t first, std::size_t n) {
            at.load_with_bounds(task, first, n);
            if (first == begin || !task.sigma.is_scalar) {
                for (std::size_t i = 0; i < n; ++i) inverse_scale[i] = 1.0 / at.sigma[i];
            }
            bounded_laplace_noise::sample_batch(words, at.theta, at.sigma, inverse_scale, at.lower,
                                                at.upper, task.out + first, n);
        });
}

}  // namespace

extern const SamplingKernels TIGHTNOISE_AT_LEVEL(sampling_kernels) = {
    {uniform_interval<double>, uniform_interval<float>},
    {standard_normal<double>, standard_normal<float>},
    {gaussian<double>, gaussian<float>},
    {rectified_gaussian<double>, rectified_gaussian<float>},
    {truncated_gaussian<double>, truncated_gaussian<float>},
    {quantized_gaussian<double>, quantized_gaussian<float>},
    {stochastic_sign<double>, stochastic_sign<float>},
    {bounded_laplace<double>, bounded_laplace<float>},
    keystream};

}  // namespace tightnoise
