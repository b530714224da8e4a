// delta at many epsilons: one contour serves all that it is narrow for. Each answer is bounded
// where it is read, so which contour it comes from is a matter of time only.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cost/contour/composition.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kNarrow = 1e-10;  // relative
constexpr double kLogRoom = 12.0;  // D falls so much while images and truncation stay small

}  // namespace

std::vector<Interval> ComposedLoss::deltas(const std::vector<double>& epsilons,
                                           bool is_quick) const {
    std::vector<Interval> found;
    found.reserve(epsilons.size());
    const bool is_closed = infinite_ >= 1.0 || closed_profile(0.0).has_value();
    std::size_t passed_over = 1;  // twice as many after each contour that is narrow nowhere
    while (found.size() < epsilons.size()) {
        const std::size_t first = found.size();
        if (!is_closed) take_narrow(epsilons, found);
        if (found.size() > first) {
            passed_over = 1;
        } else if (is_closed || !is_quick) {
            found.push_back(delta(epsilons[first]));
        } else {
            found.resize(std::min(first + passed_over, epsilons.size()), {0.0, 1.0});
            passed_over *= 2;
        }
    }
    return found;
}

// Takes the next ones for as long as a contour for the first of them is narrow.
void ComposedLoss::take_narrow(const std::vector<double>& epsilons,
                               std::vector<Interval>& found) const {
    Moments moments(terms_);
    const double first = epsilons[found.size()], c = tilt_for_loss(moments, first);
    const double log_bound = moments.at(c).value + log_kappa(c) - c * first;
    if (!std::isfinite(log_bound)) return;
    const double log_value = std::min(log_bound, 0.0) - kLogRoom;
    const Images images = cheapest(moments, c, first, log_value);
    Work work{kMostWork};
    const auto contour = Contour::make(terms_, images, first, log_value, Contour::Effort::quick,
                                       {kLogTolerance, 0.0, &work});
    while (contour && found.size() < epsilons.size()) {
        const double x = epsilons[found.size()];
        const double log_unit = std::min(log_bound - c * (x - first), 0.0);
        const Bounds finite = contour->profile(x, log_unit);
        if (!(finite.upper - finite.lower <= kNarrow * finite.upper)) break;
        const double one = std::exp(-log_unit) * (1.0 + 1e-13);  // D <= 1
        found.push_back(with_infinite({finite.lower, std::min(finite.upper, one)}, log_unit));
    }
}

std::vector<Interval> Composition::deltas(const std::vector<double>& epsilons,
                                          bool is_quick) const {
    std::vector<Interval> found = upper_.deltas(epsilons, is_quick);
    if (!lower_) return found;
    const std::vector<Interval> below = lower_->deltas(epsilons, is_quick);
    for (std::size_t i = 0; i < found.size(); ++i) found[i].lower = below[i].lower;
    return found;
}

}  // namespace tightnoise::contour
