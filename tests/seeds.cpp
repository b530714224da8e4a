// What seeds mean on the machine that this is compiled for: one line per sampler and parameters,
// with a digest of the bits it draws; and lines of exact sums, which have the same bits everywhere,
// too. check_seeds.py compares two machines.
//
// Parameters are made of random bits by exact operations, so that they are the same everywhere.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/noise_preparation.hpp"
#include "mechanisms/sampling_kernels.hpp"
#include "mechanisms/vmf_sampling_kernels.hpp"
#include "numeric/clipped_sum.hpp"

namespace tightnoise {
namespace {

constexpr int kCases = 400;
constexpr std::size_t kSamples = 1024;
const NoiseKey kKey = {{1, 2, 3, 4, 5, 6, 7, 8}, 9, 0};

// SplitMix64.
class Bits {
  public:
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    // An integer of least, ..., most.
    int integer(int least, int most) {
        return least + static_cast<int>(next() % static_cast<std::uint64_t>(most - least + 1));
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    // Of any size from 2^least to 2^(most + 1).
    double size(int least, int most) {
        const double mantissa = 1.0 + unit();
        return std::ldexp(mantissa, integer(least, most));
    }

  private:
    std::uint64_t state_ = 0;
};

// FNV-1a.
template <class Real>
void print(const std::string& name, int number, const std::vector<Real>& drawn) {
    std::uint64_t digest = 0xcbf29ce484222325u;
    std::vector<unsigned char> bytes(drawn.size() * sizeof(Real));
    std::memcpy(bytes.data(), drawn.data(), bytes.size());
    for (const unsigned char byte : bytes) digest = (digest ^ byte) * 0x100000001b3u;
    std::printf("%s %d %016llx\n", name.c_str(), number, static_cast<unsigned long long>(digest));
}

constexpr double kZero = 0.0;

template <class Noise>
void draw(const char* law, int number, const AdditiveSamplers<Noise>& samplers,
          const Noise& noise) {
    std::vector<double> out(kSamples);
    AdditiveTask<double, Noise> task{};
    task.key = kKey;
    task.noise = noise;
    task.theta = {&kZero, false, true};
    task.out = out.data();
    samplers.float64(task, 0, kSamples);
    print(law, number, out);
}

void additive(Bits& bits, int number) {
    const AdditiveSamplingKernels& kernels = additive_sampling_kernels();
    const double scale = bits.size(-10, 10), other = bits.size(-10, 10);
    const double epsilon = bits.size(-8, 4), gamma = bits.unit();

    const LadderComponents ladder(epsilon, bits.integer(0, 40));
    draw("multi_gaussian", number, kernels.gaussian_ladder, ladder.noise(scale, other));
    const AliasTable choice = quasi_gaussian_components(scale, epsilon, other);
    draw("quasi_gaussian", number, kernels.quasi_gaussian,
         quasi_gaussian_noise(choice, scale, other));
    const double locations[] = {0.0, other, 3.0 * other}, weights[] = {gamma, epsilon, 1.0};
    const double sigmas[] = {scale, other, gamma};
    const MirroredComponents mixture(locations, weights, sigmas, 3);
    draw("scale_mixture", number, kernels.gaussian_components, mixture.noise());
    draw("laplace", number, kernels.exponential, laplace_noise(scale));
    const double bound = scale * bits.size(-6, 5);
    draw("truncated_laplace", number, kernels.exponential, truncated_laplace_noise(scale, bound));
    draw("tulap", number, kernels.stepped, tulap_noise(scale, epsilon, bound));
    draw("staircase", number, kernels.stepped, staircase_noise(scale, epsilon, gamma));
}

// Those for samples of this type.
template <class Real, class Pair>
auto sampler_of(const Pair& samplers) {
    if constexpr (sizeof(Real) == sizeof(double)) {
        return samplers.float64;
    } else {
        return samplers.float32;
    }
}

template <class Real>
void bounded(const char* type, Bits& bits, int number) {
    const double sigma = bits.size(-6, 6), lower = -bits.size(-6, 6), upper = bits.size(-6, 6);
    std::vector<double> theta(kSamples);
    for (double& value : theta) value = lower + (upper - lower) * (2.0 * bits.unit() - 0.5);
    std::vector<Real> out(kSamples);
    SampleTask<Real> task{};
    task.key = kKey;
    task.theta = {theta.data(), false, false};
    task.sigma = {&sigma, false, true};
    task.lower = {&lower, false, true};
    task.upper = {&upper, false, true};
    task.levels = bits.integer(2, 20);
    task.out = out.data();
    const auto sample = [&](const char* name, const Samplers& of) {
        sampler_of<Real>(of)(task, 0, kSamples);
        print(std::string(name) + type, number, out);
    };
    const SamplingKernels& samplers = sampling_kernels();
    sample("uniform", samplers.uniform);
    sample("standard_normal", samplers.standard_normal);
    sample("gaussian", samplers.gaussian);
    sample("rectified_gaussian", samplers.rectified_gaussian);
    sample("truncated_gaussian", samplers.truncated_gaussian);
    sample("quantized_gaussian", samplers.quantized_gaussian);
    sample("stochastic_sign", samplers.stochastic_sign);
    sample("bounded_laplace", samplers.bounded_laplace);
}

// Samples on a grid, some of them next to the middles between points; and letters.
template <class Real>
void on_grid(const char* type, Bits& bits, int number) {
    const double step = std::ldexp(1.0, bits.integer(-6, 6));
    const double sigma = step * bits.size(-3, 10);
    const double lower = -sigma * bits.size(-2, 3), upper = sigma * bits.size(-2, 3);
    std::vector<Real> theta(kSamples), out(kSamples);
    for (Real& value : theta) {
        const double mantissa = bits.unit() - 0.5;
        const double place = std::ldexp(mantissa, bits.integer(0, 30));
        const double middle = 0.5 * bits.integer(-1000, 1000);
        value = static_cast<Real>(step * (bits.integer(0, 3) == 0 ? middle : place));
    }
    GridTask<Real> task{};
    task.key = kKey;
    task.theta = {theta.data(), sizeof(Real) == 4, false};
    task.step = {&step, false, true};
    task.sigma = {&sigma, false, true};
    task.levels = bits.integer(2, 20);
    task.out = out.data();
    const auto sample = [&](const char* name, const GridSamplers& of) {
        sampler_of<Real>(of)(task, 0, kSamples);
        print(std::string(name) + " on a grid" + type, number, out);
    };
    sample("gaussian", grid_kernels().gaussian);
    sample("stochastic_sign", letter_kernels().stochastic_sign);
    task.lower = {&lower, false, true};
    task.upper = {&upper, false, true};
    sample("rectified_gaussian", grid_kernels().rectified_gaussian);
    sample("quantized_gaussian", letter_kernels().quantized_gaussian);
}

template <class Real>
void directional(const char* type, std::size_t dim, Bits& bits, int number) {
    const std::size_t rows = 3;
    std::vector<Real> direction(rows * dim), out(rows * dim);
    for (Real& value : direction) value = static_cast<Real>(bits.unit() - 0.5);
    VmfTask<Real> task{};
    task.key = kKey;
    task.direction = direction.data();
    task.stride = dim;
    task.dim = dim;
    task.kappa = static_cast<double>(dim) * bits.size(-20, 20);
    task.out = out.data();
    sample_von_mises_fisher(task, rows);
    print(std::string("von_mises_fisher") + type, number, out);
    task.step = 0x1p-24;
    sample_von_mises_fisher(task, rows);
    print(std::string("von_mises_fisher on a grid") + type, number, out);
}

template <class Real>
void clipped(const char* type, RowNorm norm, Bits& bits, int number) {
    const std::size_t count = 20, width = static_cast<std::size_t>(bits.integer(1, 300));
    std::vector<Real> rows(count * width);
    for (Real& value : rows) value = static_cast<Real>((bits.unit() - 0.5) * bits.size(-9, 9));
    const double bound = bits.size(-9, 9);
    std::vector<std::int64_t> sums(width);
    add_clipped({rows.data(), sizeof(Real) == 4, count, width, norm, bound,
                 std::ldexp(1.0, std::ilogb(bound) - 39)},
                sums.data());
    print(std::string("clipped_sum") + type, number, sums);
}

void run() {
    Bits bits;
    for (int i = 0; i < kCases; ++i) additive(bits, i);
    for (int i = 0; i < kCases / 10; ++i) {
        bounded<double>(" float64", bits, i);
        bounded<float>(" float32", bits, i);
    }
    for (int i = 0; i < kCases / 10; ++i) {
        on_grid<double>(" float64", bits, i);
        on_grid<float>(" float32", bits, i);
    }
    for (int i = 0; i < kCases / 10; ++i) {
        for (const RowNorm norm : {RowNorm::sum, RowNorm::euclidean, RowNorm::largest}) {
            clipped<double>(" float64", norm, bits, i);
            clipped<float>(" float32", norm, bits, i);
        }
    }
    int number = 0;
    for (const std::size_t dim : {2, 3, 4, 17, 128, 129, 1000, 120001}) {
        for (int i = 0; i < 3; ++i) {
            directional<double>(" float64", dim, bits, number);
            directional<float>(" float32", dim, bits, number++);
        }
    }
}

}  // namespace
}  // namespace tightnoise

int main() {
    tightnoise::run();
    return 0;
}
