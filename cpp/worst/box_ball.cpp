// The greatest sum of losses over a ball: of H_i(c_i) with |c| <= D and 0 <= c_i <= r_i, H_i
// concave and rising up to r_i (the width; half of it for Theorem 13).
//
// With shares x_i = c_i/D, t = D/scale and slopes h_i = dH_i/dk at x_i, the best shares have
// h_i = nu x_i, or x_i at its limit and h_i more than that, and sum x_i^2 = 1. One number nu is to
// be found, and an x_i for each nu. Both at once: a pass over the coordinates takes one step of
// Newton's rule in each of them at the present nu, and adds up what the next nu follows from.
//
// The bound, for any nu > 0 and any x_i, however far from the best. For every point y of the set
// (from sum y_i^2 <= 1, then from concavity),
//     sum H_i(y_i) <= sum [H_i(y_i) - nu t y_i^2/2] + nu t/2
//                  <= sum [H_i(x_i) + t h_i (y_i - x_i) - nu t y_i^2/2] + nu t/2
//                   = sum H_i(x_i) + (nu t/2) (1 - sum x_i^2) + t sum [e_i d_i - nu d_i^2/2]
// with d_i = y_i - x_i and e_i = h_i - nu x_i. The last bracket is at most e_i^2/(2 nu), and, as
// y_i stays within its limits, at most e_i times the way to the limit on the side that e_i points
// to. So every pass ends with an upper bound. It exceeds the truth by the square of how far nu and
// x_i are off: shares right to 8 digits give a bound right to 16.
//
// Rounding: losses have a relative error, and the slopes' one is added to |e_i| (box_kernels.cpp),
// where it counts for its square. The sums are compensated; what is left is below kBoundMargin of
// the sum of the magnitudes of the terms.
//
// A large box starts from what a small one gives, of groups of similar coordinates.
#include <vector>

#include "numeric/elementary.hpp"
#include "runtime/parallel.hpp"
#include "worst/box_sums.hpp"

namespace tightnoise {
namespace {

constexpr double kOne = 1.0;

// A double's exponent and the first six bits after it.
constexpr int kCellBits = 11 + 6;

// Coordinates put together by their widths, those within a 64th of each other, roughly: the mean of
// a group, and how many there are.
class BoxGroups {
  public:
    BoxGroups(const double* width, std::size_t n) : index_(std::size_t{1} << kCellBits, kNone) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t& group = index_[cell_of(width[i])];
            if (group == kNone) {
                group = static_cast<std::uint32_t>(width_.size());
                width_.push_back(0.0);
                count_.push_back(0.0);
            }
            // The running mean: a sum could overflow.
            count_[group] += 1.0;
            width_[group] += (width[i] - width_[group]) / count_[group];
        }
    }

    std::size_t size() const { return width_.size(); }
    const double* width() const { return width_.data(); }
    const double* count() const { return count_.data(); }
    std::size_t group_of(double width) const { return index_[cell_of(width)]; }

  private:
    static constexpr std::uint32_t kNone = 0xffffffff;

    static std::size_t cell_of(double width) {
        return static_cast<std::size_t>(to_bits(width) >> (63 - kCellBits)) &
               ((std::size_t{1} << kCellBits) - 1);
    }

    std::vector<std::uint32_t> index_;
    std::vector<double> width_, count_;
};

class BallLoss final : public BoxLoss {
  public:
    BallLoss(BoundedNoise noise, const BoxCoordinates& box, double sensitivity, double width_norm,
             std::size_t n)
        : noise_(noise),
          box_(box),
          n_(n),
          width_norm_(width_norm),
          share_(n),
          elasticity_(n),
          sums_(box_blocks(n)) {
        step_.sensitivity = sensitivity;
        if (n < kManyCoordinates) return;
        groups_ = std::make_unique<BoxGroups>(box.width, n);
        if (groups_->size() > n / 8) return;
        const BoxCoordinates few{groups_->width(), {groups_->count(), false, false}};
        coarse_ = std::make_unique<BallLoss>(noise, few, sensitivity, width_norm, groups_->size());
    }

    LossBound at(double scale, double target) override {
        if (!started_) start(scale);
        LossBound best = settle(scale, target);
        // Nearly always settled by now. If not, again from the start, here and from above: the
        // wider the noise, the more alike are the slopes.
        for (double above = 1.0; !settled_ && above <= 64.0; above *= 8.0) {
            start(above * scale);
            for (double from = above * scale; from > scale; from *= 0.5) settle(from, kInfinity);
            const LossBound again = settle(scale, target);
            if (again.bound < best.bound) best = again;
        }
        return best;
    }

    ScaleGuess guess(double epsilon) override {
        if (coarse_) {
            const double scale = scale_of_epsilon(*coarse_, epsilon);
            return {scale, -1.5};
        }
        const double longest = step_.sensitivity;
        return guess_of_scale(noise_, std::sqrt(longest) * std::sqrt(width_norm_),
                              longest * std::sqrt(static_cast<double>(n_)), epsilon);
    }

    void forget() override { started_ = false; }

  private:
    static constexpr int kMostPasses = 40;
    static constexpr std::size_t kManyCoordinates = 16384;

    // Shares proportional to the widths, and the multiplier that suits them best.
    void start(double scale) {
        started_ = true;
        if (coarse_) return start_from_coarse(scale);
        const auto reset = [&] {
            for (std::size_t i = 0; i < n_; ++i) {
                share_[i] = box_.width[i] / width_norm_;
                elasticity_[i] = 0.0;
            }
        };
        reset();
        step_.scale = scale;
        step_.nu = step_.change = 1.0;
        const BallSums sums = one_pass();
        step_.nu = sums.slope / sums.square.sum;
        step_.change = 1.0;
        reset();
    }

    void start_from_coarse(double scale) {
        coarse_->at(scale, kInfinity);
        step_ = coarse_->step_;
        parallel_blocks(sums_.size(), [&](std::size_t block) {
            const std::size_t end = std::min(n_, (block + 1) * kBoxBlock);
            for (std::size_t i = block * kBoxBlock; i < end; ++i) {
                const std::size_t group = groups_->group_of(box_.width[i]);
                share_[i] = coarse_->share_[group] * (box_.width[i] / groups_->width()[group]);
                elasticity_[i] = coarse_->elasticity_[group];
            }
        });
    }

    // Passes at one scale until the gap is closed, or narrow beside the distance from the target.
    LossBound settle(double scale, double target) {
        constexpr double kClosed = 1e-14, kNarrow = 0.02;
        step_.nu *= step_.scale / scale;  // at the same shares it goes with the slopes, about
        step_.scale = scale;
        lowest_nu_ = 0.0;
        highest_nu_ = kInfinity;
        last_step_ = 8.0;
        longest_step_ = 4.0;
        settled_ = false;
        LossBound result{0.0, kInfinity, kInfinity};
        for (int pass = 0; pass < kMostPasses && !settled_; ++pass) {
            result = bound_of(one_pass());
            const double distance = std::fabs(result.bound - result.gap - target);
            settled_ = result.gap <= kClosed * result.bound ||
                       (target < kInfinity && result.gap < kNarrow * distance);
        }
        return result;
    }

    BallSums one_pass() {
        parallel_blocks(sums_.size(), [&](std::size_t block) {
            const std::size_t begin = block * kBoxBlock;
            kernels_of(noise_).pass(step_, box_, {share_.data(), elasticity_.data()}, begin,
                                    std::min(n_ - begin, kBoxBlock), &sums_[block]);
        });
        BallSums total{};
        for (const BallSums& sums : sums_) {
            add(total.loss, sums.loss);
            add(total.square, sums.square);
            total.slope += sums.slope;
            total.excess += sums.excess;
            total.moved_square += sums.moved_square;
            total.moved_elastic += sums.moved_elastic;
        }
        return total;
    }

    LossBound bound_of(const BallSums& sums) {
        // The bound above; price is nu t/2.
        const double t = step_.sensitivity / step_.scale, price = 0.5 * step_.nu * t;
        const double loss = sums.loss.sum + sums.loss.error;
        const double unspent = (1.0 - sums.square.sum) - sums.square.error;
        double bound = loss + price * unspent + t * sums.excess;
        bound += kBoundMargin * (loss + price * (1.0 + sums.square.sum));
        const double exponent = noise_ == BoundedNoise::truncated_theorem
                                    ? theorem_exponent(width_norm_, step_.sensitivity, step_.scale)
                                    : 0.0;
        bound += exponent * (1.0 + kBoundMargin);
        // By how much it is too large: as if nu did not change the shares, or, near the best nu, by
        // the parabola through it.
        const double left = std::fabs(1.0 - sums.moved_square);
        const double quadratic = 0.25 * left / sums.moved_elastic;
        const double gap = t * sums.excess + price * left * std::min(1.0, quadratic);
        const bool settled = t * sums.excess < 0.1 * price * left;
        advance_multiplier(sums.moved_square, sums.moved_elastic, settled);
        // The shares, within the ball after shrinking them: H(q k) >= q H(k) for q <= 1.
        const double shrink = 1.0 / std::sqrt(std::max(1.0, sums.square.sum));
        return {loss * shrink * (1.0 - kBoundMargin) + exponent * (1.0 - kBoundMargin), bound, gap};
    }

    // Newton's rule for log |share|^2 by log nu, which falls; bisection where that leaves what is
    // known: at kinks, where coordinates come to their limits.
    void advance_multiplier(double square, double elastic, bool settled) {
        const double nu = step_.nu;
        if (settled) (square > 1.0 ? lowest_nu_ : highest_nu_) = nu;
        if (!(lowest_nu_ < highest_nu_)) {
            lowest_nu_ = 0.0;
            highest_nu_ = kInfinity;
        }
        double step = elastic > 0.0 ? 0.5 * std::log(square) * square / elastic : kInfinity;
        // Steps to and fro become shorter.
        const bool turns = (step > 0.0) != (last_step_ > 0.0);
        longest_step_ = turns ? 0.5 * std::fabs(last_step_) : std::min(2.0 * longest_step_, 4.0);
        step = std::clamp(step, -longest_step_, longest_step_);
        last_step_ = step;
        double next = nu * std::exp(step);
        if (next <= lowest_nu_) next = std::sqrt(lowest_nu_) * std::sqrt(nu);
        if (next >= highest_nu_) next = std::sqrt(highest_nu_) * std::sqrt(nu);
        step_.change = next / nu;
        step_.nu = next;
    }

    BoundedNoise noise_;
    BoxCoordinates box_;
    std::size_t n_;
    double width_norm_;
    bool started_ = false, settled_ = false;
    BallStep step_{};
    // Of the search for nu at one scale: what is known of it, and how far it may step.
    double lowest_nu_ = 0.0, highest_nu_ = kInfinity, last_step_ = 8.0, longest_step_ = 4.0;
    std::vector<double> share_, elasticity_;
    std::vector<BallSums> sums_;
    std::unique_ptr<BoxGroups> groups_;
    std::unique_ptr<BallLoss> coarse_;
};

}  // namespace

std::unique_ptr<BoxLoss> ball_loss(BoundedNoise noise, const double* width, double sensitivity,
                                   std::size_t n) {
    const double width_norm = norm_of(n, [&](std::size_t i) { return width[i]; });
    const double reach = noise == BoundedNoise::truncated_theorem ? 0.5 : 1.0;
    // The sum at the corner is never too small, and above by no more than the box sticks out.
    constexpr double kNearlyAll = 1.0 - 1e-14;
    if (n == 1 || sensitivity >= kNearlyAll * reach * width_norm) {
        return corner_loss_of_ball(noise, width, sensitivity, n);
    }
    return std::make_unique<BallLoss>(noise, BoxCoordinates{width, {&kOne, false, true}},
                                      sensitivity, width_norm, n);
}

}  // namespace tightnoise
