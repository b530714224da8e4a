#include <limits>
#include <vector>

#include "runtime/parallel.hpp"
#include "worst/box_sums.hpp"

namespace tightnoise {
namespace {

constexpr double kOne = 1.0;

class CornerLoss final : public BoxLoss {
  public:
    CornerLoss(BoundedNoise noise, const double* width, const Operand& sensitivity, std::size_t n)
        : noise_(noise), width_(width), sensitivity_(sensitivity), n_(n), sums_(box_blocks(n)) {
        const auto step = [&](std::size_t i) {
            return std::min(float64_at(sensitivity_, i), width_[i]);
        };
        longest_ = norm_of(n, step);
        width_norm_ = norm_of(n, [&](std::size_t i) { return width_[i]; });
        root_of_product_ =
            norm_of(n, [&](std::size_t i) { return std::sqrt(step(i)) * std::sqrt(width_[i]); });
        for (std::size_t i = 0; i < n; ++i) step_sum_ += step(i);
    }

    // A sensitivity that is the same for all, and a longest difference of its own.
    CornerLoss(BoundedNoise noise, const double* width, double sensitivity, double longest,
               std::size_t n)
        : CornerLoss(noise, width, {&sensitivity, false, true}, n) {
        same_ = sensitivity;
        sensitivity_.data = &same_;
        longest_ = std::min(longest, longest_);
    }
    CornerLoss(const CornerLoss&) = delete;

    LossBound at(double scale, double) override {
        const BoxCoordinates box{width_, {&kOne, false, true}};
        parallel_blocks(sums_.size(), [&](std::size_t block) {
            const std::size_t begin = block * kBoxBlock;
            sums_[block] = kernels_of(noise_).corner(scale, sensitivity_, box, begin,
                                                     std::min(n_ - begin, kBoxBlock));
        });
        CompensatedSum total;
        for (const CompensatedSum& sum : sums_) add(total, sum);
        double loss = value(total);
        if (noise_ == BoundedNoise::truncated_theorem) {
            loss += theorem_exponent(width_norm_, longest_, scale);
        }
        return {loss * (1.0 - kBoundMargin), loss * (1.0 + kBoundMargin), 0.0};
    }

    ScaleGuess guess(double epsilon) override {
        return guess_of_scale(noise_, root_of_product_, step_sum_, epsilon);
    }

    void forget() override {}

  private:
    BoundedNoise noise_;
    const double* width_;
    Operand sensitivity_;
    std::size_t n_;
    double same_ = 0.0;
    double longest_, width_norm_, root_of_product_, step_sum_ = 0.0;
    std::vector<CompensatedSum> sums_;
};

}  // namespace

std::unique_ptr<BoxLoss> corner_loss(BoundedNoise noise, const double* width,
                                     const Operand& sensitivity, std::size_t n) {
    return std::make_unique<CornerLoss>(noise, width, sensitivity, n);
}

std::unique_ptr<BoxLoss> corner_loss_of_ball(BoundedNoise noise, const double* width,
                                             double sensitivity, std::size_t n) {
    const double most = n == 1 ? sensitivity : std::numeric_limits<double>::infinity();
    return std::make_unique<CornerLoss>(noise, width, most, sensitivity, n);
}

}  // namespace tightnoise
