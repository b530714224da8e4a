// The laws that noise on a grid is conditioned from (grid_conditioned.hpp). Kernel-side header:
// internal linkage, one copy a level.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "mechanisms/bounded_laplace_sampling.hpp"
#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/grid_truncated_coefficients.hpp"
#include "mechanisms/truncated_float32.hpp"
#include "mechanisms/truncated_sampling.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"
#include "random/uniform.hpp"

namespace tightnoise {
namespace {
namespace grid {

// How far log T may be from what its float64 evaluation from a word is (GRID_TRUNCATED.md).
inline double reach(std::uint64_t word, double unread) {
    return 0x1p-43 + 2.0 * unread * reciprocal_above(uniform::two_sided_unit(word).near);
}

// T(y) = e^-y.
struct LaplaceLaw {
    static constexpr Conditioned kLaw = Conditioned::laplace;
    static constexpr bool kHasRough = false;
    static constexpr std::size_t kN = kConditionedBatch;

    static void draw_roughly(const Seen& seen, std::size_t n, const Drawn& drawn) {
        draw(seen, n, drawn);
    }

    static void draw(const Seen& seen, std::size_t n, const Drawn& drawn) {
        alignas(64) double high[kN];
        alignas(64) double low[kN];
        const Seen from = seen;
        const Drawn to = drawn;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const auto down = bounded_laplace_noise::decay(from.down[i]);
            const auto up = bounded_laplace_noise::decay(from.up[i]);
            const Survival survival =
                survival_of(uniform::shares(from.words[i]), down.kept, down.lost, up.kept, up.lost);
            high[i] = survival.high;
            low[i] = survival.low;
            to.direction[i] = survival.direction;
            to.reach[i] = reach(from.words[i], from.unread) + kReach;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            to.y[i] = -log_of_sum(reduce_log_normal(high[i]), low[i]);
        }
    }
};

// T(y) = exp(-o y - y^2 / 2) m(o + y) / m(o), with m the Mills ratio and o what theta lies outside;
// its hazard is 1 / m(o + y).
struct GaussianLaw {
    static constexpr Conditioned kLaw = Conditioned::gaussian;
    static constexpr bool kHasRough = true;
    static constexpr std::size_t kN = kConditionedBatch;

    static double kept(double outside, double y, double mills_there, double inverse) {
        const double exponent = -y * (outside + 0.5 * y);
        // Below e^-100 it is nothing beside a share of 2^-65.
        return exp_of_bounded_sum(exponent > -100.0 ? exponent : -100.0, 0.0) *
               (mills_there * inverse);
    }

    // y where T(y) = e^-log_survival, up to the relative error of kStart.
    static double start(double outside, double mills_there, double log_survival) {
        constexpr auto& kStart = TruncatedCoefficients::kStart;
        const double r = 1.0 - outside * mills_there;
        const double v = 1.0 / (1.0 + std::sqrt(1.0 + 2.0 * log_survival * r));
        const double above =
            polynomial_in_halves(kStart[2], v) + r * polynomial_in_halves(kStart[3], v);
        const double factor = polynomial_in_halves(kStart[0], v) +
                              r * (polynomial_in_halves(kStart[1], v) + r * above);
        return 2.0 * log_survival * mills_there * v * factor;
    }

    static void draw(const Seen& seen, std::size_t n, const Drawn& drawn) {
        alignas(64) double high[kN];
        alignas(64) double low[kN];
        alignas(64) double inverse[kN];
        alignas(64) double mills_here[kN];
        alignas(64) double log_survival[kN];
        const Seen from = seen;
        const Drawn to = drawn;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double outside = from.outside[i];
            const double down = from.down[i];
            const double up = from.up[i];
            const double mills_down = mills_positive(outside + down);
            const double mills_up = mills_positive(outside + up);
            const double at_bound = down > 0.0 ? mills_up : mills_down;
            const double m = down > 0.0 && up > 0.0 ? kSqrtTwoPi * 0.5 : at_bound;
            const double hazard_here = 1.0 / m;
            const double down_kept = kept(outside, down, mills_down, hazard_here);
            const double up_kept = kept(outside, up, mills_up, hazard_here);
            const double kept_down = down > 0.0 ? down_kept : 1.0;
            const double kept_up = up > 0.0 ? up_kept : 1.0;
            const Survival survival = survival_of(uniform::shares(from.words[i]), kept_down,
                                                  1.0 - kept_down, kept_up, 1.0 - kept_up);
            high[i] = survival.high;
            low[i] = survival.low;
            inverse[i] = hazard_here;
            to.direction[i] = survival.direction;
            mills_here[i] = m;
            to.reach[i] = m * reach(from.words[i], from.unread) + kReach;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            log_survival[i] = -log_of_sum(reduce_log_normal(high[i]), low[i]);
            to.y[i] = start(from.outside[i], mills_here[i], log_survival[i]);
        }
        for (int step = 0; step < 2; ++step) {
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                to.y[i] =
                    truncated::tail_step(from.outside[i], inverse[i], log_survival[i], to.y[i]);
            }
        }
    }

    static void draw_roughly(const Seen& seen, std::size_t n, const Drawn& drawn) {
        alignas(64) float outside[kN];
        alignas(64) float down[kN];
        alignas(64) float up[kN];
        alignas(64) std::uint32_t words[kN];
        alignas(64) float y[kN];
        alignas(64) float direction[kN];
        alignas(64) float reach[kN];
        const Seen from = seen;
        const Drawn to = drawn;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            outside[i] = static_cast<float>(from.outside[i]);
            down[i] = static_cast<float>(from.down[i]);
            up[i] = static_cast<float>(from.up[i]);
            words[i] = static_cast<std::uint32_t>(from.words[i] >> 32);
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const auto masses = float32::masses(outside[i], down[i], up[i]);
            const auto beyond = float32::beyond(words[i], masses);
            const auto distance =
                float32::distance(outside[i], float32::tail(beyond.mass), masses.mills_at_mode);
            y[i] = distance.y;
            direction[i] = from_bits(0x3f800000u | beyond.sign);
            reach[i] = beyond.share >= float32::kLeastShare ? distance.error : 1e30f;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            to.y[i] = static_cast<double>(y[i]);
            to.direction[i] = static_cast<double>(direction[i]);
            to.reach[i] = static_cast<double>(reach[i]);
        }
    }
};

}  // namespace grid
}  // namespace
}  // namespace tightnoise
