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

template <class Real>
using Parameter = OperandBlock<kBatch<Real>, Real>;
// Never less noise than asked for (and accounted).
template <class Real>
using Sigma = OperandBlock<kBatch<Real>, Real, RoundUp>;

template <class Real, class Transform>
inline void for_each_batch(const SampleTask<Real>& task, std::size_t begin, std::size_t end,
                           std::size_t batch, Transform&& transform) {
    chacha20::Keystream stream(task.key, (task.key.first + begin) / batch);
    for (std::size_t first = begin; first < end; first += batch) {
        transform(stream.next_batch(), first, end - first < batch ? end - first : batch);
    }
}

void keystream(const NoiseKey& key, std::uint64_t first, std::uint64_t batches,
               std::uint32_t* out) {
    chacha20::Keystream stream(key, first);
    for (std::uint64_t b = 0; b < batches; ++b) {
        std::memcpy(out + b * chacha20::kBatchWords, stream.next_batch(), chacha20::kBatchBytes);
    }
}

template <class Real>
void uniform_interval(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    using Word = typename box_muller::Bits<Real>::Word;
    for_each_batch(task, begin, end, kBatch<Real>,
                   [&](const std::uint32_t* words, std::size_t first, std::size_t n) {
                       alignas(64) Word bits[kBatch<Real>];
                       std::memcpy(bits, words, sizeof bits);
                       Real* out = task.out + first;
#pragma omp simd
                       for (std::size_t i = 0; i < n; ++i) out[i] = uniform::open_unit(bits[i]);
                   });
}

// Calls mechanism(z, first, n) with the normals of each batch.
template <class Real, class Normal, class Mechanism>
inline void for_each_normal(const SampleTask<Real>& task, std::size_t begin, std::size_t end,
                            Mechanism&& mechanism) {
    for_each_batch(task, begin, end, kBatch<Normal>,
                   [&](const std::uint32_t* words, std::size_t first, std::size_t n) {
                       alignas(64) Normal z[kBatch<Normal>];
                       box_muller::normals_of(words, z);
                       mechanism(z, first, n);
                   });
}

template <class Real>
void standard_normal(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_normal<Real, Real>(task, begin, end,
                                [&](const Real* z, std::size_t first, std::size_t n) {
                                    std::memcpy(task.out + first, z, n * sizeof(Real));
                                });
}

template <class Real>
void gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameter<Real> theta_block;
    Sigma<Real> sigma_block;
    for_each_normal<Real, Real>(task, begin, end,
                                [&](const Real* z, std::size_t first, std::size_t n) {
                                    const Real* theta = theta_block.load(task.theta, first, n);
                                    const Real* sigma = sigma_block.load(task.sigma, first, n);
                                    Real* out = task.out + first;
#pragma omp simd
                                    for (std::size_t i = 0; i < n; ++i) {
                                        out[i] = theta[i] + sigma[i] * z[i];
                                    }
                                });
}

// Bounds are rounded inwards: what is clipped to the smaller support is a function of what is
// clipped to the given one, so its divergences are no larger. (The nearest floats may lie outside
// and let more through than is accounted.)
template <class Real>
void rectified_gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameter<Real> theta_block;
    OperandBlock<kBatch<Real>, Real, RoundUp> lower_block;
    OperandBlock<kBatch<Real>, Real, RoundDown> upper_block;
    Sigma<Real> sigma_block;
    for_each_normal<Real, Real>(task, begin, end,
                                [&](const Real* z, std::size_t first, std::size_t n) {
                                    const Real* theta = theta_block.load(task.theta, first, n);
                                    const Real* sigma = sigma_block.load(task.sigma, first, n);
                                    const Real* lower = lower_block.load(task.lower, first, n);
                                    const Real* upper = upper_block.load(task.upper, first, n);
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
    Parameter<Real> theta_block;
    Sigma<Real> sigma_block;
    for_each_normal<Real, Real>(task, begin, end,
                                [&](const Real* z, std::size_t first, std::size_t n) {
                                    const Real* theta = theta_block.load(task.theta, first, n);
                                    const Real* sigma = sigma_block.load(task.sigma, first, n);
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
    Parameter<double> theta_block, sigma_block, lower_block, upper_block;
    const double last = task.levels - 1.0;
    for_each_normal<Real, double>(
        task, begin, end, [&](const double* z, std::size_t first, std::size_t n) {
            const double* theta = theta_block.load(task.theta, first, n);
            const double* sigma = sigma_block.load(task.sigma, first, n);
            const double* lower = lower_block.load(task.lower, first, n);
            const double* upper = upper_block.load(task.upper, first, n);
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

double scalar(const Operand& operand) {
    return operand.is_float32 ? static_cast<double>(*static_cast<const float*>(operand.data))
                              : *static_cast<const double*>(operand.data);
}

truncated::Inside shared_parameters(const Operand& sigma, const Operand& lower,
                                    const Operand& upper) {
    const bool shared = sigma.is_scalar && lower.is_scalar && upper.is_scalar;
    return shared ? truncated::Inside(scalar(sigma), scalar(lower), scalar(upper))
                  : truncated::Inside();
}

// This and the other samplers in double round a sample of the given parameters once at the end: a
// function of it, which costs no more.
template <class Real>
void truncated_gaussian(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    const truncated::Inside inside = shared_parameters(task.sigma, task.lower, task.upper);
    Parameter<double> theta_block, sigma_block, lower_block, upper_block;
    for_each_batch(task, begin, end, kBatch<double>,
                   [&](const std::uint32_t* words, std::size_t first, std::size_t n) {
                       const double* theta = theta_block.load(task.theta, first, n);
                       const double* sigma = sigma_block.load(task.sigma, first, n);
                       const double* lower = lower_block.load(task.lower, first, n);
                       const double* upper = upper_block.load(task.upper, first, n);
                       alignas(64) double x[kBatch<double>];
                       truncated::sample_batch(words, inside, theta, sigma, lower, upper, x, n);
                       Real* out = task.out + first;
                       for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Real>(x[i]);
                   });
}

template <class Real>
void bounded_laplace(const SampleTask<Real>& task, std::size_t begin, std::size_t end) {
    Parameter<double> theta_block, scale_block, lower_block, upper_block;
    alignas(64) double inverse_scale[kBatch<double>];
    for_each_batch(task, begin, end, kBatch<double>,
                   [&](const std::uint32_t* words, std::size_t first, std::size_t n) {
                       const double* theta = theta_block.load(task.theta, first, n);
                       const double* scale = scale_block.load(task.sigma, first, n);
                       const double* lower = lower_block.load(task.lower, first, n);
                       const double* upper = upper_block.load(task.upper, first, n);
                       if (first == begin || !task.sigma.is_scalar) {
                           for (std::size_t i = 0; i < n; ++i) inverse_scale[i] = 1.0 / scale[i];
                       }
                       alignas(64) std::uint64_t bits[kBatch<double>];
                       std::memcpy(bits, words, sizeof bits);
                       bounded_laplace_noise::sample_batch(bits, theta, scale, inverse_scale, lower,
                                                           upper, task.out + first, n);
                   });
}

template <class Real>
constexpr Samplers<Real> kSamplers = {
    uniform_interval<Real>,   standard_normal<Real>,    gaussian<Real>,
    rectified_gaussian<Real>, truncated_gaussian<Real>, quantized_gaussian<Real>,
    stochastic_sign<Real>,    bounded_laplace<Real>,
};

}  // namespace

extern const SamplingKernels TIGHTNOISE_AT_LEVEL(sampling_kernels) = {kSamplers<double>,
                                                                      kSamplers<float>, keystream};

}  // namespace tightnoise
