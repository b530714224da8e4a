// How far the nodes of the sampled Gaussian reach, and how close they are: sections 5.1 and 5.3 of
// CONTOUR.md.
#include <algorithm>
#include <cmath>

#include "cost/contour/sampled_gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {

// Beyond it there is less than kOutside of M, and of the part above a cut: section 5.3.
Interval SampledGaussianLaw::range(double order, const Cut* cut) const {
    double low = 0.0, high = std::max(order, 1.0) / sigma_;  // the outermost modes
    if (!is_remove()) {
        // -z + order p / sigma falls with z and is 0 at the mode.
        double above = 0.0;
        low = order / sigma_;
        while (above - low > 0.25 && above - low > 1e-6 * -low) {
            const double middle = 0.5 * (low + above);
            (order * share(middle) / sigma_ >= middle ? low : above) = middle;
        }
    } else if (high > top_.z) {
        high = (high + top_.z * top_.spread()) / (1.0 + top_.spread());
        if (!cut) return {low - kRange, std::max(high, 0.0) + kRange * top_.width};
        high = std::max(high, 1.0 / sigma_);
    }
    if (cut && std::isfinite(cut->z)) {
        low = std::min(low, cut->z);
        high = std::max(high, cut->z);
    }
    return {low - kRange, high + kRange};
}

// log of |w(z' + id)/w(z')|^order at most, for all z' <= z, with b = d/sigma.
double SampledGaussianLaw::log_power(double order, double z, double b) const {
    if (order >= 0.0) return 0.0;
    const double p = share(z), mixed = p < 0.5 ? p * (1.0 - p) : 0.25, half = std::sin(0.5 * b);
    return 0.5 * order * std::log1p(-4.0 * mixed * half * half);
}

// Cells of a Riemann sum, of which all but the shift is known. Section 5.1.
SampledGaussianLaw::Cells SampledGaussianLaw::cells(double order, double reach, double widest,
                                                    const Cut* cut) const {
    const double b = widest / sigma_;
    Cells made;
    made.ends = range(order, cut);
    // Beyond `end` |w(z + id)| is at least this, and M at least 1.
    const double floor = order < 0.0 ? (1.0 - q_) * (b > 0.5 * kPi ? std::sin(b) : 1.0) : 1.0;
    const double growth = 2.0 * (reach * b + std::min(order, 0.0) * std::log(floor));
    const double end = made.ends.upper + std::sqrt(growth + kRange * kRange);
    const auto above_cut = [&](double at) { return cut ? log_larger(at, *cut) : 0.0; };
    double least = -kInfinity, lower_sum = 0.0;
    double z = made.ends.lower, loss_here = loss(z), top_here = log_smaller(z, top_);
    double cut_here = above_cut(z);
    while (z < end) {
        const double next = z + std::max(0.25, 0.05 * std::fabs(z));
        const double loss_next = loss(next), top_next = log_smaller(next, top_);
        const double cut_next = above_cut(next);
        const double nearest = std::clamp(0.0, z, next);
        const double farthest = std::max(std::fabs(z), std::fabs(next));
        const double width = std::log(next - z) - 0.5 * std::log(2.0 * kPi);
        const double high_power = std::max(order * loss_here, order * loss_next);
        const double low_power = std::min(order * loss_here, order * loss_next);
        const double most_share = std::max(top_here, top_next) + std::max(cut_here, cut_next);
        const double least_share = std::min(top_here, top_next) + std::min(cut_here, cut_next);
        made.share.push_back(share(next));
        made.base.push_back(width - 0.5 * nearest * nearest + high_power + most_share);
        add_exponential(width - 0.5 * farthest * farthest + low_power + least_share, least,
                        lower_sum);
        z = next;
        loss_here = loss_next;
        top_here = top_next;
        cut_here = cut_next;
    }
    for (const double p : made.share) made.mixed.push_back(p < 0.5 ? 4.0 * p * (1.0 - p) : 1.0);
    made.log_lower = least + std::log(lower_sum);
    return made;
}

// log of a bound of the integral of |w^order e^(iy log w)| on Im z = d relative to M: an upper sum
// over cells for the one, a lower one for the other. Section 5.1.
double SampledGaussianLaw::log_growth(const Cells& cells, double order, double reach, double d,
                                      const Cut* cut) const {
    const double b = d / sigma_, sine = std::sin(b), cosine = std::cos(b), half = std::sin(0.5 * b);
    const double spread = 1.0 + top_.spread() + (cut ? cut->spread() : 0.0);
    std::vector<double> turned_base;
    if (reach > 0.0) {
        turned_base = cells.base;
        for (std::size_t j = 0; j < turned_base.size(); ++j) {
            turned_base[j] += reach * turned(cells.share[j], sine, cosine);
        }
    }
    const std::vector<double>& base = reach > 0.0 ? turned_base : cells.base;
    const double power = 0.5 * std::min(order, 0.0);
    const double log_upper =
        sampled_kernels().powers(base.size(), base.data(), cells.mixed.data(), power, half * half);
    const double angle = turned(share(cells.ends.lower), sine, cosine);
    const double left_power = log_power(order, cells.ends.lower, b);
    const double outside = std::log(kOutside) + reach * angle + left_power;
    return 0.5 * spread * d * d + std::max(log_upper - cells.log_lower, outside) + 0.7 +
           1e-9 * (1.0 + reach * b);
}

double SampledGaussianLaw::crude_step(double order, double reach, double log_error) const {
    const double widest = std::min(kStrip * kPi * sigma_, kWidest);
    double best = 0.0;
    for (double d = widest; d > 0.02 * widest; d *= 0.85) {
        const double b = d / sigma_;
        const double of_power = order < 0.0 ? order * log_cos(0.5 * b) : 0.0;
        const double growth = 0.5 * (1.0 + top_.spread()) * d * d + reach * b + of_power;
        best = std::max(best, 2.0 * kPi * d / (growth + std::log(2.1) - log_error));
    }
    return best;
}

double SampledGaussianLaw::step(double order, double reach, double log_error) const {
    const double many = 300.0;  // where a sharper bound pays
    const double crude = crude_step(order, reach, log_error);
    if (reach == 0.0 && order >= 0.0) return crude;  // is no sharper
    const Interval ends = range(order);
    if ((ends.upper - ends.lower) / crude < many) return crude;
    const double widest = std::min(kStrip * kPi * sigma_, kWidest);
    const Cells known = cells(order, reach, widest);
    double best = crude;
    for (double d = widest; d > 1e-3 * widest; d *= 0.7) {
        const double growth = std::max(log_growth(known, order, reach, d), 0.0);
        const double width = 2.0 * kPi * d / (growth + std::log(2.1) - log_error);
        if (width < 0.6 * best) break;
        best = std::max(best, width);
    }
    return best;
}

}  // namespace tightnoise::contour
