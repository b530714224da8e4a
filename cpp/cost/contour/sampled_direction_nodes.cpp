#include "cost/contour/sampled_direction_nodes.hpp"

#include <cmath>

#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kDepth = 80.0;        // e^-kDepth of the largest weight: where nodes end
constexpr double kMostNodes = 0x1p15;  // of one line

}  // namespace

// The pull on the side of large losses: of w^-t it is less where w is near 1 - q already.
double SampledDirectionLaw::large_pull(double t, const Hyperbolic& at) const {
    const double h = density_.along();
    return h * (1.0 + 2.0 * t * (is_remove() ? 1.0 : share_of(q_, -2.0 * h * at.tanh)));
}

// e^-kDepth of the largest weight is left beyond.
SampledDirectionLaw::Ends SampledDirectionLaw::ends(double t, const Cut* top,
                                                    const Cut* part) const {
    const double h = density_.along();
    const auto plain = [h](const Hyperbolic&) { return h; };
    const auto large = [&](const Hyperbolic& at) { return large_pull(t, at); };
    // Where a function that rises by no more than a pull tells has become next to nothing.
    const auto end = [&](auto pull, auto log_value, double beyond) {
        const auto depth = [&](double v) {
            const Hyperbolic at(v);
            return density_.log_density(at) + log_value(at);
        };
        const double inner = std::max(density_.mode(pull), beyond);
        const double deepest = depth(inner) - kDepth;
        double low = inner, high = inner + 4.0 * density_.scale();
        while (high < kFarthest && depth(high) > deepest) high = inner + 2.0 * (high - inner);
        while (high - low > 0.5 * density_.scale()) {
            const double middle = 0.5 * (low + high);
            (depth(middle) > deepest ? low : high) = middle;
        }
        return high;
    };
    const auto log_base = [&](const Hyperbolic& at) { return 2.0 * h * at.tanh; };
    const auto log_large = [&](const Hyperbolic& at) {
        const double a = 2.0 * h * at.tanh;
        return a + t * (is_remove() ? a : -loss_of(q_, -a));
    };
    double ends[2];
    for (int side = 0; side < 2; ++side) {
        double cut = part ? (side == 0 ? 1.0 : -1.0) * sign() * part->v : 0.0;
        if (!std::isfinite(cut)) cut = 0.0;
        double high = side == 0 ? end(large, log_large, cut) : end(plain, log_base, cut);
        // The share of small losses falls faster than the weights rise; the normaliser is of Q0.
        if (side == 0 && top && std::isfinite(top->v)) {
            const double from = std::max(sign() * top->v, 0.0);
            const Hyperbolic at(from);
            const double square = top->width * top->width;
            const double last =
                sign() * top->v + square * large(at) * at.sech_square + 13.0 * top->width;
            const auto falling = [h](const Hyperbolic&) { return -h; };
            const auto none = [](const Hyperbolic&) { return 0.0; };
            const double base = is_remove() ? end(falling, none, 0.0) : end(plain, log_base, 0.0);
            high = std::max(std::min(high, last), base);
        }
        ends[side] = std::min(high, kFarthest);
    }
    return is_remove() ? Ends{ends[1], ends[0]} : Ends{ends[0], ends[1]};
}

std::optional<SampledDirectionLaw::Nodes> SampledDirectionLaw::nodes(double t, const Rule& rule,
                                                                     const Cut* top,
                                                                     const Cut* part,
                                                                     const Beside* beside) const {
    const double h = density_.along(), angle = beside ? beside->angle : 0.0;
    const auto& stretch = rule.stretch;
    const Ends ends = this->ends(t, top, part);
    const auto in_steps = [&](double v) { return stretch ? stretch->axis.reaching(v, angle) : v; };
    int exponent;
    const double mantissa = std::frexp(rule.step, &exponent);
    const double spacing = std::ldexp(std::floor(std::ldexp(mantissa, 24)), exponent - 24);
    const double below = std::ceil(in_steps(ends.below) / spacing);
    const double above = std::ceil(in_steps(ends.above) / spacing);
    const double count = below + above + 1.0;
    if (!(spacing > 0.0 && count <= kMostNodes)) return std::nullopt;
    const auto n = static_cast<std::size_t>(count);
    Nodes made{};
    made.is_stretched = stretch.has_value();
    for (auto* column : {&made.v, &made.excess, &made.loss, &made.log_weight, &made.tanh,
                         &made.sech_square, &made.error, &made.loss_error}) {
        column->resize(n);
    }
    const double most = 2.0 - std::log(q_);
    for (std::size_t j = 0; j < n; ++j) {
        const double s = (static_cast<double>(j) - below) * spacing;
        double v = s, of_place = 0.0, log_slope = 0.0;
        if (beside) {
            const Stretch::Point point = stretch->axis.beside(s, angle);
            v = point.v;
            made.shift.push_back(point.shift);
            made.stretch.push_back(point.slope);
        } else if (stretch) {
            v = stretch->axis.at(s);
            log_slope = std::log(stretch->axis.slope(s));
        }
        const Hyperbolic at(v);
        if (stretch) {
            const double size = std::hypot(v, beside ? made.shift[j] : 0.0);
            of_place =
                Stretch::kError *
                (1.0 + 2.0 * size *
                           (h * at.sech_square +
                            (density_.sphere() + density_.pull_across(at)) * std::fabs(at.tanh)));
        }
        const double a = 2.0 * h * at.tanh;
        const Weight w = weight_of(q_, a);
        made.v[j] = v;
        made.excess[j] = w.excess;
        made.loss[j] = w.loss;
        made.tanh[j] = at.tanh;
        made.sech_square[j] = at.sech_square;
        made.log_weight[j] = density_.log_density(at) + log_slope;
        made.error[j] = density_.log_density_error(at) + of_place;
        made.loss_error[j] =
            (7.0 + made.error_of_place()) * std::min(1.0 + std::fabs(a), most) + 8.0;
    }
    made.spacing = spacing;
    made.log_norm = beside ? beside->log_norm - std::log(spacing)
                           : tilted(made.log_weight, made.loss, 0.0).log_sum;
    for (double& e : made.log_weight) e -= made.log_norm;
    // Beyond an end terms fall at least by e^(-rate spacing) each, of a stretch by that of its
    // least slope, while slopes rise to 1/cos(angle) at most.
    const auto decay = [&](auto pull_at, double v, const Cut* below_cut) {
        const Hyperbolic at(std::fabs(v));
        const double pull = pull_at(at);
        double rise = std::max(density_.slope(at, pull), -density_.sphere() * at.tanh);
        if (below_cut && std::isfinite(below_cut->v)) {
            rise -= std::max(std::fabs(v) - sign() * top->v, 0.0) * top->spread();
        }
        double least = 1.0, most_slope = 1.0;
        if (stretch) {
            const double last = (v < 0.0 ? below : above) * spacing;
            const double grown = std::sinh(last / stretch->axis.length);
            const double r = stretch->axis.least;
            const double least_slope =
                r * std::hypot(std::cos(angle), grown) / std::hypot(1.0, r * grown);
            least = least_slope * std::cos(angle);
            most_slope = 1.0 / (std::cos(angle) * (beside ? 1.0 : least_slope));
        }
        const double fall = -rise * spacing * least * (1.0 - 1e-9);
        return fall > 0.0 ? std::log(most_slope / std::expm1(fall)) + 1e-9 : kInfinity;
    };
    const auto plain = [h](const Hyperbolic&) { return h; };
    const auto large = [&](const Hyperbolic& at) { return large_pull(t, at); };
    const double low = made.v.front(), high = made.v.back();
    made.low_decay = decay(plain, low, nullptr);
    made.high_decay = decay([&](const Hyperbolic&) { return top ? -h : h; }, high, nullptr);
    made.base_outside = std::exp(made.outside(0.0, 0.0));
    if (!top) made.base_outside += std::exp(made.outside(1.0, 0.0));
    (is_remove() ? made.high_decay : made.low_decay) = decay(large, is_remove() ? high : low, top);
    if (top) {
        for (std::size_t j = 0; j < n; ++j) {
            const double at = sign() * (top->v - made.v[j]) / top->width;
            made.log_share.push_back(log_ndtr(at));
            made.log_weight[j] += made.log_share[j];
            made.error[j] += made.error_of_share() * share_error(at, made.v[j], top->v, top->width);
        }
    }
    return made;
}

}  // namespace tightnoise::contour
