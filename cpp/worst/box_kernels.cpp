#include "worst/box_kernels.hpp"

#include "numeric/compensated_sum.hpp"
#include "runtime/operand_block.hpp"
#include "worst/bounded_laplace_loss.hpp"
#include "worst/rectified_loss.hpp"
#include "worst/theorem_loss.hpp"
#include "worst/truncated_loss.hpp"

namespace tightnoise {
namespace {

// Widths and steps below count as this: no loss is as small as what that adds.
constexpr double kLeast = 1e-290;

constexpr std::size_t kChunk = 256;  // coordinates whose terms stay in the first-level cache

// What a coordinate adds to the sums of a pass.
struct Terms {
    double loss[kChunk], square[kChunk], slope[kChunk], excess[kChunk], moved[kChunk],
        elasticity[kChunk];
};

// One step, and the terms of the bound in box_ball.cpp. kMargin is what rounding may do to a slope.
template <class Family>
inline void step_chunk(const BallStep& step, const double* width, const double* share,
                       const double* elasticity, std::size_t n, Terms& terms) {
    constexpr double kMargin = 1e-13;
    const double t = step.sensitivity / step.scale;
    const double nu = step.nu, half_inverse_nu = 0.5 / step.nu, drift = step.change - 1.0;
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double reach = Family::reach * width[i];
        const double limit = smaller_of(reach / step.sensitivity, 1.0);
        // At the limit itself the slope of bounded Laplace noise is 0, and a wide box has none of
        // the points where it falls to that: the bound is taken just below.
        const double most = limit * (1.0 - 0x1p-50);
        const double x = smaller_of(share[i] / (1.0 + elasticity[i] * drift), most);
        const double w = larger_of(width[i] / step.scale, kLeast);
        const double k = smaller_of(larger_of(t * x, kLeast), Family::reach * w);
        const LossPoint point = Family::at(k, w);
        const double residual = point.slope - nu * x;
        const double bend = Family::curvature(k, w, point.slope) * t;
        const double to_edge = residual > 0.0 ? limit - x : x;
        const double off =
            std::fabs(residual) + kMargin * (point.slope + nu * x) + Family::slope_error * w;
        // Newton's rule for slope = nu x, and for its logarithm: the one is exact where the slope
        // is constant, the other does not stop where it decays like a Gaussian, and from too large
        // an x does not end below the root. Where x or the slope is 0 the logarithm's is NaN.
        const double inverse_stiffness = 1.0 / (bend + nu);
        const double linear = x + residual * inverse_stiffness;
        const double logarithmic = x + log(point.slope / (nu * x)) / (bend / point.slope + 1.0 / x);
        const double target = larger_of(logarithmic, linear);
        const double moved = larger_of(smaller_of(target, limit), 0.0);
        const double elastic = nu * (target < limit ? inverse_stiffness : 0.0);
        const double excess = off * smaller_of(off * half_inverse_nu, to_edge);
        terms.loss[i] = point.loss;
        terms.square[i] = x * x;
        terms.slope[i] = point.slope * x;
        terms.excess[i] = excess;
        terms.moved[i] = moved;
        terms.elasticity[i] = elastic;
    }
}

template <class Family>
void pass(const BallStep& step, const BoxCoordinates& box, const BallState& state,
          std::size_t begin, std::size_t n, BallSums* out) {
    OperandBlock<kChunk> counts;
    CompensatedSum loss, square;
    double slope = 0.0, excess = 0.0, moved_square = 0.0, moved_elastic = 0.0;
    for (std::size_t at = begin; at < begin + n; at += kChunk) {
        const std::size_t size = begin + n - at < kChunk ? begin + n - at : kChunk;
        Terms terms;
        step_chunk<Family>(step, box.width + at, state.share + at, state.elasticity + at, size,
                           terms);
        const double* count = counts.load(box.count, at, size);
        add(loss, compensated_sum(size, [&](std::size_t i) { return count[i] * terms.loss[i]; }));
        add(square,
            compensated_sum(size, [&](std::size_t i) { return count[i] * terms.square[i]; }));
#pragma omp simd reduction(+ : slope, excess, moved_square, moved_elastic)
        for (std::size_t i = 0; i < size; ++i) {
            slope += count[i] * terms.slope[i];
            excess += count[i] * terms.excess[i];
            const double square_there = count[i] * terms.moved[i] * terms.moved[i];
            moved_square += square_there;
            moved_elastic += square_there * terms.elasticity[i];
            state.share[at + i] = terms.moved[i];
            state.elasticity[at + i] = terms.elasticity[i];
        }
    }
    *out = {loss, square, slope, excess, moved_square, moved_elastic};
}

template <class Family>
CompensatedSum corner(double scale, const Operand& sensitivity, const BoxCoordinates& box,
                      std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> sensitivities, counts;
    CompensatedSum total;
    double loss[kChunk];
    for (std::size_t at = begin; at < begin + n; at += kChunk) {
        const std::size_t size = begin + n - at < kChunk ? begin + n - at : kChunk;
        const double* width = box.width + at;
        const double* most = sensitivities.load(sensitivity, at, size);
        const double* count = counts.load(box.count, at, size);
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i) {
            const double w = larger_of(width[i] / scale, kLeast);
            const double k = smaller_of(larger_of(most[i] / scale, kLeast), Family::reach * w);
            loss[i] = Family::at(k, w).loss;
        }
        add(total, compensated_sum(size, [&](std::size_t i) { return count[i] * loss[i]; }));
    }
    return total;
}

}  // namespace

extern const BoxKernels TIGHTNOISE_AT_LEVEL(box_kernels) = {
    {pass<TruncatedLoss>, corner<TruncatedLoss>},
    {pass<RectifiedLoss>, corner<RectifiedLoss>},
    {pass<BoundedLaplaceLoss>, corner<BoundedLaplaceLoss>},
    {pass<TheoremLoss>, corner<TheoremLoss>}};

}  // namespace tightnoise
