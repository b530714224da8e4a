#include "mechanisms/grid_truncated.hpp"

#include "mechanisms/grid_conditioned.hpp"
#include "mechanisms/grid_truncated_coefficients.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise {
namespace {
namespace grid {

// T(y) = e^-y.
struct LaplaceLaw {
    static constexpr Conditioned kLaw = Conditioned::laplace;
    static constexpr double kError = 0x1p-43;
    static constexpr std::size_t kN = kConditionedBatch;

    // e^-t and 1 - e^-t for t >= 0; beyond 700 those at 700. Relative error: 3e-16.
    struct Decay {
        double kept, lost;
    };
    static Decay decay(double t) {
        const ExpReduction e = reduce_exp(t < 700.0 ? -t : -700.0);
        const double power = power_of_two(e.k);
        const double rest = power * (e.r + e.r * e.r * polynomial_in_halves(kExp, e.r));
        return {power + rest, (1.0 - power) - rest};
    }

    void draw(const std::uint64_t* words, const Places& places, std::size_t n, double* y,
              double* outwards) const {
        alignas(64) double high[kN];
        alignas(64) double low[kN];
        const double* to_near = places.near();
        const double* to_far = places.far();
        const double* upwards = places.upwards();
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const Decay near = decay(to_near[i]);
            const Decay far = decay(to_far[i]);
            const Survival survival = survival_of(side_shares(words[i], upwards[i]), near.kept,
                                                  near.lost, far.kept, far.lost);
            high[i] = survival.high;
            low[i] = survival.low;
            outwards[i] = survival.outwards;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = -log_of_sum(reduce_log_normal(high[i]), low[i]);
        }
    }
};

// T(y) = exp(-o y - y^2 / 2) m(o + y) / m(o), with m the Mills ratio and o what theta lies outside.
struct GaussianLaw {
    static constexpr Conditioned kLaw = Conditioned::gaussian;
    static constexpr double kError = 0x1p-43;
    static constexpr std::size_t kN = kConditionedBatch;

    static double kept(double outside, double y, double mills_there, double inverse) {
        const double exponent = -y * (outside + 0.5 * y);
        // Below e^-100 it is nothing beside a share of 2^-65.
        return exp_of_bounded_sum(exponent > -100.0 ? exponent : -100.0, 0.0) *
               (mills_there * inverse);
    }

    // Within 3.2e-4 of y.
    static double start(double outside, double mills_there, double log_survival) {
        const double r = 1.0 - outside * mills_there;
        const double v = 1.0 / (1.0 + std::sqrt(1.0 + 2.0 * log_survival * r));
        double factor = polynomial(kStart[3], v);
        factor = factor * r + polynomial(kStart[2], v);
        factor = factor * r + polynomial(kStart[1], v);
        factor = factor * r + polynomial(kStart[0], v);
        return 2.0 * log_survival * mills_there * v * factor;
    }

    // Halley's method for -log T(y) = log_survival; the derivative is the hazard 1 / m, and the
    // second one h (h - o - y).
    static double improve(double outside, double inverse, double log_survival, double y) {
        const double t = outside + y;
        const double m = mills_positive(t);
        const double excess = y * (outside + 0.5 * y) - log_positive(m * inverse) - log_survival;
        const double newton = excess * m;
        return y - newton / (1.0 - 0.5 * newton * (1.0 / m - t));
    }

    void draw(const std::uint64_t* words, const Places& places, std::size_t n, double* y,
              double* outwards) const {
        alignas(64) double high[kN];
        alignas(64) double low[kN];
        alignas(64) double mills_at_mode[kN];
        alignas(64) double inverse[kN];
        alignas(64) double log_survival[kN];
        const double* outside = places.outside();
        const double* to_near = places.near();
        const double* to_far = places.far();
        const double* upwards = places.upwards();
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double near = to_near[i];
            const double far = to_far[i];
            const double mills_near = mills_positive(outside[i] + near);
            const double mills_far = mills_positive(outside[i] + far);
            const double m = near > 0.0 ? kSqrtTwoPi * 0.5 : mills_near;
            const double hazard_here = 1.0 / m;
            const double near_kept = kept(outside[i], near, mills_near, hazard_here);
            const double kept_near = near > 0.0 ? near_kept : 1.0;
            const double kept_far = kept(outside[i], far, mills_far, hazard_here);
            const Survival survival = survival_of(side_shares(words[i], upwards[i]), kept_near,
                                                  1.0 - kept_near, kept_far, 1.0 - kept_far);
            high[i] = survival.high;
            low[i] = survival.low;
            outwards[i] = survival.outwards;
            mills_at_mode[i] = m;
            inverse[i] = hazard_here;
        }
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            log_survival[i] = -log_of_sum(reduce_log_normal(high[i]), low[i]);
            y[i] = start(outside[i], mills_at_mode[i], log_survival[i]);
        }
        for (int step = 0; step < 2; ++step) {
#pragma omp simd
            for (std::size_t i = 0; i < n; ++i) {
                y[i] = improve(outside[i], inverse[i], log_survival[i], y[i]);
            }
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
