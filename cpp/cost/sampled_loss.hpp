// The Renyi divergence of a mechanism that is run on a random sample of the records, from the law
// of its privacy loss: X of sampled_excess.hpp as a sum over panels.
//
// P and Q are the worst pair of outputs of the mechanism itself, mirror images of each other, l the
// loss of P over Q, q the sampling rate and 1 + u = 1 - q + q e^l. L = log(1 + u).
//
// Poisson sampling, a record more or less: the worst pair is ((1 - q) Q + q P, Q), and of its two
// divergences D(. || Q) is the larger one (Mironov, Talwar and Zhang 2019, "Renyi Differential
// Privacy of the Sampled Gaussian Mechanism", arXiv 1908.10530, Theorem 5: a reflection swaps P and
// Q). With E_Q[u] = 0,
//     X = E_Q[(1 + u)^a - 1 - a u] / b,  b = a - 1.
//
// Batches of a fixed size without replacement, a record replaced: where delta is the privacy
// profile of (P, Q), that of the sampled mechanism at log(1 + q (e^epsilon - 1)), epsilon >= 0, is
// at most q delta(epsilon) (Balle, Barthe and Gaboardi 2018, "Privacy Amplification by
// Subsampling", Theorem 9), which is the profile of ((1 - q) Q + q P, Q) there. The adjacency is
// symmetric, so this holds for both orders of the two outputs. As
//     E_B[(A/B)^a] = 1 + a b int_0^inf (e^(b y) delta_AB(y) + e^(-a y) delta_BA(y)) dy
// increases with both profiles, the divergence is at most that with both equal to this bound:
//     X = E_Q[(1 + u)^a + (1 + u)^(1 - a) - (1 + u) - 1; u > 0] / b.
//
// Panels. The law has a coordinate v in which the density of l under Q, also times e^(h l) for any
// h, is as smooth everywhere as its panel_width says. The likelihood ratio bends where q e^l and
// 1 - q cross: (1 + u)^a has its singularities at l = l_c + i pi (2 k + 1). So panels are cells
// [i w, (i + 1) w], w a power of two, the largest that are no wider than the law allows and than
// twice their distance from the crossing, or than a part of the distance to the singularities.
// A power (1 + u)^a is steep where a is large, but log(1 + u) is convex in l, and convex parts have
// no peaks: near a mode the law decides the width.
//
// Panels are kept: all that they hold does not depend on the order.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>

#include "cost/sampled_loss_kernels.hpp"
#include "cost/subsampling.hpp"
#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

enum class Sampling { kPoisson, kFixedSize };

// Law: loss(v), of the sign of v; log_densities(v, n, out) under Q, less that at its mode; mode(h),
// about where the density times e^(h l) is largest; position(l), the v with loss l, infinite where
// there is none; slope(v) of the loss; panel_width(v), not decreasing with |v|.
template <class Law>
class SampledLoss {
  public:
    SampledLoss(const Law& law, double rate, Sampling sampling)
        : law_(law),
          q_(rate > kLeastSamplingRate ? rate : kLeastSamplingRate),
          log_q_(log(q_)),
          least_(sampling == Sampling::kPoisson ? -kInfinity : 0.0),
          sum_over_(sampling == Sampling::kPoisson ? sampled_loss_kernels().one_way
                                                   : sampled_loss_kernels().both_ways),
          crossing_loss_(log1p(-q_) - log_q_),
          crossing_(law.position(crossing_loss_)) {
        if (std::isfinite(crossing_)) {
            const double seen = 0x1p-44 * (std::fabs(crossing_) + law_.panel_width(crossing_));
            const double bend = kBend / law_.slope(crossing_);
            bend_ = bend > seen ? bend : seen;
        }
        Sum mass;
        add_around(law_.mode(0.0), -kInfinity, mass, [](const Panel& p) { return p.mass; });
        log_mass_ = log(mass.total);
    }

    // X for an order >= 1. Relative error 1e-13, and upwards by what the rounding of large
    // exponents can lose.
    ScaledExcess excess(double alpha) {
        const double most = law_.mode(alpha), square = law_.mode(2.0);
        // For small u the integrand is like u^2; for a < 2 it may have its mode at the crossing.
        double bend = std::fmax(crossing_, std::fmin(most, square));
        bend = std::fmin(bend, std::fmax(most, square));
        const double modes[] = {self_consistent(alpha, 1.0), bend, square,
                                self_consistent(alpha, 0.0), law_.mode(0.0)};
        double highest = 0.0;
        for (const double mode : modes) highest = std::fmax(highest, exponent(alpha, inside(mode)));
        const double reference = reference_for(highest);
        const SampledOrder order = sampled_order(alpha, reference + log_mass_);
        Sum sum;
        for (const double mode : modes) {
            add_around(inside(mode), least_, sum, [&](const Panel& p) {
                return sum_over_(p.nodes, order) * (1.0 + p.rounding + order.b * p.power_rounding);
            });
        }
        // Where the law is narrow in v its density is large, and X need not be: only what could
        // overflow stays scaled, for it is far above 1.
        if (reference < kOverflowing) return {sum.total * exp(reference), 0.0};
        return {sum.total, reference};
    }

  private:
    using Rule = GaussLegendre<static_cast<int>(LossPanel::kNodes)>;
    static constexpr double kBend = 3.0;         // of the distance pi to singularities, in l
    static constexpr double kNothing = 1e-17;    // of a sum: what follows is as small
    static constexpr double kInvisible = 1e-60;  // the same, where terms still rise
    static constexpr double kRounding = 1e-14;   // relative error of losses and exponents
    static constexpr double kOverflowing = 500.0;
    static constexpr int kMostSteps = 40;

    struct Cell {
        double left, width;
        double right() const { return left + width; }
    };
    struct Panel {
        LossPanel nodes;
        double mass;            // of Q, but for the constant
        double rounding;        // what terms lose by rounding, relatively,
        double power_rounding;  // and this times a - 1
    };
    struct Window {
        double left, right;
        bool has(double v) const { return left <= v && v < right; }
    };
    struct Sum {
        double total = 0.0;
        Window windows[5];
        std::size_t count = 0;
        bool has(double v) const {
            for (std::size_t i = 0; i < count; ++i) {
                if (windows[i].has(v)) return true;
            }
            return false;
        }
    };

    double inside(double v) const { return v > least_ ? v : least_; }
    double log_ratio(double v) const { return log_mixture(law_.loss(v), q_, log_q_); }
    double exponent(double alpha, double v) const {
        double log_density;
        law_.log_densities(&v, 1, &log_density);
        return alpha * log_ratio(v) + log_density - log_mass_;
    }
    // q e^l / (1 - q + q e^l), the slope of L in l.
    double weight(double v) const { return 1.0 / (1.0 + exp(crossing_loss_ - law_.loss(v))); }

    // A mode of (1 + u)^a under Q, a fixed point, coming from above or from below.
    double self_consistent(double alpha, double first_weight) const {
        double v = law_.mode(alpha * first_weight);
        for (int i = 0; i < kMostSteps; ++i) {
            const double next = law_.mode(alpha * weight(v));
            const double step = std::fabs(next - v);
            v = next;
            if (!(step > 0.1 * law_.panel_width(v))) break;
        }
        return v;
    }

    double widest_by_crossing(double away) const { return std::fmax(2.0 * away, bend_); }
    bool is_narrow_enough(const Cell& cell) const {
        const double left = cell.left, right = cell.right();
        const double nearest = left > 0.0 ? left : std::fmin(right, 0.0);
        const double away = std::fmax(0.0, std::fmax(left - crossing_, crossing_ - right));
        return cell.width <= law_.panel_width(nearest) && cell.width <= widest_by_crossing(away);
    }
    // The panel to the right of `edge`, and to the left.
    Cell cell_at(double edge, bool is_right) const {
        const double away = std::fabs(edge - crossing_);
        double width = std::fmin(law_.panel_width(edge), widest_by_crossing(away));
        width = std::exp2(std::floor(std::log2(width)));
        for (;; width *= 0.5) {
            const double number =
                is_right ? std::floor(edge / width) : std::ceil(edge / width) - 1.0;
            const Cell cell{number * width, width};
            if (is_narrow_enough(cell)) return cell;
        }
    }

    const Panel& panel(const Cell& cell) {
        const auto found = panels_.find(cell.left);
        if (found != panels_.end()) return found->second;
        Panel& made = panels_[cell.left];
        constexpr std::size_t n = LossPanel::kNodes;
        double loss[n], side[n], log_density[n];
        for (std::size_t i = 0; i < n; ++i) {
            const double v = cell.left + cell.width * Rule::nodes[i];
            loss[i] = law_.loss(v);
            // Beyond 0 that under P, which is its mirror image: not a large number plus a loss.
            side[i] = v > 0.0 ? -v : v;
        }
        law_.log_densities(side, n, log_density);
        double farthest = 0.0;
        made.mass = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            farthest = std::fmax(farthest, -log_density[i]);
            log_density[i] += log(cell.width * Rule::weights[i]);
            made.mass += exp(log_density[i] - std::fmax(loss[i], 0.0));
        }
        sampled_loss_kernels().mix(loss, log_density, q_, log_q_, made.nodes);
        made.rounding = farthest;
        made.power_rounding = 0.0;
        const double least_loss = std::fabs(law_.loss(law_.mode(0.0)));
        for (const std::size_t i : {std::size_t{0}, n - 1}) {
            const double steep = 1.0 / (1.0 + exp(crossing_loss_ - loss[i]));
            const double size = std::fmax(std::fabs(loss[i]), least_loss);
            const double of_low = loss[i] > 0.0 ? (1.0 - steep) * size : steep * size;
            const double of_power = std::fmax(std::fabs(made.nodes.log_ratio[i]), steep * size);
            made.rounding = std::fmax(made.rounding, farthest + of_low);
            made.power_rounding = std::fmax(made.power_rounding, of_power);
        }
        made.rounding *= kRounding;
        made.power_rounding *= kRounding;
        return made;
    }

    // Adds value(panel) of the panels around `at`, until those that follow are nothing.
    template <class Value>
    void add_around(double at, double least, Sum& sum, Value value) {
        if (sum.has(at)) return;
        const Cell first = cell_at(at, true);
        Window w{first.left, first.left};
        double density = 0.0, first_density = 0.0;
        const auto goes_on = [&](const Cell& cell) {
            const double before = density;
            const double part = value(panel(cell));
            sum.total += part;
            density = part / cell.width;
            const double reach = density * law_.panel_width(cell.left);
            return reach > kNothing * sum.total ||
                   (density > before && reach > kInvisible * sum.total);
        };
        for (bool more = true; more && !sum.has(w.right);) {
            const Cell cell = cell_at(w.right, true);
            more = goes_on(cell);
            if (w.right == w.left) first_density = density;
            w.right = cell.right();
        }
        density = first_density;
        for (bool more = true; more && w.left > least && !is_left_taken(sum, w.left);) {
            const Cell cell = cell_at(w.left, false);
            more = goes_on(cell);
            w.left = cell.left;
        }
        sum.windows[sum.count++] = w;
    }
    // Whether the panel to the left of `edge` has been added.
    bool is_left_taken(const Sum& sum, double edge) const {
        return sum.has(cell_at(edge, false).left);
    }

    const Law& law_;
    double q_, log_q_;
    double least_;  // v
    double (*sum_over_)(const LossPanel&, const SampledOrder&);
    double crossing_loss_;
    double crossing_;  // the v where q e^l = 1 - q
    double bend_ = kInfinity;
    double log_mass_ = 0.0;
    std::map<double, Panel> panels_;
};

// Above the errors of sums and functions, which were measured to be below 1e-12.
constexpr double kSampledMargin = 5e-12;
// What underflow can lose is less.
constexpr double kLeastSampled = std::numeric_limits<double>::min();
// Orders and exponents up to these are integrated: the results keep their digits, nothing
// overflows, and panels are at least 1e7 units of the last place of their coordinate wide.
constexpr double kLargestSampledOrder = 1e12;
constexpr double kLargestSampledExponent = 1e16;

// What holds for every mechanism, if D is its divergence without sampling and D_inf that of
// infinite order. The divergence of the mixture is at most log(1 + q (e^(b D) - 1)) / b, by
// convexity, and for Poisson sampling at most (a / b) log(1 + q (e^(b D / a) - 1)), by the triangle
// inequality for the norm of order a of the likelihood ratio under Q. For batches of a fixed size
// the larger of the ratio and 1 takes its place: (a / b) log(1 + q e^(b D / a)), which is more by
// (a / b) q at most.
inline double sampled_bound(double alpha, double unsampled, double max_divergence, double q,
                            Sampling sampling) {
    const double b = alpha - 1.0;
    const double most = amplified_epsilon_upper(q, max_divergence);
    if (alpha == kInfinity) return most;
    const double whole = unsampled * (1.0 + kSampledMargin);
    if (b == 0.0) return std::fmin(q * whole * (1.0 + kSampledMargin), most);
    const double convex = amplified_epsilon_upper(q, b * whole) / b;
    const double more = sampling == Sampling::kFixedSize ? q : 0.0;
    const double triangle = alpha / b * (amplified_epsilon_upper(q, b / alpha * whole) + more);
    return std::fmin(std::fmin(convex, triangle) * (1.0 + kSampledMargin), most);
}

// rdp[i] >= the divergence of order alpha[i] >= 1, 0 < q < 1; unsampled(alpha) is what it is
// without sampling.
template <class Law, class Unsampled>
void sampled_rdp(const Law& law, double q, Sampling sampling, double max_divergence,
                 Unsampled unsampled, const double* alpha, double* rdp, std::size_t n) {
    std::optional<SampledLoss<Law>> sampled;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = alpha[i], b = a - 1.0;
        rdp[i] = sampled_bound(a, unsampled(a), max_divergence, q, sampling);
        if (a <= kLargestSampledOrder &&
            std::fmax(1.0, b) * law.loss(law.mode(a)) <= kLargestSampledExponent) {
            if (!sampled) sampled.emplace(law, q, sampling);
            const double d = divergence(sampled->excess(a), b) * (1.0 + kSampledMargin);
            rdp[i] = std::fmin(rdp[i], d);
        }
        rdp[i] += kLeastSampled;
    }
}

}  // namespace
}  // namespace tightnoise
