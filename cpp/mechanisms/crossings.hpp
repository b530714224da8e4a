// Where one function of a pair of densities is positive: certified isolation of all its roots.
//
// For a density f such that log f + x^2 / (2 s^2) is convex, m(x) = x + s^2 (log f)'(x) does not
// decrease. That bounds the slope of G(x) = log f(x + shift) - log f(x) - epsilon on an interval
// [a, b] by values of m at its ends,
//     m(a + shift) - m(b) - shift <= s^2 G'(x) <= m(b + shift) - m(a) - shift,
// and, as an integral over the shift, G itself:
//     shift (m(a) - b - shift) <= s^2 (G(x) + epsilon) <= shift (m(b + shift) - a).
// An interval is halved until one of these says that it has no root, or that G is monotone on it.
//
// The argument `pair` knows f, shift and epsilon. It has
//     using Point: the values at an x, with members x and excess (G) and log_top (log f(x + shift),
//         or a few units less);
//     Point at(double x, Side side) const: side matters where m has a jump;
//     double slope(const Point&) const: G';
//     Bounds bounds(const Point& a, const Point& b) const: of G and G' on [a.x, b.x];
//     double scale() const: s;
//     double close() const: so near, a step of Newton's method ends at the root;
//     double bend() const: the length on which G'' changes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

// The limit of a function with a jump from one side.
enum class Side { left, right };

struct Range {
    double low, high;
};

struct ExcessBounds {
    Range value;  // of G
    Range slope;  // of G'
};

// The range of a function on an interval of width w from its values at both ends and the range of
// its slope.
inline Range range_between(double a, double b, double w, Range slope) {
    if (!(slope.low < 0.0 && slope.high > 0.0)) return {std::min(a, b), std::max(a, b)};
    const double rise = b - a, fan = slope.high - slope.low;
    return {a + slope.low * ((slope.high * w - rise) / fan),
            a + slope.high * ((rise - slope.low * w) / fan)};
}

enum class Sign { unknown, positive, negative };

// What is known of a range that was looked through: G's signs at its ends, and how long it took.
struct Searched {
    Sign low, high;
    int cells;
};

// Of G at a point. 0 counts as negative.
template <class Point>
Sign sign_at(const Point& p) {
    return p.excess > 0.0 ? Sign::positive : Sign::negative;
}

// e^-745 is the least double.
constexpr double kInvisible = -745.0;

// The root of G in [a.x, b.x], where its signs differ: Newton's method within a bracket.
template <class Pair>
typename Pair::Point crossing(const Pair& pair, typename Pair::Point a, typename Pair::Point b) {
    using Point = typename Pair::Point;
    const bool rises = b.excess > 0.0;
    const double close = pair.close();
    double low = a.x, high = b.x;
    // Newton's step from the end where G is nearer to 0.
    Point p = std::fabs(a.excess) < std::fabs(b.excess) ? a : b;
    for (int i = 0; i < 100; ++i) {
        ((p.excess > 0.0) == rises ? high : low) = p.x;
        const double step = -p.excess / pair.slope(p);
        double next = p.x + step;
        if (std::fabs(step) <= close) {
            p = pair.at(std::min(std::max(next, low), high), Side::right);
            break;
        }
        if (!(next > low && next < high) || i % 5 == 4) next = 0.5 * (low + high);
        if (!(next > low && next < high)) break;
        p = pair.at(next, Side::right);
    }
    return p;
}

// The narrowest cells that are halved, and after how many no other one is.
struct CellLimits {
    double narrowest;
    int count;
};

// Calls visit(begin, begins_at_root, end, ends_at_root) for the intervals of [low, high] where G >
// 0, from left to right, and leave(a, b, range) for cells [a, b] that are not halved any
// more and on which no more is known than G's range: there it is taken to change its sign once or
// not at all, as its signs at a and b tell.
template <class Pair, class Visit, class Leave>
Searched visit_positive_intervals(const Pair& pair, double low, double high, CellLimits limits,
                                  Visit visit, Leave leave) {
    using Point = typename Pair::Point;
    constexpr int kDepth = 100;
    const double s = pair.scale();
    std::array<Point, kDepth> ends;
    int top = 0, cells = 0;
    Point a = pair.at(low, Side::right);
    ends[top++] = pair.at(high, Side::left);
    Searched all = {sign_at(a), sign_at(ends[0]), 0};
    Point begin = a;
    bool open = a.excess > 0.0, begins_at_root = false;
    const auto close_at = [&](const Point& end, bool at_root) {
        if (open) visit(begin, begins_at_root, end, at_root);
        open = false;
    };
    const auto open_at = [&](const Point& p, bool at_root) {
        begin = p;
        begins_at_root = at_root;
        open = true;
    };
    for (; top > 0; ++cells) {
        if (cells % 64 == 0) poll();
        const Point& b = ends[top - 1];
        const double w = b.x - a.x;
        const double log_top = std::max(a.log_top, b.log_top) + 0.125 * (w / s) * (w / s);
        if (log_top < kInvisible) {
            close_at(a, false);
            if (b.excess > 0.0) open_at(b, false);
        } else {
            const ExcessBounds bounds = pair.bounds(a, b);
            Range value = range_between(a.excess, b.excess, w, bounds.slope);
            value.low = std::max(value.low, bounds.value.low);
            value.high = std::min(value.high, bounds.value.high);
            const bool is_monotone = bounds.slope.high <= 0.0 || bounds.slope.low >= 0.0;
            const bool is_last = w < limits.narrowest || w < 0x1p-50 * std::fabs(b.x) ||
                                 top == kDepth || cells >= limits.count;
            // Where a sign and the bounds disagree, by rounding, there is a root.
            if (value.high <= 0.0) {
                close_at(a, true);
            } else if (value.low > 0.0) {
                if (!open) open_at(a, true);
            } else if (is_monotone || is_last) {
                if ((a.excess > 0.0) != (b.excess > 0.0)) {
                    const Point root = crossing(pair, a, b);
                    if (b.excess > 0.0) {
                        open_at(root, true);
                    } else {
                        close_at(root, true);
                    }
                }
                if (!is_monotone) leave(a, b, value);
            } else {
                ends[top++] = pair.at(0.5 * (a.x + b.x), Side::right);
                continue;
            }
        }
        if (open && !(b.excess > 0.0)) close_at(b, true);
        if (!open && b.excess > 0.0) open_at(b, true);
        a = b;
        --top;
    }
    close_at(a, false);
    all.cells = cells;
    return all;
}

}  // namespace
}  // namespace tightnoise
