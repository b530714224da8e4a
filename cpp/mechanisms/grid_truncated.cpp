#include "mechanisms/grid_truncated.hpp"

#include "mechanisms/bounded_laplace_sampling.hpp"
#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/grid_truncated_coefficients.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

// How far log T may be from what its float64 evaluation from a word is (GRID_TRUNCATED.md).
inline double reach(std::uint64_t word) {
    return 0x1p-43 + 0x1p-64 * reciprocal_above(uniform::two_sided_unit(word).near);
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
            to.reach[i] = reach(from.words[i]) + kReach;
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
    // How far log T may be from its float32 evaluation, for shares from kRoughLeast to 1 less that;
    // derived in GRID_TRUNCATED.md.
    static constexpr float kRoughError = 1.2e-5f;
    static constexpr float kRoughLeast = 0x1p-12f;
    static constexpr std::size_t kN = kConditionedBatch;

    static double kept(double outside, double y, double mills_there, double inverse) {
        const double exponent = -y * (outside + 0.5 * y);
        // Below e^-100 it is nothing beside a share of 2^-65.
        return exp_of_bounded_sum(exponent > -100.0 ? exponent : -100.0, 0.0) *
               (mills_there * inverse);
    }

    // y where T(y) = e^-log_survival, up to the relative error of kStart.
    template <class Real>
    static Real start(Real outside, Real mills_there, Real log_survival) {
        using C = TruncatedCoefficients<Real>;
        const Real r = Real(1) - outside * mills_there;
        const Real v = Real(1) / (Real(1) + std::sqrt(Real(1) + Real(2) * log_survival * r));
        const Real above =
            polynomial_in_halves(C::kStart[2], v) + r * polynomial_in_halves(C::kStart[3], v);
        const Real factor = polynomial_in_halves(C::kStart[0], v) +
                            r * (polynomial_in_halves(C::kStart[1], v) + r * above);
        return Real(2) * log_survival * mills_there * v * factor;
    }

    // Halley's method for -log T(y) = log_survival; the derivative is the hazard h, and the second
    // one h (h - o - y).
    static double improve(double outside, double inverse, double log_survival, double y) {
        const double t = outside + y;
        const double m = mills_positive(t);
        const double excess = y * (outside + 0.5 * y) - log_positive(m * inverse) - log_survival;
        const double newton = excess * m;
        return y - newton / (1.0 - 0.5 * newton * (1.0 / m - t));
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
            to.reach[i] = m * reach(from.words[i]) + kReach;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            log_survival[i] = -log_of_sum(reduce_log_normal(high[i]), low[i]);
            to.y[i] = start(from.outside[i], mills_here[i], log_survival[i]);
        }
        for (int step = 0; step < 2; ++step) {
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                to.y[i] = improve(from.outside[i], inverse[i], log_survival[i], to.y[i]);
            }
        }
    }

    // With v = 1 / (x + 4).
    static float rough_mills(float v) {
        return v * polynomial_in_halves(TruncatedCoefficients<float>::kMills, 1.0f - 8.0f * v);
    }

    // For -80 <= x <= 0.
    static float rough_exp(float x) {
        const float k = small_nearest(x * 1.44269504f);
        const float r = (x - k * 0.693145752f) - k * 1.42860677e-6f;
        const float e = 1.0f + (r + r * r * polynomial(TruncatedCoefficients<float>::kExp, r));
        const std::uint32_t biased = to_bits(k + (0x1.8p23f + 127.0f));
        return e * from_bits(biased << 23);
    }

    static float rough_kept(float outside, float y, float mills_there, float inverse) {
        const float exponent = -y * (outside + 0.5f * y);
        return rough_exp(exponent > -80.0f ? exponent : -80.0f) * (mills_there * inverse);
    }

    // log x for x = 1 - complement, of which x near 1 has no digits left.
    static float rough_log(float x, float complement) {
        constexpr std::uint32_t kSqrtHalf = 0x3f3504f3u;
        const std::uint32_t above = to_bits(x) - kSqrtHalf + (127u << 23);
        const float k = from_bits(0x4b000000u | above >> 23) - (0x1p23f + 127);
        const float m = from_bits((above & 0x007fffffu) + kSqrtHalf);
        const float f = k == 0.0f ? -complement : m - 1.0f;
        return k * 0.693147181f +
               (f + f * f * polynomial_in_halves(TruncatedCoefficients<float>::kLog, f));
    }

    // In stages: short loops, so that the processor works on several elements at once.
    static void draw_roughly(const Seen& seen, std::size_t n, const Drawn& drawn) {
        alignas(64) float outside[kN];
        alignas(64) float mills_here[kN];
        alignas(64) float hazard_here[kN];
        alignas(64) float kept_down[kN];
        alignas(64) float kept_up[kN];
        alignas(64) float direction[kN];
        alignas(64) float log_survival[kN];
        alignas(64) float y[kN];
        alignas(64) float reach[kN];
        const Seen from = seen;
        const Drawn to = drawn;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            outside[i] = static_cast<float>(from.outside[i]);
            kept_down[i] = static_cast<float>(from.down[i]);
            kept_up[i] = static_cast<float>(from.up[i]);
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const float down = kept_down[i];
            const float up = kept_up[i];
            const float a = outside[i] + down + 4.0f;
            const float b = outside[i] + up + 4.0f;
            const float inverse = 1.0f / (a * b);
            const float mills_down = rough_mills(b * inverse);
            const float mills_up = rough_mills(a * inverse);
            const float at_bound = down > 0.0f ? mills_up : mills_down;
            const float m = down > 0.0f && up > 0.0f ? 1.25331414f : at_bound;
            const float hazard = 1.0f / m;
            mills_here[i] = m;
            hazard_here[i] = hazard;
            const float down_kept = rough_kept(outside[i], down, mills_down, hazard);
            const float up_kept = rough_kept(outside[i], up, mills_up, hazard);
            kept_down[i] = down > 0.0f ? down_kept : 1.0f;
            kept_up[i] = up > 0.0f ? up_kept : 1.0f;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const auto unit =
                uniform::two_sided_unit(static_cast<std::uint32_t>(from.words[i] >> 32));
            const float beyond = 1.0f - unit.near;
            const float above = uniform::select(unit.from_one, beyond, unit.near);
            const float below = uniform::select(unit.from_one, unit.near, beyond);
            const float lost_down = 1.0f - kept_down[i];
            const float lost_up = 1.0f - kept_up[i];
            const float mass = lost_down + lost_up;
            const float upwards = below * mass - lost_down;
            const float downwards = above * mass - lost_up;
            const bool is_up = upwards >= 0.0f;
            const float lost = is_up ? upwards : (downwards < 0.0f ? 0.0f : downwards);
            const float kept = is_up ? above * mass + kept_up[i] : below * mass + kept_down[i];
            log_survival[i] = -rough_log(lost < 0.5f ? 1.0f - lost : kept, lost);
            direction[i] = is_up ? 1.0f : -1.0f;
            reach[i] = unit.near >= kRoughLeast
                           ? mills_here[i] * kRoughError + static_cast<float>(kReach)
                           : 1e30f;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i)
            y[i] = start(outside[i], mills_here[i], log_survival[i]);
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const float there = rough_mills(1.0f / (outside[i] + y[i] + 4.0f));
            const float ratio = there * hazard_here[i];
            const float excess = y[i] * (outside[i] + 0.5f * y[i]) -
                                 rough_log(ratio, 1.0f - ratio) - log_survival[i];
            y[i] -= excess * there;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            to.y[i] = static_cast<double>(y[i]);
            to.direction[i] = static_cast<double>(direction[i]);
            to.reach[i] = static_cast<double>(reach[i]);
        }
    }
};

template <class Real>
constexpr GridConditionedSamplers<Real> kConditionedSamplers = {conditioned<GaussianLaw, Real>,
                                                                conditioned<LaplaceLaw, Real>};

}  // namespace grid
}  // namespace

extern const GridConditionedKernels TIGHTNOISE_AT_LEVEL(grid_truncated) = {
    grid::kConditionedSamplers<double>, grid::kConditionedSamplers<float>};

}  // namespace tightnoise
