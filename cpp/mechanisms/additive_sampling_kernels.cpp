#include <cstdint>
#include <cstring>

#include "mechanisms/alias_choice.hpp"
#include "mechanisms/sampling_kernels.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal_quantile.hpp"
#include "numeric/polynomial.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"
#include "random/uniform.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {

using box_muller::kBatch;

// for_each_choice with standard normals in place of words.
template <class Real, class Sample>
inline void for_each_choice_and_normal(const AliasColumns& columns, const NoiseKey& key,
                                       std::size_t begin, std::size_t end, Sample&& sample) {
    for_each_choice<Real>(columns, key, begin, end,
                          [&](const std::uint32_t* words, const std::int32_t* index, std::uint64_t,
                              std::size_t first, std::size_t n) {
                              alignas(64) Real z[kBatch<Real>];
                              box_muller::normals_of(words, z);
                              sample(z, index, first, n);
                          });
}

template <class Real>
void gaussian_ladder(const AdditiveTask<Real, GaussianLadder>& task, std::size_t begin,
                     std::size_t end) {
    const GaussianLadder noise = task.noise;
    OperandBlock<kBatch<Real>> theta_block;
    for_each_choice_and_normal<Real>(
        noise.choice, task.key, begin, end,
        [&](const Real* z, const std::int32_t* index, std::size_t first, std::size_t n) {
            const double* theta = theta_block.load(task.theta, first, n);
            Real* out = task.out + first;
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const double location = (index[i] - noise.modes) * noise.sensitivity;
                const double x = location + noise.sigma * static_cast<double>(z[i]);
                out[i] = static_cast<Real>(theta[i] + x);
            }
        });
}

template <class Real>
void gaussian_components(const AdditiveTask<Real, GaussianComponents>& task, std::size_t begin,
                         std::size_t end) {
    const GaussianComponents noise = task.noise;
    OperandBlock<kBatch<Real>> theta_block;
    for_each_choice_and_normal<Real>(
        noise.choice, task.key, begin, end,
        [&](const Real* z, const std::int32_t* index, std::size_t first, std::size_t n) {
            const double* theta = theta_block.load(task.theta, first, n);
            alignas(64) double x[kBatch<Real>];
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const double sigma = noise.sigma[index[i]];
                x[i] = noise.location[index[i]] + sigma * static_cast<double>(z[i]);
            }
            Real* out = task.out + first;
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Real>(theta[i] + x[i]);
        });
}

inline double with_sign(double magnitude, std::uint64_t bits) {
    return from_bits(to_bits(magnitude) ^ (bits & 0x8000000000000000u));
}

// sensitivity + sigma z with z > -sensitivity / sigma has Phi(-z) = above positive; the smaller of
// this and its complement, which is a sum of positive terms, keeps the digits of either tail
// (Algorithm 5 takes the larger and loses the upper one). The component in the middle is the same
// with sensitivity 0 and nothing cut off.
template <class Real>
void quasi_gaussian(const AdditiveTask<Real, QuasiGaussianNoise>& task, std::size_t begin,
                    std::size_t end) {
    const QuasiGaussianNoise noise = task.noise;
    OperandBlock<kBatch<double>> theta_block;
    for_each_choice<double>(
        noise.choice, task.key, begin, end,
        [&](const std::uint32_t* words, const std::int32_t* index, std::uint64_t, std::size_t first,
            std::size_t n) {
            alignas(64) std::uint64_t bits[kBatch<double>];
            std::memcpy(bits, words, sizeof bits);
            const double* theta = theta_block.load(task.theta, first, n);
            alignas(64) double smaller[kBatch<double>];
            alignas(64) double signed_sigma[kBatch<double>];
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const uniform::Shares share = uniform::shares(bits[i]);
                const bool middle = index[i] == 0;
                const double kept = middle ? 1.0 : noise.positive;
                const double cut = middle ? 0.0 : noise.negative;
                const double above = share.above * kept;
                const double below = share.below * kept + cut;
                smaller[i] = above < below ? above : below;
                signed_sigma[i] = above < below ? -noise.sigma : noise.sigma;
            }
            alignas(64) double x[kBatch<double>];
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) x[i] = signed_sigma[i] * ndtri(smaller[i]);
            Real* out = task.out + first;
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const double right = (index[i] == 0 ? 0.0 : noise.sensitivity) + x[i];
                out[i] = static_cast<Real>(theta[i] + (index[i] == 2 ? -right : right));
            }
        });
}

// Calls magnitude(shares) for every element, which takes the sign of its upper random bit.
template <class Real, class Noise, class Magnitude>
inline void for_each_magnitude(const AdditiveTask<Real, Noise>& task, std::size_t begin,
                               std::size_t end, Magnitude&& magnitude) {
    OperandBlock<kBatch<double>> theta_block;
    chacha20::for_each_batch<kBatch<double>>(
        task.key, begin, end, [&](const std::uint32_t* words, std::size_t first, std::size_t n) {
            alignas(64) std::uint64_t bits[kBatch<double>];
            std::memcpy(bits, words, sizeof bits);
            const double* theta = theta_block.load(task.theta, first, n);
            Real* out = task.out + first;
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint64_t word = bits[i];
                const double x = with_sign(magnitude(uniform::shares_of_63(word)), word);
                out[i] = static_cast<Real>(theta[i] + x);
            }
        });
}

// |x| / scale = -log H with H uniform between the mass above the bound and 1.
template <class Real>
void exponential(const AdditiveTask<Real, ExponentialNoise>& task, std::size_t begin,
                 std::size_t end) {
    const ExponentialNoise noise = task.noise;
    const double half_scale = 0.5 * noise.scale;
    for_each_magnitude(task, begin, end, [=](uniform::Shares share) {
        const double survival = noise.above + share.above * noise.below;
        const double x =
            half_scale * box_muller::minus_two_log(survival, share.below * noise.below);
        return x < noise.bound ? x : noise.bound;
    });
}

// y with H(y) uniform between H(end) and H(start): the number k of whole periods is the integer
// part of -log H / epsilon, and H is linear on either side of the turn. Both formulas give 0 and 1
// at the ends of a period, so rounding of k does no harm.
template <class Real>
void stepped(const AdditiveTask<Real, SteppedNoise>& task, std::size_t begin, std::size_t end) {
    const SteppedNoise noise = task.noise;
    for_each_magnitude(task, begin, end, [=](uniform::Shares share) {
        const double survival = noise.after_end + share.above * noise.inside;
        const double complement = noise.before_start + share.below * noise.inside;
        const double minus_log = 0.5 * box_muller::minus_two_log(survival, complement);
        const double k = round_down(minus_log / noise.epsilon);
        const double rest = minus_log - k * noise.epsilon;
        const double positive = rest > 0.0 ? rest : 0.0;
        const double a = positive < noise.epsilon ? positive : noise.epsilon;
        const bool before_turn = a < noise.turn;
        const double part = expm1(before_turn ? -a : noise.epsilon - a) * noise.inverse_fall;
        const double y = k + (before_turn ? -part : 1.0 - part);
        const double x = noise.period * (y - noise.start);
        return x < noise.bound ? x : noise.bound;
    });
}

}  // namespace

extern const AdditiveSamplingKernels TIGHTNOISE_AT_LEVEL(additive_sampling_kernels) = {
    {gaussian_ladder<double>, gaussian_ladder<float>},
    {gaussian_components<double>, gaussian_components<float>},
    {quasi_gaussian<double>, quasi_gaussian<float>},
    {exponential<double>, exponential<float>},
    {stepped<double>, stepped<float>},
};

}  // namespace tightnoise
