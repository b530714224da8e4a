#include <cstring>

#include "mechanisms/grid_cells.hpp"
#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/ideal_noise.hpp"
#include "numeric/elementary.hpp"
#include "random/ideal_bits.hpp"
#include "random/uniform.hpp"

// Each law is a magnitude G(-log H), H = after + U inside its survival function, with either sign.
//
// Proof of the errors below, with u = 2^-53 and the functions as good as numeric/elementary.hpp
// says (which tests check). The bits of U that were not read, 2^-64 of it at most, move -log H by
// 2^-64 inside / H <= 2^-64 / U. What is rounded moves it by less than 2^9 u where U >= 2^-127, so
// that -log H <= 88: U by 2 u, inside and its product by 12 u, after by 100 u (e^-x is known to
// x u, and more than 2^-127 of H only for x < 88), -log H itself by 3 u of its value and 7 u, for
// 2 log 2 e is rounded twice and so is the sum. Where inside < 1/4, H > 3/4 and its logarithm comes
// from 1 - H: all these errors are relative then, at most 4 inside times as large.

namespace tightnoise {
namespace {
namespace grid {

// In units of the law's scale: how large the noise is, and how far from that it may be.
struct Magnitude {
    double value;
    double error;
};

// Which bits of U a law has: those of its word, or 64 more. Below the least U nothing is claimed.
enum class Bits { word, continued };
constexpr double least(Bits bits) {
    return bits == Bits::word ? 0x1p-24 : 0x1p-127;
}

// U / 2 and (1 - U) / 2.
using Halves = uniform::Shares;
inline Halves halves_of(std::uint64_t word) {
    return {uniform::two_sided_unit(word).near, uniform::two_sided_unit(~word).near};
}

// Of -log H, for an error at inside >= 1/4; nothing is claimed of masses next to the subnormal.
inline double relative_to(double inside, double error) {
    const double small = 4.0 * inside < 1.0 ? 4.0 * inside : 1.0;
    return inside >= 0x1p-900 ? small * error : 0x1p1000;
}

// Standard exponential noise below a bound. |x - ideal x| <= error in units of the scale:
// 2^-40 for bits not read, 2^-44 for roundings, s x and its sum with theta less than 200 u.
template <Bits kBits>
class Exponential {
  public:
    explicit Exponential(const ExponentialNoise& noise)
        : above_(noise.above),
          twice_below_(2.0 * noise.below),
          error_(2.0 * relative_to(noise.below, kBits == Bits::word ? 0x1p-39 : 0x1p-43)) {}

    Magnitude of(Halves half) const {
        const double survival = above_ + half.above * twice_below_;
        return {box_muller::minus_two_log(survival, half.below * twice_below_), error_};
    }

    static double unit(const ExponentialNoise& noise) { return 0.5 * noise.scale; }
    static double settle(const IdealWord& word, const IdealCell& cell,
                         const ExponentialNoise& noise) {
        return ideal_exponential(word, cell, noise.scale, noise.bound);
    }

  private:
    double above_;
    double twice_below_;
    double error_;
};

// Steps, without a bound those of SteppedNoise (sampled_noise.hpp) with start = 0: with L = -log H,
// k = floor(L / epsilon) and a = L - k epsilon,
//
//     G(L) = k + (1 - e^-a) / slope         for a < turn,
//            k + 1 - (e^(epsilon - a) - 1) / slope  beyond,
//
// slope = fall / rest. G is continuous, so that k or the side of the turn may be wrong by a
// rounding, and has derivatives of at most 1 / slope before the turn and of at most 1 / fall <=
// 1 + 1 / slope after it. Before the next period's turn it is the former again; so the latter
// counts from kWidth before the turn, which is more than L is off by.
//
// As epsilon <= 700, the turn and epsilon - a add 1700 u to the error of L, k and k epsilon 700 u,
// and the rounding of bound / period as much as 40 u: less than 2^-41 in all. They too are relative
// to a small inside, for noise with a bound (gamma = 1/2) gets beyond its turn only if
// epsilon < 3 inside. y, s y and its sum with theta are rounded: 2^-50 y.
template <Bits kBits>
class Steps {
    static constexpr double kUnit = kBits == Bits::word ? 0x1p-39 : 0x1p-41;
    static constexpr double kWidth = 2.0 * kUnit;

  public:
    explicit Steps(const StaircaseNoise& noise) : epsilon_(noise.epsilon) {
        const double gamma = noise.gamma;
        const double b = exp(-epsilon_);
        const double fall = -expm1(-epsilon_);
        const double rest = gamma + (1.0 - gamma) * b;
        turn_ = epsilon_ + (rest < 0.5 ? log(rest) : log1p(-(1.0 - gamma) * fall));
        inverse_epsilon_ = 1.0 / epsilon_;
        inverse_slope_ = rest / fall;
        const double end = noise.bound / noise.period;
        double inside = 1.0;
        if (end < kInfinity) {
            const double slope = fall / rest;
            const double k = std::floor(end);
            const double r = end - k;
            const double first = r < gamma ? r : gamma;
            const double second = r - first;
            const double at_k = exp(-k * epsilon_);
            const double left = (gamma - first) + b * ((1.0 - gamma) - second);
            after_ = at_k * (b + slope * left);
            inside = at_k * slope * (first + b * second) - expm1(-k * epsilon_);
        }
        const double error = relative_to(inside, kUnit);
        twice_inside_ = 2.0 * inside;
        before_error_ = error * inverse_slope_;
        after_error_ = error * (1.0 + inverse_slope_);
    }

    Magnitude of(Halves half) const {
        const double survival = after_ + half.above * twice_inside_;
        const double minus_log =
            0.5 * box_muller::minus_two_log(survival, half.below * twice_inside_);
        const double k = round_down(minus_log * inverse_epsilon_);
        const double above = minus_log - k * epsilon_;
        const double positive = above > 0.0 ? above : 0.0;
        const double a = positive < epsilon_ ? positive : epsilon_;
        const bool before_turn = a < turn_;
        const double part = expm1(before_turn ? -a : epsilon_ - a) * inverse_slope_;
        const double y = k + (before_turn ? -part : 1.0 - part);
        return {y, (a < turn_ - kWidth ? before_error_ : after_error_) + y * 0x1p-50};
    }

    static double unit(const StaircaseNoise& noise) { return noise.period; }
    static double settle(const IdealWord& word, const IdealCell& cell,
                         const StaircaseNoise& noise) {
        return ideal_stepped(word, cell, noise);
    }

  private:
    double epsilon_;
    double inverse_epsilon_;
    double turn_;  // -log H(gamma)
    double inverse_slope_;
    double after_ = 0.0;
    double twice_inside_;
    double before_error_;
    double after_error_;
};

// The same of a word that goes on with 64 more bits, rounded.
inline Halves halves_of(std::uint64_t word, const chacha20::Block& block) {
    const std::uint64_t more = std::uint64_t{block.word[2]} << 32 | block.word[3];
    const auto half = [](std::uint64_t bits, std::uint64_t then) {
        const double low = (static_cast<double>(then) + 0.5) * 0x1p-64;
        return (static_cast<double>(bits & 0x7fffffffffffffffu) + low) * 0x1p-64;
    };
    return {half(word, more), half(~word, ~more)};
}

// The integer nearest to t = rest +- s value, and how far t may be from it: certain below 1/2.
struct Rounded {
    double q;
    double reach;
};
template <class Law>
inline Rounded round_cell(const Law& law, Halves half, std::uint64_t word, double rest, double s,
                          double slack) {
    const Magnitude magnitude = law.of(half);
    const double noise = from_bits(to_bits(s * magnitude.value) | (word & 0x8000000000000000u));
    const double t = rest + noise;
    const double q = small_nearest(t);
    return {q, std::fabs(t - q) + (s * magnitude.error + slack)};
}

// All in one loop, for a logarithm leaves room for it; theta is read before any of its batch is
// written.
template <template <Bits> class Law, class Real, class Noise>
class Batches {
    using Task = AdditiveGridTask<Real, Noise>;
    static constexpr std::size_t kN = kBatch<double>;
    static constexpr double kLargest = 0x1p900;
    // In cells: what theta has below its last place, the rounding of its share in t, the test.
    static constexpr double kSlack = 0x1p-50;

  public:
    explicit Batches(const Task& task) : task_(task), law_(task.noise) {}

    // On its own, or the compiler makes a dozen copies of the loop, and none as fast.
    __attribute__((noinline)) void sample(const std::uint32_t* keystream, std::size_t first,
                                          std::size_t n) {
        load(keystream, first, n);
        const auto law = law_;
        const double* theta = theta_;
        const double* step = step_;
        const double* inverse = inverse_;
        const double* s = s_;
        const double slack = slack_;
        alignas(64) double q[kN];
        alignas(64) double y[kN];
        double worst = 0.0;
        double least_half = 1.0;
#pragma omp simd reduction(max : worst) reduction(min : least_half)
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t word;
            std::memcpy(&word, keystream + 2 * i, sizeof word);
            const double whole = nearest_integer(theta[i] * inverse[i]);
            const double rest = rest_of(theta[i], inverse[i], whole);
            const Rounded a = round_cell(law, halves_of(word), word, rest, s[i], slack);
            q[i] = a.q;
            y[i] = value_of(theta[i], whole, a.q, step[i]);
            worst = a.reach > worst ? a.reach : worst;
            const double half = uniform::two_sided_unit(word).near;
            least_half = half < least_half ? half : least_half;
        }
        if (!(worst < 0.5 && least_half >= 0.5 * least(Bits::word))) {
            for (std::size_t i = 0; i < n; ++i) {
                const double whole = nearest_integer(theta[i] * inverse[i]);
                q[i] = settle(i, rest_of(theta[i], inverse[i], whole), first);
                y[i] = value_of(theta[i], whole, q[i], step[i]);
            }
        }
        write(q, y, first, n);
    }

  private:
    void load(const std::uint32_t* keystream, std::size_t first, std::size_t n) {
        keystream_ = keystream;
        theta_ = theta_block_.load(task_.theta, first, n);
        step_ = step_block_.load(task_.step, first, n);
        if (!first_ && task_.step.is_scalar) return;
        first_ = false;
        slack_ = task_.refine_all ? 1.0 : kSlack;
        for (std::size_t i = 0; i < kN; ++i) {
            inverse_[i] = i < n ? 1.0 / step_[i] : 1.0;
            s_[i] = law_.unit(task_.noise) * inverse_[i];
            // Beyond, a sum might be no number, which no maximum would show.
            if (s_[i] > kLargest) {
                s_[i] = kLargest;
                slack_ = 1.0;
            }
        }
    }

    // With the word again, with 64 more bits, then with all.
    __attribute__((noinline)) double settle(std::size_t i, double rest, std::size_t first) const {
        std::uint64_t word;
        std::memcpy(&word, keystream_ + 2 * i, sizeof word);
        const std::uint64_t number = task_.key.first + first + i;
        const Halves half = halves_of(word);
        const Rounded a = round_cell(law_, half, word, rest, s_[i], slack_);
        if (a.reach < 0.5 && half.above >= 0.5 * least(Bits::word)) return a.q;
        const Law<Bits::continued> law(task_.noise);
        const Halves more = halves_of(word, refinement_block(task_.key, number));
        const Rounded b = round_cell(law, more, word, rest, s_[i], slack_);
        if (b.reach < 0.5 && more.above >= 0.5 * least(Bits::continued)) return b.q;
        const double low =
            task_.theta_low == nullptr ? 0.0 : task_.theta_low[first + i] * inverse_[i];
        return law_.settle({task_.key, number, word}, {rest, low, step_[i]}, task_.noise);
    }

    // q = K - whole, y = step K.
    void write(const double* q, const double* y, std::size_t first, std::size_t n) const {
        if (task_.integers != nullptr) {
            for (std::size_t i = 0; i < n; ++i) {
                const double whole = nearest_integer(theta_[i] * inverse_[i]);
                task_.integers[first + i] = integer_of(whole, q[i]);
            }
            return;
        }
        Real* out = task_.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Real>(y[i]);
    }

    const Task& task_;
    Law<Bits::word> law_;
    double slack_ = 0.0;
    OperandBlock<kN> theta_block_;
    OperandBlock<kN> step_block_;
    const std::uint32_t* keystream_ = nullptr;
    const double* theta_ = nullptr;
    const double* step_ = nullptr;
    bool first_ = true;
    alignas(64) double inverse_[kN];
    alignas(64) double s_[kN];
};

template <template <Bits> class Law, class Real, class Noise>
void sample(const AdditiveGridTask<Real, Noise>& task, std::size_t begin, std::size_t end) {
    Batches<Law, Real, Noise> batches(task);
    chacha20::for_each_batch<kBatch<double>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            batches.sample(keystream, first, n);
        });
}

}  // namespace grid
}  // namespace

extern const AdditiveGridKernels TIGHTNOISE_AT_LEVEL(additive_grid_kernels) = {
    {grid::sample<grid::Exponential, double>, grid::sample<grid::Exponential, float>},
    {grid::sample<grid::Steps, double>, grid::sample<grid::Steps, float>},
};

}  // namespace tightnoise
