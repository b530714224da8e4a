#include "cost/contour/direction_cells.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/sampled_pair.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kSlack = 1e-9;

double log_share_at(const SmoothShare& share, double v) {
    return log_ndtr(share.way * (v - share.middle) / share.width);
}

// log |Phi(x + iy)| <= y^2/2 + log Phi(x), and |Phi(x + iy)| <= 1 + e^(y^2/2) Phi(-x).
double log_share_above(const SmoothShare& share, double from, double to, double shift) {
    const double x =
        std::max(share.way * (from - share.middle), share.way * (to - share.middle)) / share.width;
    const double least =
        std::min(share.way * (from - share.middle), share.way * (to - share.middle)) / share.width;
    const double square = 0.5 * std::pow(shift / share.width, 2.0);
    return std::min(square + log_ndtr(x), std::log1p(std::exp(square + log_ndtr(-least))));
}

// The same from v on outwards; of a share that falls there, by what it falls on the real line.
double log_share_beyond(const SmoothShare& share, double v, double sign, double shift) {
    const double x = share.way * (v - share.middle) / share.width;
    const double square = 0.5 * std::pow(shift / share.width, 2.0);
    if (share.way * sign < 0.0) return square + log_ndtr(x);
    return std::min(square, std::log1p(std::exp(square + log_ndtr(-x))));
}

double log_sum(const std::vector<double>& exponents) {
    const double most = *std::max_element(exponents.begin(), exponents.end());
    double sum = 0.0;
    for (const double each : exponents) sum += std::exp(each - most);
    return most + std::log(sum);
}

}  // namespace

LineAbove LineAbove::of(const Stretch& stretch, double angle) {
    return {[=](double v) { return stretch.shift_at(v, angle); }, 1.0 / std::cos(angle)};
}

DirectionCells::DirectionCells(const DirectionDensity& density, double rate, double below,
                               double above)
    : density_(density), rate_(rate), below_(side(-1.0, below)), above_(side(1.0, above)) {}

DirectionCells::Edge DirectionCells::edge_at(double v, double sign) const {
    const Hyperbolic at(v);
    const double a = sign * 2.0 * density_.along() * at.tanh;
    return {v,
            at.tanh,
            at.sech_square,
            density_.log_density(Hyperbolic(sign * v)),
            density_.pull_across(at) * (1.0 + kSlack),
            rate_ == 1.0 ? a : loss_of(rate_, a),
            share_of(rate_, a)};
}

// Cells are narrow by the density's scale there, and near 0 by that of w. None of more than so
// many.
DirectionCells::Side DirectionCells::side(double sign, double end) const {
    constexpr double kOfScale = 1.0 / 6.0, kOfLoss = 0.1, kOfPlace = 0.06;
    constexpr std::size_t kMost = 4096;
    Side made{sign, {}};
    for (double v = 0.0;; v = std::min(v, end)) {
        if (made.edges.size() > kMost) return {sign, {}};
        made.edges.push_back(edge_at(v, sign));
        if (v >= end) return made;
        const double curvature = density_.sphere() + made.edges.back().pull_across;
        v += std::min(kOfScale / std::sqrt(curvature), kOfLoss / density_.along() + kOfPlace * v);
    }
}

DirectionCells::Moved DirectionCells::moved(const Cell& cell) const {
    const double h = density_.along(), sine = std::sin(cell.far_shift);
    const double inside = cell.inner.sech_square * sine * sine, rest = 1.0 - inside;
    const double moved = cell.far_tanh * inside / rest;
    const double near = cell.side.sign * 2.0 * h * cell.inner.tanh;
    const double far = cell.side.sign * 2.0 * h * (cell.far_tanh + moved);
    const double b = h * cell.inner.sech_square * std::sin(2.0 * cell.far_shift) / rest;
    return {inside, moved, std::min(near, far), std::max(near, far), b};
}

// Above or below where w may have a zero, so far.
bool DirectionCells::is_free(const Moved& at, double below) const {
    if (!(at.inside < 1.0)) return false;
    if (rate_ == 1.0 || at.most_turn < kStrip * kPi) return true;
    const double zero = std::log((1.0 - rate_) / rate_);
    return at.low > zero + kLeastAbove || at.high < zero - below;
}

// log of a bound of what |density w^u| grows from the real line.
double DirectionCells::log_growth(const Cell& cell, const Moved& at, double u) const {
    const double h = density_.along(), rest = 1.0 - at.inside;
    double growth = -0.5 * density_.sphere() * std::log1p(-at.inside);
    const double wider = std::cos(cell.near_shift) / rest;
    if (wider > 1.0) growth += std::log(wider) * wider * wider * cell.inner.pull_across;
    if (cell.side.sign < 0.0) {
        growth += h * at.moved * (1.0 + (u < 0.0 ? -2.0 * u * cell.inner.share : 0.0));
    } else if (u > 0.0) {
        growth += std::max(h * at.moved * (2.0 * u * share_of(rate_, at.high) - 1.0), 0.0);
    }
    if (rate_ == 1.0 || u >= 0.0) return growth;
    const double least = share_of(rate_, at.low), most = share_of(rate_, at.high);
    const double product =
        least < 0.5 && most > 0.5 ? 0.25 : std::max(least * (1.0 - least), most * (1.0 - most));
    const double shrunk = 2.0 * product * (1.0 - std::cos(std::min(at.most_turn, kPi)));
    return shrunk < 1.0 ? growth + 0.5 * u * std::log1p(-shrunk) : kInfinity;
}

// Of arg w: as b rises to pi, it rises and then falls.
double DirectionCells::least_turn(const Cell& cell, const Moved& at) const {
    const double sine = std::sin(cell.near_shift), s = cell.far_sech_square;
    const double turned = std::min(std::sin(2.0 * cell.near_shift), std::sin(2.0 * cell.far_shift));
    const double b = density_.along() * s * turned / (1.0 - s * sine * sine) * (1.0 - kSlack);
    if (rate_ == 1.0) return b;
    const double above = at.low - std::log((1.0 - rate_) / rate_);
    if (above > kLeastAbove) return std::max(b - std::asin(std::exp(-above)), 0.0);
    if (!(at.most_turn < kPi)) return 0.0;
    const double p = share_of(rate_, at.low), most = at.most_turn;
    return (1.0 - kSlack) * std::min(contour::turned(p, std::sin(b), std::cos(b)),
                                     contour::turned(p, std::sin(most), std::cos(most)));
}

// log of the most and the least of density w^u between two edges, by bounds of its slope.
DirectionCells::Range DirectionCells::range(const Side& side, const Edge& inner, const Edge& outer,
                                            double u) const {
    const double h = density_.along(), m = density_.sphere(), width = outer.v - inner.v;
    const double first = inner.log_density + u * inner.loss;
    const double second = outer.log_density + u * outer.loss;
    const double pull = h * std::max(tilt(side, inner, u), tilt(side, outer, u));
    const double push = h * std::min(tilt(side, inner, u), tilt(side, outer, u));
    const double rise = pull * (pull > 0.0 ? inner : outer).sech_square -
                        (m + outer.pull_across * (1.0 - 2.0 * kSlack)) * inner.tanh;
    const double fall =
        push * (push > 0.0 ? outer : inner).sech_square - (m + inner.pull_across) * outer.tanh;
    if (rise <= 0.0) return {first, second};
    if (fall >= 0.0) return {second, first};
    return {std::min(first + rise * width, second - fall * width),
            std::max(first + fall * width, second - rise * width)};
}

// The slope of the same beyond the cells, outwards.
double DirectionCells::steepest(const Side& side, double u,
                                const std::vector<SmoothShare>& shares) const {
    const Edge& last = side.edges.back();
    const double m = density_.sphere();
    const double pull =
        side.sign > 0.0 ? (u > 0.0 ? 2.0 * u - 1.0 : -1.0) : (u < 0.0 ? tilt(side, last, u) : 1.0);
    const double across = last.pull_across * (1.0 - 2.0 * kSlack);
    double slope = std::max(density_.along() * pull * last.sech_square - (m + across) * last.tanh,
                            -m * last.tanh);
    for (const SmoothShare& share : shares) {  // of which some fall outwards
        const double beyond = share.way * (share.middle - side.sign * last.v);
        if (share.way * side.sign < 0.0) {
            slope -= std::max(beyond, 0.0) / (share.width * share.width);
        }
    }
    return slope;
}

std::optional<DirectionCells::Sum> DirectionCells::above(const LineAbove& line, double u,
                                                         const std::vector<SmoothShare>& shares,
                                                         double below) const {
    if (are_too_many()) return std::nullopt;
    Sum made{{}, {}, 0.0, 0.0};
    const double of_line = std::log(line.length) + kSlack;
    const auto of_shares = [&](double from, double to, double shift) {
        double sum = 0.0;
        for (const SmoothShare& share : shares) sum += log_share_above(share, from, to, shift);
        return sum;
    };
    for (const Side* side : {&below_, &above_}) {
        const auto& edges = side->edges;
        double shift = line.shift(0.0);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const bool is_last = i + 1 == edges.size();
            const Edge& inner = edges[i];
            const double next = line.shift(side->sign * (is_last ? kInfinity : edges[i + 1].v));
            const Cell cell{*side,
                            inner,
                            is_last ? 1.0 : edges[i + 1].tanh,
                            is_last ? 0.0 : edges[i + 1].sech_square,
                            shift,
                            next};
            const Moved at = moved(cell);
            if (!is_free(at, below)) return std::nullopt;
            const double grown = log_growth(cell, at, u);
            double most = grown + of_line;
            if (is_last) {
                const double slope = steepest(*side, u, shares);
                if (!(slope < 0.0)) return std::nullopt;
                most += inner.log_density + u * inner.loss - std::log(-slope);
                for (const SmoothShare& share : shares) {
                    most += log_share_beyond(share, side->sign * inner.v, side->sign, next);
                }
            } else {
                const Edge& outer = edges[i + 1];
                most += range(*side, inner, outer, u).most + std::log(outer.v - inner.v) +
                        of_shares(side->sign * inner.v, side->sign * outer.v, next);
            }
            made.log_most.push_back(most);
            made.least_turn.push_back(least_turn(cell, at));
            if (is_last) {
                double outside = grown + of_line;
                for (const SmoothShare& share : shares) {
                    const double v = side->sign * inner.v;
                    outside += log_share_beyond(share, v, side->sign, next);
                    if (share.is_in_weights) outside -= log_share_at(share, v);
                }
                (side == &below_ ? made.log_below : made.log_above) = outside;
            }
            shift = next;
        }
    }
    return made;
}

double DirectionCells::log_least(double u, const std::vector<SmoothShare>& shares) const {
    if (are_too_many()) return -kInfinity;
    std::vector<double> exponents;
    for (const Side* side : {&below_, &above_}) {
        for (std::size_t i = 0; i + 1 < side->edges.size(); ++i) {
            const Edge &inner = side->edges[i], &outer = side->edges[i + 1];
            double least = range(*side, inner, outer, u).least + std::log(outer.v - inner.v);
            for (const SmoothShare& share : shares) {
                least += std::min(log_share_at(share, side->sign * inner.v),
                                  log_share_at(share, side->sign * outer.v));
            }
            exponents.push_back(least);
        }
    }
    return log_sum(exponents) - kSlack;
}

DirectionCells::Growth DirectionCells::growth(const Stretch& stretch, double angle, double u,
                                              const std::vector<SmoothShare>& shares, double below,
                                              double log_least) const {
    const auto sum = above(LineAbove::of(stretch, angle), u, shares, below);
    if (!sum) return {kInfinity, kInfinity, kInfinity};
    return {log_sum(sum->log_most) - log_least, sum->log_below, sum->log_above};
}

DirectionTail::DirectionTail(const DirectionCells& cells, const std::vector<LineAbove>& lines,
                             double u, const std::vector<SmoothShare>& shares, double log_whole) {
    for (const LineAbove& line : lines) {
        auto sum = cells.above(line, u, shares, kInfinity);
        if (!sum) continue;
        for (double& each : sum->log_most) each -= log_whole;
        lines_.push_back(std::move(*sum));
    }
}

double DirectionTail::log_bound(double y) const {
    double best = kInfinity;
    for (const DirectionCells::Sum& line : lines_) {
        double sum = 0.0;
        for (std::size_t i = 0; i < line.log_most.size(); ++i) {
            sum += std::exp(std::min(line.log_most[i] - y * line.least_turn[i], 700.0));
        }
        best = std::min(best, sum);
    }
    return std::log(best + 1e-300) + 1e-9;
}

}  // namespace tightnoise::contour
