#include "worst/worst_shift.hpp"

#include <algorithm>
#include <cmath>

#include "additive/multi_gaussian.hpp"
#include "additive/scale_mixture.hpp"
#include "mechanisms/quasi_gaussian.hpp"
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

template <class Law>
WorstShift cost(const Law& law, bool unimodal, double epsilon, double sensitivity,
                double tolerance) {
    // No shift: both densities are the same.
    if (sensitivity == 0.0) {
        return {std::max(-std::expm1(epsilon), 0.0), 0.0, Proof::unimodal};
    }
    if (unimodal) {
        const double divergence = shift_divergence(law, sensitivity, epsilon).at_most();
        return {upwards(divergence), sensitivity, Proof::unimodal};
    }
    ShiftSearchGoal goal;
    goal.tolerance = tolerance;
    const ShiftSearchResult found =
        ShiftSearch<Law>(law, law.least_sigma(), epsilon, sensitivity).run(goal);
    return {upwards(found.upper), found.shift, Proof::semiconvex};
}

template <class Law>
WorstShift worst(const Law& law, double epsilon, double sensitivity) {
    return cost(law, is_unimodal(law), epsilon, sensitivity, kTolerance);
}

template <class Law>
ShiftCheck check(const Law& law, double epsilon, double sensitivity, double delta) {
    const auto at_most = [=](double divergence) { return upwards(divergence) <= delta; };
    const double at_end = shift_divergence(law, sensitivity, epsilon).at_most();
    if (!at_most(at_end)) return {false, at_end, sensitivity};
    if (is_unimodal(law)) return {true, at_end, sensitivity};
    ShiftSearchGoal goal;
    goal.tolerance = 0.0;
    goal.acceptable = downwards(delta);
    goal.refuted = downwards(delta);
    const ShiftSearchResult found =
        ShiftSearch<Law>(law, law.least_sigma(), epsilon, sensitivity).run(goal);
    return {at_most(found.upper), found.found, found.shift};
}

template <class Law>
void curve(const Law& law, double sensitivity, const double* epsilon, std::size_t n,
           double tolerance, double* out) {
    constexpr std::size_t kBlock = 16;
    const bool unimodal = is_unimodal(law);
    parallel_blocks((n + kBlock - 1) / kBlock, [=, &law](std::size_t block) {
        const std::size_t end = std::min(n, (block + 1) * kBlock);
        for (std::size_t i = block * kBlock; i < end; ++i) {
            out[i] = cost(law, unimodal, epsilon[i], sensitivity, tolerance - kTolerance).delta;
        }
    });
}

}  // namespace

WorstShift worst_shift(const MultiGaussianLaw& law, double epsilon, double sensitivity) {
    return worst(law, epsilon, sensitivity);
}
WorstShift worst_shift(const QuasiGaussianLaw& law, double epsilon, double sensitivity) {
    return worst(law, epsilon, sensitivity);
}
WorstShift worst_shift(const ScaleMixtureLaw& law, double epsilon, double sensitivity) {
    return worst(law, epsilon, sensitivity);
}

ShiftCheck certify_at_most(const MultiGaussianLaw& law, double epsilon, double sensitivity,
                           double delta) {
    return check(law, epsilon, sensitivity, delta);
}
ShiftCheck certify_at_most(const QuasiGaussianLaw& law, double epsilon, double sensitivity,
                           double delta) {
    return check(law, epsilon, sensitivity, delta);
}
ShiftCheck certify_at_most(const ScaleMixtureLaw& law, double epsilon, double sensitivity,
                           double delta) {
    return check(law, epsilon, sensitivity, delta);
}

void worst_shift_curve(const MultiGaussianLaw& law, double sensitivity, const double* epsilon,
                       std::size_t n, double tolerance, double* out) {
    curve(law, sensitivity, epsilon, n, tolerance, out);
}
void worst_shift_curve(const QuasiGaussianLaw& law, double sensitivity, const double* epsilon,
                       std::size_t n, double tolerance, double* out) {
    curve(law, sensitivity, epsilon, n, tolerance, out);
}
void worst_shift_curve(const ScaleMixtureLaw& law, double sensitivity, const double* epsilon,
                       std::size_t n, double tolerance, double* out) {
    curve(law, sensitivity, epsilon, n, tolerance, out);
}

double epsilon_at(const MultiGaussianLaw& law, double delta, double sensitivity) {
    return smallest_epsilon(law, delta, sensitivity);
}
double epsilon_at(const QuasiGaussianLaw& law, double delta, double sensitivity) {
    return smallest_epsilon(law, delta, sensitivity);
}
double epsilon_at(const ScaleMixtureLaw& law, double delta, double sensitivity) {
    return smallest_epsilon(law, delta, sensitivity);
}

}  // namespace tightnoise
