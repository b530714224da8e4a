#include "cost/contour/atoms_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kMargin = 1.0 + 1e-9;  // far above the rounding of sums of positive terms
constexpr double kTiny = 1e-300;

}  // namespace

AtomsLine::AtomsLine(TiltedNodes nodes, Moment moment) : NodeLine(nodes, moment) {
    for (std::size_t j = 0; j + 1 < nodes.loss.size(); ++j) {
        gap_.push_back(nodes.loss[j + 1] - nodes.loss[j]);
    }
}

// Of an atom as of a density over half the gaps to both sides, p times as wide. Between atoms that
// are close to each other this is summed by parts; what is left of an atom, beside a wide gap or
// where it is far denser than its neighbours, counts by its weight.
AtomsLine::Bound AtomsLine::bound(double end) const {
    const std::vector<double>& weights = weight();
    const std::size_t n = weights.size();
    if (n < 3) return {1.0, 0.0};
    const double widest = kPi / end;
    const auto density = [&](std::size_t j) {
        const double before = j > 0 ? gap_[j - 1] : 0.0, after = j < gap_.size() ? gap_[j] : 0.0;
        return weights[j] / (0.5 * (before + after) + kTiny);
    };
    std::vector<double> p(n);
    for (std::size_t j = 0; j < n; ++j) {
        const double before = j > 0 ? density(j - 1) : 0.0;
        const double after = j + 1 < n ? density(j + 1) : 0.0;
        p[j] = std::min(density(j), std::max(before, after));
    }
    double constant = 0.0, slope = 0.0, used = 0.0, all = 0.0;
    double last = -1.0, last_gap = 0.0;  // of the gap before; none before a run
    for (std::size_t j = 0; j < n; ++j) all += weights[j];
    for (std::size_t j = 0; j + 1 < n; ++j) {
        const double gap = gap_[j], mean = 0.5 * (p[j] + p[j + 1]);
        if (!(gap <= widest)) {
            slope += std::max(last, 0.0);
            last = -1.0;
            continue;
        }
        used += gap * mean;
        constant += 0.5 * gap * std::fabs(p[j + 1] - p[j]);
        if (last < 0.0) {
            slope += mean;
        } else {
            slope += std::fabs(mean - last);
            constant += 0.25 * kPi * last * std::fabs(gap - last_gap);
        }
        last = mean;
        last_gap = gap;
    }
    slope += std::max(last, 0.0);
    const double alone = std::max(all - used, 0.0) + 1e-12 * all;
    return {(constant + alone) * kMargin + missing() + weight_error(), slope * kMargin};
}

const AtomsLine::Bound& AtomsLine::bound_until(double end) const {
    for (const auto& known : known_) {
        if (known.first == end) return known.second;
    }
    known_.emplace_back(end, bound(end));
    return known_.back().second;
}

// |phi(y')|^2 <= 1 - (2/pi^2) y'^2 E[(D - D')^2; both within a window of width pi/end].
double AtomsLine::near_bound(double y, double end) const {
    const std::vector<double>& d = distance();
    const std::vector<double>& g = weight();
    double below = 0.0;
    std::size_t middle = 0;
    while (middle + 1 < d.size() && below + g[middle] < 0.5) below += g[middle++];
    const double centre = d[middle], half = 0.5 * kPi / end;
    double mass = 0.0, mean = 0.0, square = 0.0;
    for (std::size_t j = 0; j < d.size(); ++j) {
        const double x = d[j] - centre;
        if (std::fabs(x) > half) continue;
        mass += g[j];
        mean += g[j] * x;
        square += g[j] * x * x;
    }
    const double spread = 2.0 * (mass * square - mean * mean) - 1e-12 * mass * square;
    const double fall =
        2.0 / (kPi * kPi) * y * y * spread / kMargin - 2.0 * (missing() + weight_error()) - 1e-12;
    return std::sqrt(1.0 - std::clamp(fall, 0.0, 1.0)) * (1.0 + 4.0 * kUnit);
}

double AtomsLine::log_tail_until(double y, double end) const {
    const Bound& far = bound_until(end);
    double best = std::min(far.constant + far.slope / y, 1.0);
    for (const double level : {0.97, 0.9, 0.7, 0.4, 0.1}) {  // from where on the far one does
        const double from = far.slope / (level - far.constant);
        if (!(from > y) || !(from < end)) continue;
        best = std::min(best, std::max(near_bound(y, from), level * kMargin));
    }
    return std::log(best);
}

}  // namespace tightnoise::contour
