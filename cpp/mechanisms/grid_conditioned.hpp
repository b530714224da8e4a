// Noise on a grid (grid_cells.hpp) conditioned on bounds: what its laws share. Kernel-side header:
// internal linkage, one copy a level.
//
// One path for every theta, inside the bounds or outside, so that time tells nothing of it. The
// density falls from its mode, theta or the bound nearest to it, and with y = abs(x - mode) / scale
// the mass on the line beyond y is that beyond 0 times a survival function T of the law. With the
// distances A and B from the mode down to `lower` and up to `upper`, in units of the scale, the
// mass within the bounds is (1 - T(A)) + (1 - T(B)), and a sample that has the share V of it above
// solves T(y) = V mass + T(B) upwards of the mode, if that is less than 1; else it lies below and
// solves T(y) = (1 - V) mass + T(A). Outside, A or B is 0: one of the two is left.
//
// Cells are counted from the mode: sample = mode +- scale y, so that K - whole is a small number.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mechanisms/grid_bounds.hpp"
#include "mechanisms/grid_cells.hpp"
#include "mechanisms/ideal_truncated.hpp"
#include "random/ideal_bits.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace grid {

// Elements at once: a whole batch would take much of the stack that threads have. All but the last
// rounding is in float64, whatever comes out.
constexpr std::size_t kConditionedBatch = 64;
static_assert(kBatch<float> % kConditionedBatch == 0 && kBatch<double> % kConditionedBatch == 0);

// Below this width, in units of the scale, what rough arithmetic leaves open is too much.
constexpr double kRoughWidth = 0.5;

// Elements as a law sees them, in units of the scale; none is above kFarthest.
struct Seen {
    const std::uint64_t* words;
    double unread;          // how far the share V of a word may be from that of all its bits
    const double* outside;  // how far theta lies outside the bounds, or 0
    const double* down;     // from the mode to the lower bound
    const double* up;       // and to the upper one
};

// A sample of theta further out lies as near to the bound as makes no difference, and theta below
// 2^-60 as near to that of 0: kReach is added to how far the ideal one may be.
constexpr double kFarthest = 0x1p60;
constexpr double kReach = 0x1p-54;

// Samples: mode + direction scale y, where the ideal y is within `reach` of y.
struct Drawn {
    double* y;
    double* direction;
    double* reach;
};

// A batch of elements, in units of the scale.
class Places {
    static constexpr std::size_t kN = kConditionedBatch;

  public:
    template <class Real>
    void load(const GridTask<Real>& task, std::size_t first, std::size_t n) {
        const double* theta = theta_block_.load(task.theta, first, n);
        const double* scale = scale_block_.load(task.sigma, first, n);
        const double* lower = lower_block_.load(task.lower, first, n);
        const double* upper = upper_block_.load(task.upper, first, n);
        const double* step = step_block_.load(task.step, first, n);
        const bool shared = task.sigma.is_scalar && task.lower.is_scalar && task.upper.is_scalar &&
                            task.step.is_scalar;
        if (is_first_ || !shared) load_public(scale, lower, upper, step, n);
        is_first_ = false;
        for (std::size_t i = 0; task.theta_low != nullptr && i < n; ++i) {
            low_[i] = task.theta_low[first + i];
        }
        const double* inverse = inverse_scale_;
        constexpr double kLargest = std::numeric_limits<double>::max();
        std::memcpy(theta_, theta, n * sizeof *theta_);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            // What is nothing beside the scale and the step, as subnormals, would cost time.
            const double value = std::fabs(theta[i]) < least_theta_[i] ? 0.0 : theta[i];
            const double above_lower = (value - lower[i]) + low_[i];
            const double below_upper = (upper[i] - value) - low_[i];
            const double least = above_lower < below_upper ? above_lower : below_upper;
            const double down = clip(above_lower, width_[i]) * inverse[i];
            const double up = clip(below_upper, width_[i]) * inverse[i];
            const double outside = (least < 0.0 ? -least : 0.0) * inverse[i];
            down_[i] = down < kFarthest ? down : kFarthest;
            up_[i] = up < kFarthest ? up : kFarthest;
            outside_[i] = outside < kFarthest ? outside : kFarthest;
            const double above = value < lower[i] ? lower[i] : value;
            const double mode = above > upper[i] ? upper[i] : above;
            // Beyond the range, the sample is the mode whatever the noise.
            const double x = mode * inverse_step_[i];
            const double below = x < kLargest ? x : kLargest;
            const double finite = below > -kLargest ? below : -kLargest;
            whole_[i] = nearest_integer(finite);
            rest_[i] = finite - whole_[i];
            // Its square must not overflow; so far out the sample is the bound.
        }
        if (task.theta_low != nullptr) add_low(lower, upper, n);
    }

    // Elements first, first + 1, ... of the batch, with these words.
    Seen seen(const std::uint64_t* words, double unread, std::size_t from) const {
        return {words + from, unread, outside_ + from, down_ + from, up_ + from};
    }
    // out may be theta: what is settled after it is written reads this.
    double theta(std::size_t i) const { return theta_[i]; }
    double low(std::size_t i) const { return low_[i]; }
    // The mode in units of the step, an integer and the rest.
    const double* whole() const { return whole_; }
    const double* rest() const { return rest_; }
    const double* scale_in_cells() const { return scale_in_cells_; }
    const double* step() const { return step_; }
    // The least and the largest K that have a positive probability.
    const double* least() const { return least_; }
    const double* most() const { return most_; }
    // What is written as the upper bound: the largest K, or the one after it.
    const double* letter_upper() const { return letter_upper_; }
    // Of the batch, from bound to bound: public, as all parameters but theta are.
    double least_width() const { return least_width_; }

  private:
    static double clip(double x, double most) {
        const double above = x > 0.0 ? x : 0.0;
        return above < most ? above : most;
    }

    // The mode of theta + low, from that of theta.
    void add_low(const double* lower, const double* upper, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            const bool was_inside = theta_[i] >= lower[i] && theta_[i] <= upper[i];
            double move = was_inside ? low_[i] : 0.0;
            if (down_[i] == 0.0 && was_inside) move = lower[i] - theta_[i];
            if (up_[i] == 0.0 && was_inside) move = upper[i] - theta_[i];
            rest_[i] += move * inverse_step_[i];
        }
    }

    void load_public(const double* scale, const double* lower, const double* upper,
                     const double* step, std::size_t n) {
        constexpr double kLargest = std::numeric_limits<double>::max();
        least_width_ = kLargest;
        for (std::size_t i = 0; i < n; ++i) {
            const double inverse = 1.0 / scale[i];
            inverse_scale_[i] = inverse < kLargest ? inverse : kLargest;  // 0 times it must stay 0
            inverse_step_[i] = 1.0 / step[i];
            width_[i] = upper[i] - lower[i];
            const double w = width_[i] * inverse_scale_[i];
            least_width_ = w < least_width_ ? w : least_width_;
            scale_in_cells_[i] = scale[i] * inverse_step_[i];
            const double from = lower[i] * inverse_step_[i];
            const double to = upper[i] * inverse_step_[i];
            least_[i] = least_integer(from);
            most_[i] = most_integer(to);
            letter_upper_[i] = least_integer(to);
            step_[i] = step[i];
            least_theta_[i] = (scale[i] < step[i] ? scale[i] : step[i]) * 0x1p-60;
        }
    }

    bool is_first_ = true;
    double least_width_;
    OperandBlock<kN> theta_block_;
    OperandBlock<kN> scale_block_;
    OperandBlock<kN> lower_block_;
    OperandBlock<kN> upper_block_;
    OperandBlock<kN> step_block_;
    alignas(64) double theta_[kN];
    alignas(64) double low_[kN] = {};
    alignas(64) double inverse_scale_[kN];
    alignas(64) double inverse_step_[kN];
    alignas(64) double width_[kN];
    alignas(64) double scale_in_cells_[kN];
    alignas(64) double least_[kN];
    alignas(64) double most_[kN];
    alignas(64) double letter_upper_[kN];
    alignas(64) double step_[kN];
    alignas(64) double least_theta_[kN];
    alignas(64) double outside_[kN];
    alignas(64) double down_[kN];
    alignas(64) double up_[kN];
    alignas(64) double whole_[kN];
    alignas(64) double rest_[kN];
};

// What T(y) is, as a sum of two doubles where it is near 1 and of positive terms where it is not.
struct Survival {
    double high;
    double low;
    double direction;  // 1 upwards of the mode, else -1
};
inline Survival survival_of(uniform::Shares share, double kept_down, double lost_down,
                            double kept_up, double lost_up) {
    const double mass = lost_down + lost_up;
    const double upwards = share.below * mass - lost_down;
    const double downwards = share.above * mass - lost_up;
    const bool is_up = upwards >= 0.0;
    const double lost = is_up ? upwards : (downwards < 0.0 ? 0.0 : downwards);
    const double kept = is_up ? share.above * mass + kept_up : share.below * mass + kept_down;
    const double complement = 1.0 - lost;
    return {lost < 0.5 ? complement : kept, lost < 0.5 ? (1.0 - complement) - lost : 0.0,
            is_up ? 1.0 : -1.0};
}

// The K - whole nearest to t, between the least and the most that there are, and how far t is from
// the ends of that cell which a sample can cross: a sample never crosses a bound, however near. The
// roundings that made t are taken off.
struct Cell {
    double q;
    double room;
};
inline Cell cell_of(double t, double least, double most) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const double nearest = small_nearest(t);
    const double above = nearest < least ? least : nearest;
    const double q = above > most ? most : above;
    const double to_lower = q > least ? (t - q) + 0.5 : kInfinite;
    const double to_upper = q < most ? (q - t) + 0.5 : kInfinite;
    const double room = to_lower < to_upper ? to_lower : to_upper;
    const double size = std::fabs(t);
    return {q, size < 0x1p50 ? room - size * 0x1p-51 : -1.0};  // NaN: no room
}

// The reciprocal of a normal number in (0, 1), or up to twice that.
inline double reciprocal_above(double x) {
    return from_bits(0x7fe0000000000000u - (to_bits(x) & 0x7ff0000000000000u));
}

// Of words of 64 bits, and of what stands in for them where the lower half is not there yet: its
// middle.
constexpr double kUnreadOfFull = 0x1p-65;
constexpr double kUnreadOfHalf = 0x1p-33;

// A batch of samples. For float32, words have 32 bits, and 32 more where those leave K open.
template <class Law, class Real>
class ConditionedNoise {
    static constexpr std::size_t kN = kConditionedBatch;
    static constexpr bool kIsHalf = sizeof(Real) < sizeof(double);
    using Word = typename box_muller::Bits<Real>::Word;

  public:
    // Writes elements first, ..., first + n - 1, at most kBatch<Real>.
    void write(const std::uint32_t* keystream, const GridTask<Real>& task, std::size_t first,
               std::size_t n) {
        alignas(64) Word words[kBatch<Real>];
        std::memcpy(words, keystream, sizeof words);
        for (std::size_t from = 0; from < n; from += kN) {
            write_part(words + from, task, first + from, n - from < kN ? n - from : kN);
        }
    }

    // Writes element `at` of this word of 32 bits, in full precision from the first.
    void write_one(Word word, const GridTask<Real>& task, std::size_t at) {
        load(task, at, 1);
        words_[0] = half_read(word);
        Law::draw(places_.seen(words_, kUnreadOfHalf, 0), 1, {y_, direction_, reach_});
        if (!round(0, 1, task.refine_all, task.out + at)) decide(0, word, false, task, at);
    }

  private:
    static std::uint64_t half_read(std::uint64_t word) { return word << 32 | 0x80000000u; }

    void write_part(const Word* words, const GridTask<Real>& task, std::size_t first,
                    std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            words_[i] = kIsHalf ? half_read(words[i]) : words[i];
        }
        load(task, first, n);
        const double unread = kIsHalf ? kUnreadOfHalf : kUnreadOfFull;
        const bool is_rough = Law::kHasRough && places_.least_width() >= kRoughWidth;
        if (is_rough) {
            Law::draw_roughly(places_.seen(words_, unread, 0), n, {y_, direction_, reach_});
        } else {
            Law::draw(places_.seen(words_, unread, 0), n, {y_, direction_, reach_});
        }
        if (round(0, n, task.refine_all, task.out + first)) return;
        for (std::size_t i = 0; i < n; ++i) {
            if (doubt_[i] != 0.0) decide(i, words[i], is_rough, task, first);
        }
    }

    // What K = whole + q is written as.
    Real letter(std::size_t i, double whole, double q) const {
        const Real nearest = static_cast<Real>(places_.step()[i] * (whole + q));
        const bool at_lower = q <= places_.least()[i] - whole;
        const bool at_upper = q >= places_.letter_upper()[i] - whole;
        const Real above = at_lower || nearest < lower_[i] ? lower_[i] : nearest;
        return (at_upper || above > upper_[i] ? upper_[i] : above) + Real(0);  // never -0
    }

    // Elements from, ..., end - 1 of what is drawn: whether none is doubtful.
    bool round(std::size_t from, std::size_t end, bool refine_all, Real* out) {
        const double slack = refine_all ? 0x1p60 : 2 * std::numeric_limits<double>::epsilon();
        double worst = 0.0;
#pragma omp simd reduction(max : worst)
        for (std::size_t i = from; i < end; ++i) {
            const double s = places_.scale_in_cells()[i];
            const double whole = places_.whole()[i];
            const double t = places_.rest()[i] + direction_[i] * (s * y_[i]);
            const Cell cell = cell_of(t, places_.least()[i] - whole, places_.most()[i] - whole);
            const double here = cell.room > s * reach_[i] + slack ? 0.0 : 1.0;
            q_[i] = cell.q;
            doubt_[i] = here;
            worst = here > worst ? here : worst;
            out[i] = letter(i, whole, cell.q);
        }
        return worst == 0.0;
    }

    void load(const GridTask<Real>& task, std::size_t first, std::size_t n) {
        places_.load(task, first, n);
        lower_ = lower_block_.load(task.lower, first, n);
        upper_ = upper_block_.load(task.upper, first, n);
    }

    // One element from all 64 bits, where these or the precision are more than before; then from
    // all there are.
    __attribute__((noinline)) void decide(std::size_t i, Word word, bool was_rough,
                                          const GridTask<Real>& task, std::size_t first) {
        Real* out = task.out + first;
        words_[i] = word;
        if constexpr (kIsHalf) {
            const auto block = refinement_block(task.key, task.key.first + first + i);
            words_[i] = std::uint64_t{word} << 32 | block.word[0];
        }
        if (was_rough || kIsHalf) {
            Law::draw(places_.seen(words_, kUnreadOfFull, i), 1,
                      {y_ + i, direction_ + i, reach_ + i});
            if (round(i, i + 1, task.refine_all, out)) return;
        }
        out[i] = letter(i, places_.whole()[i], settle(i, task, first));
    }

    double settle(std::size_t i, const GridTask<Real>& task, std::size_t first) const {
        const auto at = [&](const Operand& from) { return element_at(from, first + i); };
        const ConditionedElement element{task.key,       task.key.first + first + i,
                                         words_[i],      places_.theta(i),
                                         places_.low(i), at(task.sigma),
                                         at(task.lower), at(task.upper),
                                         at(task.step)};
        const double guess = std::fabs(q_[i]) < 0x1p50 ? q_[i] : 0.0;
        return ideal_conditioned(Law::kLaw, element, places_.whole()[i], guess);
    }

    Places places_;
    OperandBlock<kN, Real, RoundUp> lower_block_;
    OperandBlock<kN, Real, RoundDown> upper_block_;
    const Real* lower_;
    const Real* upper_;
    alignas(64) std::uint64_t words_[kN];
    alignas(64) double y_[kN];
    alignas(64) double direction_[kN];
    alignas(64) double reach_[kN];
    alignas(64) double q_[kN];
    alignas(64) double doubt_[kN];
};

template <class Law, class Real>
void conditioned(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    ConditionedNoise<Law, Real> noise;
    chacha20::for_each_batch<kBatch<Real>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            noise.write(keystream, task, first, n);
        });
}

}  // namespace grid
}  // namespace
}  // namespace tightnoise
