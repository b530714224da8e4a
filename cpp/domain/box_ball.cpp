#include <limits>
#include <vector>

#include "domain/box_corner.hpp"
#include "domain/box_groups.hpp"
#include "domain/box_sums.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kOne = 1.0;

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
        if (started_) {
            step_.nu *= step_.scale / scale;
        } else if (coarse_) {
            start_from_coarse(scale);
        } else {
            start(scale);
        }
        started_ = true;
        step_.scale = scale;
        lowest_nu_ = 0.0;
        highest_nu_ = kInfinity;
        LossBound result{kInfinity, kInfinity};
        for (int pass = 0; pass < kMostPasses; ++pass) {
            result = bound_of(one_pass());
            const double distance = std::fabs(result.bound - result.gap - target);
            if (!(result.gap > 1e-14 * result.bound)) break;
            if (target < kInfinity && result.gap < 0.02 * distance) break;
        }
        return result;
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

    void start(double scale) {
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
        step_.nu = sums.slope / sums.square;
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

    BallSums one_pass() {
        parallel_blocks(sums_.size(), [&](std::size_t block) {
            const std::size_t begin = block * kBoxBlock;
            kernels_of(noise_).pass(step_, box_, {share_.data(), elasticity_.data()}, begin,
                                    std::min(n_ - begin, kBoxBlock), &sums_[block]);
        });
        CompensatedSum loss, square;
        BallSums total{};
        for (const BallSums& sums : sums_) {
            add(loss, CompensatedSum{sums.loss, sums.loss_error});
            add(square, CompensatedSum{sums.square, sums.square_error});
            total.slope += sums.slope;
            total.excess += sums.excess;
            total.moved_square += sums.moved_square;
            total.moved_elastic += sums.moved_elastic;
        }
        total.loss = loss.sum;
        total.loss_error = loss.error;
        total.square = square.sum;
        total.square_error = square.error;
        return total;
    }

    LossBound bound_of(const BallSums& sums) {
        const double t = step_.sensitivity / step_.scale, price = 0.5 * step_.nu * t;
        const double loss = sums.loss + sums.loss_error;
        const double unspent = (1.0 - sums.square) - sums.square_error;
        double bound = loss + price * unspent + t * sums.excess;
        bound += kBoundMargin * (loss + price * (1.0 + sums.square));
        if (noise_ == BoundedNoise::truncated_theorem) {
            bound += theorem_exponent(width_norm_, step_.sensitivity, step_.scale) *
                     (1.0 + kBoundMargin);
        }
        const double left = std::fabs(1.0 - sums.moved_square);
        const double quadratic = 0.25 * left / sums.moved_elastic;
        const double gap = t * sums.excess + price * left * std::min(quadratic, 1.0);
        const bool settled = t * sums.excess < 0.1 * price * left;
        advance_multiplier(sums.moved_square, sums.moved_elastic, settled);
        return {bound, gap};
    }

    // Newton's rule for log |share|^2 by log nu, which falls; bisection where that leaves what is
    // known: at kinks, where coordinates come to their limits.
    void advance_multiplier(double square, double elastic, bool settled) {
        constexpr double kLongestStep = 4.0;
        const double nu = step_.nu;
        if (settled) (square > 1.0 ? lowest_nu_ : highest_nu_) = nu;
        if (!(lowest_nu_ < highest_nu_)) {
            lowest_nu_ = 0.0;
            highest_nu_ = kInfinity;
        }
        const double step = elastic > 0.0 ? 0.5 * std::log(square) * square / elastic : kInfinity;
        double next = nu * std::exp(std::clamp(step, -kLongestStep, kLongestStep));
        if (next <= lowest_nu_) next = std::sqrt(lowest_nu_) * std::sqrt(nu);
        if (next >= highest_nu_) next = std::sqrt(highest_nu_) * std::sqrt(nu);
        step_.change = next / nu;
        step_.nu = next;
    }

    BoundedNoise noise_;
    BoxCoordinates box_;
    std::size_t n_;
    double width_norm_;
    bool started_ = false;
    BallStep step_{};
    double lowest_nu_ = 0.0, highest_nu_ = kInfinity;
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
