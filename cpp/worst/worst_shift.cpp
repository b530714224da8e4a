#include "worst/worst_shift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "mechanisms/laplace_law.hpp"
#include "mechanisms/multi_gaussian.hpp"
#include "mechanisms/quasi_gaussian.hpp"
#include "mechanisms/scale_mixture.hpp"
#include "mechanisms/staircase_law.hpp"
#include "numeric/elementary.hpp"
#include "runtime/parallel.hpp"
#include "worst/epsilon_at.hpp"
#include "worst/shift_search.hpp"
#include "worst/unimodal.hpp"

namespace tightnoise {
namespace {

// With what is added upwards, 3e-10.
constexpr double kTolerance = 2e-10;
constexpr double kUnderflow = 1e-306;
// Relative, and ten times that of a divergence.
constexpr double kRounding = 1e-11;

double upwards(double divergence) {
    return std::min(1.0, divergence * (1.0 + kRounding) + kUnderflow);
}

// The greatest number that `upwards` does not raise above delta, or less.
double downwards(double delta) {
    return delta * (1.0 - 2.0 * kRounding) - kUnderflow;
}

bool is_unimodal(const MultiGaussianLaw& law) {
    // The weights are log-concave. No modes: centred at 0.
    return proven_unimodal(law, law.modes() > 0.0 ? law.sensitivity() : 0.0);
}

bool is_unimodal(const QuasiGaussianLaw&) {
    return false;
}

bool is_unimodal(const ScaleMixtureLaw& law) {
    return proven_unimodal(law, law.greatest_location());
}

// Laws with one mode, whose divergences have a closed form.
template <class Law>
constexpr bool kIsOfPieces = std::is_same_v<Law, LaplaceLaw> || std::is_same_v<Law, StaircaseLaw>;

template <class Law, class = std::enable_if_t<kIsOfPieces<Law>>>
bool is_unimodal(const Law&) {
    return true;
}

template <class Law>
WorstShift cost(const Law& law, bool unimodal, double epsilon, double sensitivity,
                double tolerance) {
    // No shift: both densities are the same.
    if (sensitivity == 0.0) {
        return {std::max(-std::expm1(epsilon), 0.0), 0.0, Proof::unimodal};
    }
    if (unimodal) {
        const double divergence = shift_divergence_upper(law, sensitivity, epsilon).at_most();
        return {upwards(divergence), sensitivity, Proof::unimodal};
    }
    ShiftSearchGoal goal;
    goal.tolerance = tolerance;
    const ShiftSearchResult found =
        ShiftSearch<Law>(law, law.least_sigma(), epsilon, sensitivity).run(goal);
    return {upwards(found.upper), found.shift, Proof::semiconvex};
}

// What a law of pieces costs at a divergence within 1e-12 of the truth where above 1e-300, and
// within a few subnormals below; `positive` is whether the true one is above 0. Never below the
// truth, at most 1e-11 of it above.
double unimodal_cost(double divergence, bool positive) {
    constexpr double kLost = 16.0 * std::numeric_limits<double>::denorm_min();
    return positive ? std::min(1.0, divergence * (1.0 + kRounding) + kLost) : 0.0;
}

WorstShift cost(const LaplaceLaw& law, bool, double epsilon, double sensitivity, double) {
    const bool unbounded_loss = law.bound() < kInfinity && sensitivity > 0.0;
    const double larger = law.enlarging();
    const bool above = std::fma(-epsilon, law.scale() * larger, sensitivity * larger) > 0.0;
    const double divergence = hockey_stick(law, sensitivity, epsilon);
    return {unimodal_cost(divergence, unbounded_loss || above), sensitivity, Proof::unimodal};
}

WorstShift cost(const StaircaseLaw& law, bool, double epsilon, double sensitivity, double) {
    const double shift = law.in_steps_upper(sensitivity);
    double delta = 1.0;
    if (shift < StaircaseLaw::kMostSteps) {
        delta = unimodal_cost(law.divergence(shift, epsilon), law.diverges(shift, epsilon));
    }
    return {delta, sensitivity, Proof::unimodal};
}

}  // namespace

template <class Law>
WorstShift worst_shift(const Law& law, double epsilon, double sensitivity) {
    return cost(law, is_unimodal(law), epsilon, sensitivity, kTolerance);
}

template <class Law>
double cost_of_shift(const Law& law, double epsilon, double shift) {
    if constexpr (kIsOfPieces<Law>) {
        return worst_shift(law, epsilon, shift).delta;
    } else {
        constexpr double kOpen = 5e-12;  // relative
        const ShiftDivergence at = shift_divergence_upper(law, shift, epsilon);
        return at.unsettled > kOpen * at.delta + kUnderflow ? kNaN : upwards(at.at_most());
    }
}

template <class Law>
ShiftCheck certify_at_most(const Law& law, double epsilon, double sensitivity, double delta) {
    const auto at_most = [=](double divergence) { return upwards(divergence) <= delta; };
    const double at_end = shift_divergence_upper(law, sensitivity, epsilon).at_most();
    if (!at_most(at_end)) return {false, at_end, sensitivity};
    if (is_unimodal(law)) return {true, at_end, sensitivity};
    // So that worst_shift, which is content with its tolerance, says so too.
    const double target = downwards(delta) * (1.0 - kTolerance);
    ShiftSearchGoal goal;
    goal.tolerance = 0.0;
    goal.acceptable = target;
    goal.refuted = target;
    const ShiftSearchResult found =
        ShiftSearch<Law>(law, law.least_sigma(), epsilon, sensitivity).run(goal);
    return {found.upper <= target, found.found, found.shift};
}

template <class Law>
void worst_shift_curve(const Law& law, double sensitivity, const double* epsilon, std::size_t n,
                       double tolerance, double* out) {
    constexpr std::size_t kBlock = kIsOfPieces<Law> ? 4096 : 16;
    const bool unimodal = is_unimodal(law);
    parallel_ranges(n, kBlock, [=, &law](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            out[i] = cost(law, unimodal, epsilon[i], sensitivity, tolerance - kTolerance).delta;
        }
    });
}

template <class Law>
double epsilon_at(const Law& law, double delta, double sensitivity) {
    return smallest_epsilon(law, delta, sensitivity);
}

template <>
double epsilon_at(const LaplaceLaw& law, double delta, double sensitivity) {
    const double greatest = std::nextafter(sensitivity / law.scale(), kInfinity);
    return unimodal_epsilon(law, delta, sensitivity, greatest);
}

template <>
double epsilon_at(const StaircaseLaw& law, double delta, double sensitivity) {
    const double greatest = law.greatest_loss(law.in_steps_upper(sensitivity));
    return unimodal_epsilon(law, delta, sensitivity, greatest);
}

#define TIGHTNOISE_WORST_SHIFT(Law)                              \
    template WorstShift worst_shift(const Law&, double, double); \
    template double cost_of_shift(const Law&, double, double);   \
    template void worst_shift_curve(const Law&, double, const double*, std::size_t, double, double*)
#define TIGHTNOISE_WORST_SHIFT_OF_MIXTURE(Law)              \
    TIGHTNOISE_WORST_SHIFT(Law);                            \
    template double epsilon_at(const Law&, double, double); \
    template ShiftCheck certify_at_most(const Law&, double, double, double)

TIGHTNOISE_WORST_SHIFT(LaplaceLaw);
TIGHTNOISE_WORST_SHIFT(StaircaseLaw);
TIGHTNOISE_WORST_SHIFT_OF_MIXTURE(MultiGaussianLaw);
TIGHTNOISE_WORST_SHIFT_OF_MIXTURE(QuasiGaussianLaw);
TIGHTNOISE_WORST_SHIFT_OF_MIXTURE(ScaleMixtureLaw);

}  // namespace tightnoise
