#include <cmath>
#include <cstring>
#include <type_traits>

#include "mechanisms/alias_choice.hpp"
#include "mechanisms/grid_cells.hpp"
#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/ideal_noise.hpp"
#include "numeric/normal_quantile.hpp"
#include "random/ideal_normal.hpp"

// In units of the step, a sample of component c is theta + location[c] + s[c] z: whole numbers of
// theta and of the location, and rests, which with s z make the small number that is rounded.
namespace tightnoise {
namespace {
namespace grid {

// Elements that are treated at a time, whatever the type of the normals.
constexpr std::size_t kN = kBatch<double>;

// A location is whole + rest + low multiples of the step, all exact.
struct Location {
    double whole;
    double rest;
    double low;
};
// Of high + low, where high is below 2^51.
inline Location location_of(double high, double low) {
    const double whole = small_nearest(high);
    return {whole, high - whole, low};
}

// Roundings that are not in proportion to s: the sum of the rests is below 1 + abs(low), three
// times rounded, the last time with s z; and the test itself.
inline double mixture_slack(bool refine_all, double most_low) {
    return (refine_all ? 1.0 : 0x1p-50) + 0x1p-51 * most_low;
}

// Where the components are, in multiples of a step, and how wide.
class Ladder {
  public:
    explicit Ladder(const GaussianLadder& noise)
        : modes_(noise.modes),
          // Of 26 bits and 27, so that their multiples are exact.
          high_(from_bits(to_bits(noise.sensitivity) >> 27 << 27)),
          low_(noise.sensitivity - high_),
          sigma_(noise.sigma) {}

    Location location(std::int32_t index, double inverse_step) const {
        const double k = index - modes_;
        return location_of(k * (high_ * inverse_step), k * (low_ * inverse_step));
    }
    double sigma(std::int32_t, double inverse_step) const { return sigma_ * inverse_step; }
    double slack(bool refine_all, double inverse_step) const {
        return mixture_slack(refine_all, modes_ * std::fabs(low_) * inverse_step);
    }

  private:
    int modes_;
    double high_;
    double low_;
    double sigma_;
};

class Components {
  public:
    explicit Components(const GaussianComponents& noise)
        : location_(noise.location), sigma_(noise.sigma) {}

    Location location(std::int32_t index, double inverse_step) const {
        return location_of(location_[index] * inverse_step, 0.0);
    }
    double sigma(std::int32_t index, double inverse_step) const {
        return sigma_[index] * inverse_step;
    }
    double slack(bool refine_all, double) const { return mixture_slack(refine_all, 0.0); }

  private:
    const double* location_;
    const double* sigma_;
};

// The integer nearest to rest + location + s z, where z is within `error` of the ideal one, and how
// far that may be from it: certain below 1/2.
struct Rounded {
    double q;
    double reach;
};
inline Rounded round_cell(double rest, const Location& location, double s, double z, double error,
                          double slack) {
    const double t = (rest + (location.rest + location.low)) + s * z;
    const double nearest = small_nearest(t);
    return {location.whole + nearest, std::fabs(t - nearest) + (s * error + slack)};
}
constexpr double kUnknown = 0x1p40;  // times any s: an error of more than 1/2

// The step of element i of some cells, and 1 / step.
struct OneStep {
    double step, inverse;
    double at(std::size_t) const { return step; }
    double inverse_at(std::size_t) const { return inverse; }
};
struct ManySteps {
    const double* step;
    double at(std::size_t i) const { return step[i]; }
    double inverse_at(std::size_t i) const { return 1.0 / step[i]; }
};

// kN or fewer elements at a time, in float64 whatever they are read and written as.
template <class Real>
class MixtureCells {
  public:
    // Writes elements first, ..., first + n - 1 of the task. round(i, rest, inverse_step) is the
    // Rounded of K - whole of element first + i, settle(i, rest, low, inverse_step) the same K -
    // whole where that is doubtful.
    template <class Round, class Settle>
    void write(const GridTask<Real>& task, std::size_t first, std::size_t n, Round&& round,
               Settle&& settle) {
        const Slice slice{task, theta_block_.load(task.theta, first, n), first, n};
        const double* step = step_block_.load(task.step, first, n);
        if (task.step.is_scalar) {
            write_by(OneStep{step[0], 1.0 / step[0]}, slice, round, settle);
        } else {
            write_by(ManySteps{step}, slice, round, settle);
        }
    }

  private:
    struct Slice {
        const GridTask<Real>& task;
        const Real* theta;
        std::size_t first, n;
    };

    template <class Steps, class Round, class Settle>
    static void write_by(const Steps& steps, const Slice& slice, Round&& round, Settle&& settle) {
        if (slice.task.integers != nullptr) {
            write_as(slice.task.integers, steps, slice, round, settle);
        } else {
            write_as(slice.task.out, steps, slice, round, settle);
        }
    }

    template <class To, class Steps, class Round, class Settle>
    static void write_as(To* out, const Steps& steps, const Slice& slice, Round&& round,
                         Settle&& settle) {
        const Real* theta = slice.theta;
        alignas(64) To y[kN];
        alignas(64) double reach[kN];
        double worst = 0.0;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = 0; i < slice.n; ++i) {
            const double x = static_cast<double>(theta[i]), inverse = steps.inverse_at(i);
            const double whole = nearest_integer(x * inverse);
            const Rounded rounded = round(i, rest_of(x, inverse, whole), inverse);
            y[i] = written<To>(whole, rounded.q, steps.at(i), x);
            reach[i] = rounded.reach;
            worst = rounded.reach > worst ? rounded.reach : worst;
        }
        if (worst >= 0.5) {
            for (std::size_t i = 0; i < slice.n; ++i) {
                if (reach[i] < 0.5) continue;
                const double x = static_cast<double>(theta[i]), inverse = steps.inverse_at(i);
                const double whole = nearest_integer(x * inverse);
                const double* low = slice.task.theta_low;
                const double more = low == nullptr ? 0.0 : low[slice.first + i] * inverse;
                const double q = settle(i, rest_of(x, inverse, whole), more, inverse);
                y[i] = written<To>(whole, q, steps.at(i), x);
            }
        }
        std::memcpy(out + slice.first, y, slice.n * sizeof(To));  // it may be theta
    }

    template <class To>
    static To written(double whole, double q, double step, double theta) {
        if constexpr (std::is_same_v<To, std::int64_t>) {
            return integer_of(whole, q);
        } else {
            // To float32 by float64: two roundings, of the integer alone.
            return static_cast<To>(value_of(theta, whole, q, step));
        }
    }

    OperandBlock<kN, Real> theta_block_;
    OperandBlock<kN> step_block_;
};

// The normals of a keystream batch, and the components of its elements.
template <class Real>
class NormalBatch {
    static constexpr std::size_t kPairs = kBatch<Real> / 2;

  public:
    // `position`: of the first of the words.
    NormalBatch(const NoiseKey& key, const std::uint32_t* words, const std::int32_t* index,
                std::uint64_t position)
        : key_(key), index_(index), position_(position) {
        using E = NormalError<Real>;
        std::memcpy(words_, words, sizeof words_);
#pragma omp simd
        for (std::size_t i = 0; i < kPairs; ++i) {
            const auto pair = box_muller::pair_of<Real>(words_[i], words_[kPairs + i]);
            z_[i] = pair.first;
            z_[kPairs + i] = pair.second;
            Real error = E::kOfNormal * E::kSquare * pair.square + E::kOfNormal * E::kConstant;
            error = pair.square <= E::kMostSquare ? error : static_cast<Real>(kUnknown);
            error = pair.square >= E::kLeastSquare ? error : static_cast<Real>(kUnknown);
            error_[i] = error;
            error_[kPairs + i] = error;
        }
    }

    // Writes n elements from element `at` of the batch on, which is element `first` of the task.
    template <class Law>
    void write(const Law& law, const GridTask<Real>& task, MixtureCells<Real>& cells,
               std::size_t at, std::size_t first, std::size_t n) const {
        const std::int32_t* index = index_ + at;
        const Real* z = z_ + at;
        const Real* error = error_ + at;
        const bool refine_all = task.refine_all;
        const auto round = [=](std::size_t i, double rest, double inverse_step) {
            return round_cell(rest, law.location(index[i], inverse_step),
                              law.sigma(index[i], inverse_step), static_cast<double>(z[i]),
                              static_cast<double>(error[i]), law.slack(refine_all, inverse_step));
        };
        const auto settle_one = [&](std::size_t i, double rest, double low, double inverse_step) {
            return settle(at + i, rest, low, law.location(index[i], inverse_step),
                          law.sigma(index[i], inverse_step), law.slack(refine_all, inverse_step));
        };
        cells.write(task, first, n, round, settle_one);
    }

  private:
    // With 64-bit words where the batch has fewer, then with all bits.
    __attribute__((noinline)) double settle(std::size_t at, double rest, double low,
                                            const Location& location, double s,
                                            double slack) const {
        using E = NormalError<double>;
        const std::size_t i = at % kPairs;
        const std::uint64_t number = position_ + i;
        const chacha20::Block block = refinement_block(key_, number);
        const PairWords words = full_words(words_[i], words_[kPairs + i], block);
        if constexpr (sizeof(Real) < sizeof(double)) {
            const auto pair = box_muller::pair_of<double>(words.radius, words.angle);
            const double z = at < kPairs ? pair.first : pair.second;
            const Rounded cell = round_cell(rest, location, s, z, E::kConstant, slack);
            const bool known = pair.square <= E::kMostSquare && pair.square >= E::kLeastSquare;
            if (known && cell.reach < 0.5) return cell.q;
        }
        const IdealElement element{rest, low, s, 0.0, 1.0, 1.0, location.rest, location.low};
        const IntegerPair both =
            ideal_integers({key_, number, words.radius, words.angle}, element, element);
        return location.whole + (at < kPairs ? both.first : both.second);
    }

    const NoiseKey& key_;
    const std::int32_t* index_;
    std::uint64_t position_;
    alignas(64) typename box_muller::Bits<Real>::Word words_[2 * kPairs];
    alignas(64) Real z_[2 * kPairs];
    alignas(64) Real error_[2 * kPairs];
};

template <class Law, class Real, class Noise>
void mixture(const AdditiveGridTask<Real, Noise>& task, std::size_t begin, std::size_t end) {
    const Law law(task.noise);
    MixtureCells<Real> cells;
    for_each_choice<Real>(task.noise.choice, task.key, begin, end,
                          [&](const std::uint32_t* words, const std::int32_t* index,
                              std::uint64_t position, std::size_t first, std::size_t n) {
                              const NormalBatch<Real> batch(task.key, words, index, position);
                              for (std::size_t at = 0; at < n; at += kN) {
                                  batch.write(law, task, cells, at, first + at,
                                              n - at < kN ? n - at : kN);
                              }
                          });
}

// Quasi-Gaussian noise: location + sigma z in the component's own direction, where z is the normal
// that `cut` says (mechanisms/ideal_noise.hpp), by the quantile of the smaller tail p.
//
// Error of z, from that of p by dz = M dp / p, M = p / phi(z) Mills' ratio: at most sqrt(pi / 2),
// and 0.155 at p = 2^-35. The bits of the word that were not read move p by 2^-65 of the mass that
// is kept, which is at least 1/2, and p is at least near times that mass: by 2^-65 / near, relative
// to it. With near >= 2^-34 that moves z by 0.155 2^-31 at most, as M / p falls with p: below
// 2^-33.6. Evaluation: p, within 8 units of 2^-53 (its factors are within 4 of theirs: measured, as
// is that ndtri is within 1e-15 of its value), and z: below 2^-45 for abs(z) <= 9.7, with the
// roundings of s z and of the sum.
struct QuasiError {
    static constexpr double kLeast = 0x1p-34;
    static constexpr double kConstant = 0x1p-33;
    // For an element of its own, near >= kLeastAlone: log(p) within 2^-65 / near (1 + 2^-4), z
    // within 2^-64 / near and the evaluation.
    static constexpr double kLeastAlone = 0x1p-60;
    static double alone(double near) { return 0x1p-64 / near + 0x1p-44; }
};

class QuasiGaussian {
  public:
    explicit QuasiGaussian(const QuasiGaussianNoise& noise) : noise_(noise) {}

    Location location(std::int32_t index, double inverse_step) const {
        const double at = index == 0 ? 0.0 : noise_.sensitivity;
        return location_of((index == 2 ? -at : at) * inverse_step, 0.0);
    }
    double sigma(double inverse_step) const { return noise_.sigma * inverse_step; }

    // z, negative for the component on the left.
    double normal(std::int32_t index, std::uint64_t bits) const {
        const uniform::Shares share = uniform::shares(bits);
        const bool middle = index == 0;
        const double above = share.above * (middle ? 1.0 : noise_.positive);
        const double below =
            share.below * (middle ? 1.0 : noise_.positive) + (middle ? 0.0 : noise_.negative);
        const bool is_above = above < below;
        const double z = ndtri(is_above ? above : below);
        return is_above != (index == 2) ? -z : z;
    }

    // K - whole of a doubtful element.
    __attribute__((noinline)) double settle(const NoiseKey& key, std::uint64_t number,
                                            std::uint64_t bits, std::int32_t index, double rest,
                                            double low, double inverse_step, double slack) const {
        const Location at = location(index, inverse_step);
        const double s = sigma(inverse_step);
        const double near = uniform::two_sided_unit(bits).near;
        const Rounded cell =
            round_cell(rest, at, s, normal(index, bits), QuasiError::alone(near), slack);
        if (near >= QuasiError::kLeastAlone && cell.reach < 0.5) return cell.q;
        const bool mirrored = index == 2;
        const IdealQuasiGaussian element{key,
                                         number,
                                         bits,
                                         index != 0,
                                         mirrored,
                                         rest,
                                         low,
                                         mirrored ? -at.rest : at.rest,
                                         s,
                                         noise_.sigma,
                                         noise_.sensitivity};
        return at.whole + ideal_quasi_gaussian(element, cell.q - at.whole);
    }

  private:
    QuasiGaussianNoise noise_;
};

template <class Real>
void quasi_gaussian(const AdditiveGridTask<Real, QuasiGaussianNoise>& task, std::size_t begin,
                    std::size_t end) {
    const QuasiGaussian law(task.noise);
    const double slack = mixture_slack(task.refine_all, 0.0);
    MixtureCells<Real> cells;
    for_each_choice<double>(
        task.noise.choice, task.key, begin, end,
        [&](const std::uint32_t* words, const std::int32_t* index, std::uint64_t position,
            std::size_t first, std::size_t n) {
            alignas(64) std::uint64_t bits[kN];
            alignas(64) double z[kN];
            std::memcpy(bits, words, sizeof bits);
#pragma omp simd
            for (std::size_t i = 0; i < kN; ++i) z[i] = law.normal(index[i], bits[i]);
            const auto round = [&](std::size_t i, double rest, double inverse_step) {
                const double near = uniform::two_sided_unit(bits[i]).near;
                const double error = near >= QuasiError::kLeast ? QuasiError::kConstant : kUnknown;
                return round_cell(rest, law.location(index[i], inverse_step),
                                  law.sigma(inverse_step), z[i], error, slack);
            };
            const auto settle = [&](std::size_t i, double rest, double low, double inverse_step) {
                return law.settle(task.key, position + i, bits[i], index[i], rest, low,
                                  inverse_step, slack);
            };
            cells.write(task, first, n, round, settle);
        });
}

}  // namespace grid
}  // namespace

extern const GridMixtureKernels TIGHTNOISE_AT_LEVEL(grid_mixture_kernels) = {
    {grid::mixture<grid::Ladder>, grid::mixture<grid::Ladder>},
    {grid::mixture<grid::Components>, grid::mixture<grid::Components>},
    {grid::quasi_gaussian<double>, grid::quasi_gaussian<float>},
};

}  // namespace tightnoise
