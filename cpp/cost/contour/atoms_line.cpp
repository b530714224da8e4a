#include "cost/contour/atoms_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kMargin = 1.0 + 1e-9;  // far above the rounding of sums of positive terms
constexpr double kTiny = 1e-300;
constexpr int kClips = 12;
constexpr double kClipped = 0.25, kLeastUsed = 0.2;  // of a density; of all weights

}  // namespace

AtomsLine::AtomsLine(TiltedNodes nodes, Moment moment) : NodeLine(nodes, moment) {
    for (std::size_t j = 0; j + 1 < nodes.loss.size(); ++j) {
        gap_.push_back(nodes.loss[j + 1] - nodes.loss[j]);
    }
}

// Of an atom as of a density over half the gaps to both sides, at most `most`. Between atoms that
// are close to each other this is summed by parts; what is left of an atom, beside a wide gap or
// where it is denser, counts by its weight.
AtomsLine::Bound AtomsLine::bound(const std::vector<double>& density, double most,
                                  double end) const {
    const double widest = kPi / end;
    const auto p = [&](std::size_t j) { return std::min(density[j], most); };
    double constant = 0.0, slope = 0.0, used = 0.0, all = 0.0;
    double last = -1.0, last_gap = 0.0;  // of the gap before; none before a run
    for (const double g : weight()) all += g;
    for (std::size_t j = 0; j < gap_.size(); ++j) {
        const double gap = gap_[j], mean = 0.5 * (p(j) + p(j + 1));
        if (!(gap <= widest)) {
            slope += std::max(last, 0.0);
            last = -1.0;
            continue;
        }
        used += gap * mean;
        constant += 0.5 * gap * std::fabs(p(j + 1) - p(j));
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

// By densities that are cut off at several heights: the lower, the less they vary.
AtomsLine::Far AtomsLine::far(double end) const {
    const std::vector<double>& weights = weight();
    const std::size_t n = weights.size();
    Far found{end, {}};
    if (n < 3) return found;
    std::vector<double> all(n), density(n);
    for (std::size_t j = 0; j < n; ++j) {
        const double before = j > 0 ? gap_[j - 1] : 0.0, after = j < gap_.size() ? gap_[j] : 0.0;
        all[j] = weights[j] / (0.5 * (before + after) + kTiny);
    }
    double most = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double before = j > 0 ? all[j - 1] : 0.0, after = j + 1 < n ? all[j + 1] : 0.0;
        density[j] = std::min(all[j], std::max(before, after));
        most = std::max(most, density[j]);
    }
    for (int i = 0; i < kClips; ++i, most *= kClipped) {
        found.bounds.push_back(bound(density, most, end));
        if (found.bounds.back().constant > 1.0 - kLeastUsed) break;
    }
    return found;
}

double AtomsLine::Far::at(double y) const {
    double least = 1.0;
    for (const Bound& each : bounds) least = std::min(least, each.constant + each.slope / y);
    return least;
}

const AtomsLine::Far& AtomsLine::far_until(double end) const {
    for (const Far& known : far_) {
        if (known.end == end) return known;
    }
    far_.push_back(far(end));
    return far_.back();
}

double AtomsLine::log_tail_until(double y, double end) const {
    return std::log(far_until(end).at(y));
}

void AtomsLine::look_at(double y) const {
    const std::vector<double>&d = distance(), &g = weight();
    const std::size_t n = d.size();
    place_.y = y;
    place_.real.resize(n);
    place_.imaginary.resize(n);
    place_.sum_real = place_.sum_imaginary = 0.0;
    double all = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        place_.real[j] = g[j] * std::cos(y * d[j]);
        place_.imaginary[j] = g[j] * std::sin(y * d[j]);
        place_.sum_real += place_.real[j];
        place_.sum_imaginary += place_.imaginary[j];
        all += g[j];
    }
    place_.units = kUnit * static_cast<double>(n + 64);
    place_.error = missing() + weight_error() + y * error_slope() + place_.units * all;
}

// e^(i t d) is 1 + i t d for |t d| <= 2, but for t^2 d^2/2, and 1 else, but for 2.
double AtomsLine::log_largest(double y, double step) const {
    if (y != place_.y) look_at(y);
    const std::vector<double>&d = distance(), &g = weight();
    const double widest = 2.0 / step;
    double slope_real = 0.0, slope_imaginary = 0.0, rest = 0.0, turning = 0.0;
    for (std::size_t j = 0; j < d.size(); ++j) {
        const double turn = step * d[j];
        const bool is_near = std::fabs(d[j]) <= widest;
        rest += is_near ? 0.5 * g[j] * turn * turn : 2.0 * g[j];
        if (!is_near) continue;
        slope_real -= place_.imaginary[j] * turn;
        slope_imaginary += place_.real[j] * turn;
        turning += g[j] * std::fabs(turn);
    }
    const double here = std::hypot(place_.sum_real, place_.sum_imaginary);
    const double there =
        std::hypot(place_.sum_real + slope_real, place_.sum_imaginary + slope_imaginary);
    const double more = step * error_slope() + place_.units * turning + rest * kMargin;
    return std::min(std::log(std::max(here, there) + place_.error + more), 0.0);
}

}  // namespace tightnoise::contour
