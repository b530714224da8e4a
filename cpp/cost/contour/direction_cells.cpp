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

}  // namespace

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

// Cells are narrow by the density's scale, and near 0 by that of w.
DirectionCells::Side DirectionCells::side(double sign, double end) const {
    constexpr double kOfScale = 1.0 / 6.0, kOfLoss = 0.1, kOfPlace = 0.06;
    Side made{sign, {}};
    for (double v = 0.0;; v = std::min(v, end)) {
        made.edges.push_back(edge_at(v, sign));
        if (v >= end) return made;
        v += std::min(kOfScale * density_.scale(), kOfLoss / density_.along() + kOfPlace * v);
    }
}

// log of a bound of what |density w^u| grows from the real line to any shift between these, from
// `inner` outwards to where tanh is `far_tanh`.
double DirectionCells::log_moved(const Side& side, const Edge& inner, double far_tanh,
                                 double near_shift, double far_shift, double u,
                                 bool turns_one_way) const {
    const double h = density_.along(), m = density_.sphere(), q = rate_;
    const double sine = std::sin(far_shift);
    const double inside = inner.sech_square * sine * sine, rest = 1.0 - inside;
    if (!(rest > 0.0)) return kInfinity;
    const double moved = far_tanh * inside / rest, farthest = 2.0 * h * (far_tanh + moved);
    double growth = -0.5 * m * std::log1p(-inside);
    const double wider = std::cos(near_shift) / rest;
    if (wider > 1.0) growth += std::log(wider) * wider * wider * inner.pull_across;
    if (side.sign > 0.0) {
        const double share = share_of(q, farthest);
        if (u > 0.0) growth += std::max(h * moved * (2.0 * u * share - 1.0), 0.0);
    } else {
        growth += h * moved * (1.0 + (u < 0.0 ? -2.0 * u * inner.share : 0.0));
    }
    if (q == 1.0) return growth;
    const double near = side.sign * 2.0 * h * inner.tanh, far = side.sign * farthest;
    const double low = std::min(near, far), high = std::max(near, far);
    const double zero = std::log((1.0 - q) / q);
    const double b = h * inner.sech_square * std::sin(2.0 * far_shift) / rest;
    if (b > kStrip * kPi) {
        const bool is_above = low > zero + 0.5;
        const bool is_below = high < zero - (turns_one_way ? kLogTurn : 0.5);
        if (!is_above && !is_below) return kInfinity;
    }
    if (u < 0.0) {
        const double least = share_of(q, low), most = share_of(q, high);
        const double product = least < 0.5 && most > 0.5
                                   ? 0.25
                                   : std::max(least * (1.0 - least), most * (1.0 - most));
        const double shrunk = 2.0 * product * (1.0 - std::cos(std::min(b, kPi)));
        growth += shrunk < 1.0 ? 0.5 * u * std::log1p(-shrunk) : kInfinity;
    }
    return growth;
}

DirectionCells::Growth DirectionCells::growth(const Stretch& stretch, double angle, double u,
                                              const std::vector<SmoothShare>& shares,
                                              bool turns_one_way) const {
    const double h = density_.along(), m = density_.sphere();
    std::vector<double> log_most, log_least;
    double outside = -kInfinity;
    const auto of_shares = [&](double shift) {
        double sum = 0.0;
        for (const SmoothShare& share : shares) sum += std::pow(shift / share.width, 2.0);
        return 0.5 * sum;
    };
    for (const Side* side : {&below_, &above_}) {
        const auto exponent = [&](const Edge& edge) { return edge.log_density + u * edge.loss; };
        const auto share_at = [&](const SmoothShare& share, double v) {
            return log_share_at(share, side->sign * v);
        };
        const auto tilt = [&](const Edge& edge) {
            return side->sign * (2.0 * u * edge.share - 1.0);
        };
        std::vector<double> shares_at(side->edges.size() * shares.size());
        std::size_t at = 0;
        for (const Edge& edge : side->edges) {
            for (const SmoothShare& share : shares) shares_at[at++] = share_at(share, edge.v);
        }
        double shift = stretch.shift_at(0.0, angle);
        for (std::size_t i = 0; i + 1 < side->edges.size(); ++i) {
            const Edge &inner = side->edges[i], &outer = side->edges[i + 1];
            const double width = outer.v - inner.v, first = exponent(inner),
                         second = exponent(outer);
            const double next = stretch.shift_at(outer.v, angle);
            const double pull = h * std::max(tilt(inner), tilt(outer));
            const double push = h * std::min(tilt(inner), tilt(outer));
            const double rise = pull * (pull > 0.0 ? inner : outer).sech_square -
                                (m + outer.pull_across * (1.0 - 2.0 * kSlack)) * inner.tanh;
            const double fall = push * (push > 0.0 ? outer : inner).sech_square -
                                (m + inner.pull_across) * outer.tanh;
            double most = rise <= 0.0 ? first
                          : fall >= 0.0
                              ? second
                              : std::min(first + rise * width, second - fall * width);
            double least = rise <= 0.0 ? second
                           : fall >= 0.0
                               ? first
                               : std::max(first + fall * width, second - rise * width);
            for (std::size_t k = 0; k < shares.size(); ++k) {
                const double a = shares_at[i * shares.size() + k];
                const double b = shares_at[(i + 1) * shares.size() + k];
                most += std::max(a, b);
                least += std::min(a, b);
            }
            most += log_moved(*side, inner, outer.tanh, shift, next, u, turns_one_way) +
                    of_shares(next);
            log_most.push_back(most + std::log(width));
            log_least.push_back(least + std::log(width));
            shift = next;
        }
        const Edge& last = side->edges.back();
        double steepest = h * (side->sign > 0.0 ? (u > 0.0 ? 2.0 * u - 1.0 : -1.0)
                                                : (u < 0.0 ? tilt(last) : 1.0));
        steepest = std::max(steepest * last.sech_square - (m + last.pull_across * (1.0 - 1e-8)) *
                                                              last.tanh,
                            -m * last.tanh);
        if (!(steepest < 0.0)) return {kInfinity, kInfinity};
        const double moved = log_moved(*side, last, 1.0, shift, stretch.length * angle, u,
                                       turns_one_way) +
                             of_shares(stretch.length * angle);
        double most = exponent(last) + moved - std::log(-steepest);
        for (std::size_t k = 0; k < shares.size(); ++k) {
            if (shares[k].way * side->sign < 0.0) {  // falls outwards
                most += shares_at[(side->edges.size() - 1) * shares.size() + k];
            }
        }
        log_most.push_back(most);
        outside = std::max(outside, moved);
    }
    const double unit = *std::max_element(log_least.begin(), log_least.end());
    double most = 0.0, least = 0.0;
    for (const double each : log_most) most += std::exp(std::min(each - unit, 700.0));
    for (const double each : log_least) least += std::exp(each - unit);
    const double of_line = -std::log(std::cos(angle));
    return {std::log(most / least) + of_line + kSlack, outside + of_line + kSlack};
}

}  // namespace tightnoise::contour
