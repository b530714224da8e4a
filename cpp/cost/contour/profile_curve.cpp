// delta at many epsilons: one contour serves all that it is narrow for. Each answer is bounded
// where it is read, so which contour it comes from is a matter of time only.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>

#include "cost/contour/composition.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kNarrow = 1e-10;  // relative
constexpr double kLogRoom = 12.0;  // D falls so much while images and truncation stay small

constexpr double kLargestTilt = 1e70;  // c^2 (c + 1)^2 is finite
constexpr std::size_t kLanes = 8;

}  // namespace

void Contour::tabulate() {
    const std::size_t blocks = (frequencies_.size() + kLanes - 1) / kLanes;
    table_ = {};
    table_.real.assign(blocks * kLanes, 0.0);
    table_.imaginary = table_.real;
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
        const Frequency& at = frequencies_[k];
        const std::complex<double> s(tilt_, at.y), weight = 1.0 / (s * (s + 1.0));
        const std::complex<double> value = std::complex<double>(at.real, at.imaginary) * weight;
        const double modulus = std::hypot(at.real, at.imaginary) * std::abs(weight);
        table_.real[k] = value.real();
        table_.imaginary[k] = value.imag();
        table_.size += modulus;
        table_.slope += modulus * at.y;
        table_.error += std::abs(weight) * at.error;
    }
}

// The sum of the profile's kernel: sines and cosines of the first of kLanes frequencies come from
// the library, those of the others by rotation. CONTOUR.md, section 6.
Contour::Sum Contour::tabulated_sum(double x) const {
    const double centre = centre_ + smoothing_ * smoothing_ * (tilt_ + 0.5);
    const double turn = centre - x;
    const double turn_error =
        kUnit * (centre_size_ + 4.0 * std::fabs(centre) + 4.0 * std::fabs(x) + std::fabs(turn));
    std::array<double, kLanes> cosines{1.0}, sines{0.0}, totals{};
    const double first_cosine = std::cos(step_ * turn), first_sine = std::sin(step_ * turn);
    for (std::size_t j = 1; j < kLanes; ++j) {
        cosines[j] = cosines[j - 1] * first_cosine - sines[j - 1] * first_sine;
        sines[j] = sines[j - 1] * first_cosine + cosines[j - 1] * first_sine;
    }
    for (std::size_t k = 0; k < table_.real.size(); k += kLanes) {
        const double angle = static_cast<double>(k) * step_ * turn;
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t j = 0; j < kLanes; ++j) {
            totals[j] += table_.real[k + j] * (c * cosines[j] - s * sines[j]) -
                         table_.imaginary[k + j] * (s * cosines[j] + c * sines[j]);
        }
    }
    double total = 0.0;
    for (const double lane : totals) total += lane;
    const double additions = static_cast<double>(table_.real.size()) / kLanes + kLanes;
    const double error =
        table_.error + turn_error * table_.slope +
        kUnit * ((60.0 + additions) * table_.size + 4.0 * std::fabs(turn) * table_.slope);
    const double unit = step_ / kPi;
    return {total * unit, error * unit * 1.0001, table_.size * unit};
}

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
    if (!std::isfinite(log_bound) || !(c < kLargestTilt)) return;
    const double log_value = std::min(log_bound, 0.0) - kLogRoom;
    const Images images = cheapest(moments, c, first, log_value);
    auto contour = Contour::make(terms_, images, first, log_value, Contour::Effort::quick);
    if (contour) contour->tabulate();
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
