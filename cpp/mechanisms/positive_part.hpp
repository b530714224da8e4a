// The integral of the positive part of f(x + shift) - e^epsilon f(x), and its derivatives.
//
// On [a, b] where that is positive the integral is a difference of two probabilities, which have a
// closed form. Where it cancels, or where the interval is narrow, the integrand is taken as
// f(x + shift) (1 - e^-G(x)), which does not, by Gauss-Legendre: it is a sum of normal densities,
// that is entire, so that a few nodes a sigma give all digits.
//
// A root moves with shift and sigma, but the integrand is 0 there: only f's own change counts.
//     dD/dshift = sum over right ends of f(x + shift), less that over left ends;
//     dD/dsigma = sigma times the same sum of f(x + shift) G'(x)        (heat equation).
//
// The argument `pair` is that of crossings.hpp, and has besides
//     double scale_between(double a, double b) const: s, or more if only that part of the law
//         that is seen from [a, b] counts;
//     double top(const Point&) const: f(x + shift);
//     double top_score(const Point&) const: (log f)'(x + shift);
//     double top_mass(double a, double b) const: integral of f(x + shift) over [a, b];
//     double bottom_mass(double a, double b) const: that of e^epsilon f(x).
#pragma once

#include <algorithm>
#include <cmath>

#include "mechanisms/crossings.hpp"
#include "mechanisms/shift_divergence.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

struct PositivePart {
    double delta = 0.0;
    double d_shift = 0.0;
    double d_log_scale = 0.0;  // dD/dsigma / sigma
    double unsettled = 0.0;    // the truth is at most so much above delta
};

inline void add(PositivePart& total, const PositivePart& more, double weight) {
    total.delta += weight * more.delta;
    total.d_shift += weight * more.d_shift;
    total.d_log_scale += weight * more.d_log_scale;
    total.unsettled += weight * more.unsettled;
}

template <int Nodes, class Pair>
double panel(const Pair& pair, double a, double b) {
    using Rule = GaussLegendre<Nodes>;
    double sum = 0.0;
    for (int k = 0; k < Nodes; ++k) {
        const auto p = pair.at(a + (b - a) * Rule::nodes[k], Side::right);
        sum -= Rule::weights[k] * pair.top(p) * std::expm1(-p.excess);
    }
    return (b - a) * sum;
}

// An integral over a panel on which a rule of so many nodes has all digits, but where one mode
// gives way to another: there log f may be flat while its parts rise and fall fast. So of as many
// panels as it takes for few nodes to say almost what more do.
template <int Nodes, class Pair>
double panels(const Pair& pair, double a, double b, int splits = 4) {
    constexpr double kNarrow = 0.25;  // of the length on which modes give way
    if (b - a < kNarrow * pair.bend()) return panel<Nodes>(pair, a, b);
    const double few = panel<8>(pair, a, b), many = panel<16>(pair, a, b);
    // What eight nodes err by, sixteen do to about the square. Sixteen panels of 2.5 sigmas do
    // where parts are 50 sigmas away, more than can be seen; what is left is rounding.
    if (splits == 0 || !(std::fabs(many - few) > 1e-7 * many)) return many;
    const double middle = a + 0.5 * (b - a);
    return panels<Nodes>(pair, a, middle, splits - 1) + panels<Nodes>(pair, middle, b, splits - 1);
}

// The greater one of |(log f)'| at x + shift and at x.
template <class Pair>
double steepness_at(const Pair& pair, const typename Pair::Point& p) {
    const double score = pair.top_score(p);
    return std::max(std::fabs(score), std::fabs(score - pair.slope(p)));
}

// The least x in [a, from], or nearly, up to which from b.x nothing of f(x + shift) can be seen: as
// log f + x^2 / (2 s^2) is convex.
template <class Pair>
double end_of_nothing(const Pair& pair, double a, double from, const typename Pair::Point& b) {
    while (from > a) {
        const double next = std::max(a, from - (b.x - from));
        if (!(next < from)) break;
        const double w = (b.x - next) / pair.scale_between(next, b.x);
        const double log_top = pair.at(next, Side::right).log_top;
        if (!(std::max(b.log_top, log_top) + 0.125 * w * w < kInvisible)) break;
        from = next;
    }
    return from;
}

// The integral from a to b by panels. They start at the right, where f is greatest if [a, b]
// reaches into the left tail: there it ends as soon as nothing is added.
template <class Pair>
double quadrature(const Pair& pair, double a, double b) {
    constexpr int kMostPanels = 100000;
    constexpr double kWidest = 2.5;  // in sigmas
    double sum = 0.0;
    for (int i = 0; b > a; ++i) {
        poll();
        // Not known, but an integral of f's; more than the truth.
        if (i == kMostPanels) return sum + pair.top_mass(a, b);
        const auto end = pair.at(b, Side::left);
        double widest = kWidest * pair.scale_between(b, b);
        while (widest > kWidest * pair.scale_between(std::max(a, b - widest), b)) widest *= 0.5;
        const double s = widest / kWidest;
        // Within a panel neither density changes by much more than a factor of e^8:
        // (log f)' within w sigmas is at most w / sigma beyond its values at both ends.
        double from = a;
        auto start = pair.at(from, Side::right);
        double steepness = steepness_at(pair, end) * s;
        for (int j = 0; j < 8; ++j) {
            const double width = s * std::min(kWidest, 8.0 / steepness);
            if (b - from <= 1.05 * width) break;
            from = b - width;
            start = pair.at(from, Side::right);
            steepness = std::max(steepness, steepness_at(pair, start) * s);
        }
        if (!(from < b)) return sum + pair.top_mass(a, b);  // no numbers are so close
        const double w = (b - from) / s;
        if (std::max(end.log_top, start.log_top) + 0.125 * w * w >= kInvisible) {
            const double here = panels<16>(pair, from, b);
            sum += here;
            // What is left is at most an integral of f.
            if (here < 1e-3 * sum && pair.top_mass(a, from) < 1e-17 * sum) break;
        } else {
            from = end_of_nothing(pair, a, from, end);
        }
        b = from;
    }
    return sum;
}

// Whether a difference of `top` and something a little smaller, each with a relative error of about
// 5e-16 + 1.2e-16 |log top|, is good to 2e-13.
inline bool keeps_digits(double top, double difference) {
    return difference > (2.5e-3 - 6e-4 * std::log(top)) * top;
}

// What [low, high] contributes. The first interval begins at `tail` <= low if G > 0 at low. `sign`
// is that of G at the end of the zone before; where G changes sign there, that is a root too.
template <class Pair>
PositivePart positive_part(const Pair& pair, double low, double high, double tail, Sign& sign) {
    PositivePart total;
    const double s = pair.scale();
    const auto add_root = [&](const auto& root, double direction) {
        const double f = direction * pair.top(root);
        total.d_shift += f;
        total.d_log_scale += f * pair.slope(root);
    };
    const auto visit = [&](const auto& begin, bool begins_at_root, const auto& end,
                           bool ends_at_root) {
        const double a = begin.x == low && !begins_at_root ? tail : begin.x;
        const double b = end.x;
        const double w = (b - a) / s;
        const double steepness = steepness_at(pair, end) * s;
        if (w <= 0.0) {
            // Only its ends count.
        } else if (w < 1.2 && w * steepness < 2.5) {
            total.delta += panels<8>(pair, a, b);
        } else {
            const double top = pair.top_mass(a, b);
            const double closed = top - pair.bottom_mass(a, b);
            total.delta += keeps_digits(top, closed) ? closed : quadrature(pair, a, b);
        }
        if (begins_at_root) add_root(begin, -1.0);
        if (ends_at_root) add_root(end, 1.0);
    };
    // Less the integral over [a, b] as it is taken, that of the positive part is at most
    //     integral f(x + shift) (1 - e^-G)_+   where G is taken for negative,
    //     integral e^epsilon f(x) (1 - e^G)_+   where it is taken for positive.
    const auto leave = [&](const auto& a, const auto& b, Range range) {
        double most = 0.0;
        if (!(a.excess > 0.0 && b.excess > 0.0)) {
            most = pair.top_mass(a.x, b.x) * -std::expm1(-range.high);
        }
        if (a.excess > 0.0 || b.excess > 0.0) {
            most = std::max(most, pair.bottom_mass(a.x, b.x) * -std::expm1(range.low));
        }
        total.unsettled += most;
    };
    const auto search = [&](double narrowest, int most_cells) {
        total = PositivePart();
        return visit_positive_intervals(pair, low, high, {narrowest, most_cells}, visit, leave);
    };
    // Narrow cells settle all, or leave nothing that can be seen, but where G is next to 0 all
    // along an interval: there its signs at points that are close enough are the best that is
    // known.
    constexpr int kFewCells = 1000, kManyCells = 20000, kMostCells = 200000;
    double narrowest = 0x1p-14 * pair.bend();
    Searched all = search(narrowest, kManyCells);
    while (total.unsettled > 1e-13 * total.delta && narrowest > 0x1p-34 * s &&
           all.cells < kFewCells) {
        narrowest *= 0x1p-10;
        all = search(narrowest, kManyCells);
    }
    if (all.cells >= kManyCells) {
        const double proven = total.delta + total.unsettled;
        all = search(0x1p-6 * pair.bend(), kMostCells);
        total.unsettled = std::min(total.unsettled, std::max(proven - total.delta, 0.0));
        if (all.cells >= kMostCells) total.delta += total.unsettled;
    }
    if (sign == Sign::positive && all.low != sign) add_root(pair.at(low, Side::right), 1.0);
    if (sign == Sign::negative && all.low != sign) add_root(pair.at(low, Side::right), -1.0);
    sign = all.high;
    return total;
}

// A part computed in units of `unit`.
inline PositivePart part_in_units(const PositivePart& part, double unit) {
    return {part.delta, part.d_shift / unit, part.d_log_scale / (unit * unit), part.unsettled};
}

// The divergence from what part(shift) says for shift > 0 and |epsilon|: D_0 and its derivatives.
//
// As f is symmetric, D_(-e) = 1 - e^-e + e^-e D_e.
template <class Part>
ShiftDivergence shift_divergence_by(double shift, double epsilon, double sigma, Part part) {
    if (!(shift >= 0.0) || std::isnan(epsilon)) return {kNaN, kNaN, kNaN};
    const double outside = epsilon < 0.0 ? -std::expm1(epsilon) : 0.0;
    const double factor = epsilon < 0.0 ? std::exp(epsilon) : 1.0;
    if (shift == kInfinity) return {1.0, 0.0, 0.0};
    if (shift == 0.0) {
        // D_0 grows with |shift|; all others are flat there.
        const double slope = epsilon == 0.0 ? part(1e-12 * sigma).d_shift : 0.0;
        return {outside, slope, 0.0};
    }
    const PositivePart at = part(shift);
    return {std::min(outside + factor * at.delta, 1.0), factor * at.d_shift,
            factor * (sigma * at.d_log_scale), factor * at.unsettled};
}

}  // namespace
}  // namespace tightnoise
