// Where the privacy loss L(x) = log f(x + shift) - log f(x) is above epsilon, f(x + shift) less
// e^epsilon f(x) adds up to D. L is looked at in nodes on every component and its shifted image,
// and in its extremes between them; these do not depend on epsilon, which is then found by Newton's
// method. A root of L = epsilon moves with the parameters, but the integrand is 0 there: only f's
// own change counts, which is a difference of normal densities and probabilities at the roots.
#include "worst/shift_epsilons.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanisms/normal_mass.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

struct Gaussian {
    double location, weight, sigma;
    double precision;   // 1 / sigma^2
    double log_height;  // log(weight / sigma)
};

// A function of x and its derivative.
struct Value {
    double value, slope;
};

struct Node {
    double x;
    Value at;
};

class Mixture {
  public:
    Mixture(const GaussianPairs& of, double delta) {
        for (std::size_t j = 0; j < of.pairs; ++j) {
            const double sigma = of.sigmas[j], weight = 0.5 * of.weights[j];
            for (const double sign : {1.0, -1.0}) {
                parts_.push_back({sign * of.locations[j], weight, sigma, 1.0 / (sigma * sigma),
                                  std::log(weight / sigma)});
            }
        }
        collect_nodes(std::sqrt(-2.0 * std::log(delta)) + 4.0);
    }

    // Two for each pair.
    const std::vector<Gaussian>& parts() const { return parts_; }

    // On every component, where it is seen, and the values of log_density there; symmetric.
    const std::vector<Node>& nodes() const { return nodes_; }

    // Nodes that are closer tell nothing new.
    double least_distance() const { return least_distance_; }

    // log f(x) but for a constant.
    Value log_density(double x) const {
        constexpr double kNothing = 40.0;                  // e^-40 is lost beside 1
        double top = -kInfinity, sum = 0.0, moment = 0.0;  // sums divided by e^top
        for (const Gaussian& g : parts_) {
            const double d = x - g.location;
            const double exponent = g.log_height - 0.5 * d * d * g.precision;
            if (exponent > top) {
                const double less = std::exp(top - exponent);
                top = exponent;
                sum = sum * less + 1.0;
                moment = moment * less - d * g.precision;
            } else if (exponent > top - kNothing) {
                const double term = std::exp(exponent - top);
                sum += term;
                moment -= term * d * g.precision;
            }
        }
        return {top + std::log(sum), moment / sum};
    }

  private:
    // `reach` sigmas far.
    void collect_nodes(double reach) {
        constexpr double kUnseen = 9.0;  // less than e^-9 of the density
        std::vector<double> offsets = {0.0, 0.8, 1.5, 2.2, 3.0, 3.9, 5.0, 6.5};
        while (offsets.back() < reach) offsets.push_back(1.25 * offsets.back());
        least_distance_ = kInfinity;
        for (const Gaussian& g : parts_) {
            least_distance_ = std::min(least_distance_, 0.3 * g.sigma);
            for (const double offset : offsets) {
                for (const double sign : {1.0, -1.0}) {
                    const double x = g.location + sign * offset * g.sigma;
                    const Value at = log_density(x);
                    if (g.log_height - 0.5 * offset * offset > at.value - kUnseen) {
                        nodes_.push_back({x, at});
                    }
                }
            }
        }
    }

    std::vector<Gaussian> parts_;
    std::vector<Node> nodes_;
    double least_distance_;
};

struct Interval {
    double begin, end;
};

// What an interval, or a union of them, adds to D, and to the integral of f(x).
struct Cost {
    double delta, mass;
};

double normal_density(double z) {
    return kInverseSqrtTwoPi * std::exp(-0.5 * z * z);
}

double normal_moment(double z) {
    return std::isinf(z) ? 0.0 : z * normal_density(z);
}

class ShiftedMixture {
  public:
    ShiftedMixture(const Mixture& mixture, double shift) : mixture_(mixture), shift_(shift) {
        collect_nodes();
    }

    // Where L > epsilon.
    std::vector<Interval> violating(double epsilon) const {
        std::vector<Interval> set;
        bool open = nodes_.front().at.value > epsilon;
        double begin = -kInfinity;
        for (std::size_t i = 1; i < nodes_.size(); ++i) {
            if ((nodes_[i].at.value > epsilon) == open) continue;
            const double x = crossing(nodes_[i - 1], nodes_[i], epsilon);
            if (open) set.push_back({begin, x});
            begin = x;
            open = !open;
        }
        if (open) set.push_back({begin, kInfinity});
        return set;
    }

    Cost cost(const std::vector<Interval>& set, double epsilon) const {
        const double factor = std::exp(epsilon);
        Cost total = {0.0, 0.0};
        for (const Interval& i : set) {
            double top = 0.0, bottom = 0.0;
            for (const Gaussian& g : mixture_.parts()) {
                top += g.weight * mass(g, i, shift_);
                bottom += g.weight * mass(g, i, 0.0);
            }
            total.delta += std::max(0.0, top - factor * bottom);
            total.mass += bottom;
        }
        return total;
    }

    // Writes row `row` of out: the derivatives of D divided by -dD/depsilon = `rate`.
    void write_derivatives(const std::vector<Interval>& set, double epsilon, double rate,
                           const ShiftEpsilons& out, std::size_t row) const {
        const double factor = std::exp(epsilon);
        const std::vector<Gaussian>& parts = mixture_.parts();
        const std::size_t pairs = parts.size() / 2;
        double* by_location = out.by_location + row * pairs;
        double* by_log_weight = out.by_log_weight + row * pairs;
        double* by_log_sigma = out.by_log_sigma + row * pairs;
        double by_shift = 0.0, by_all_weights = 0.0;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const Gaussian& g = parts[k];
            const double outwards = k % 2 == 0 ? 1.0 : -1.0;
            for (const Interval& i : set) {
                const double a = (i.begin - g.location) / g.sigma;
                const double b = (i.end - g.location) / g.sigma;
                const double move = shift_ / g.sigma;
                const double top = normal_density(b + move) - normal_density(a + move);
                const double bottom = normal_density(b) - normal_density(a);
                const double moments = normal_moment(b + move) - normal_moment(a + move) -
                                       factor * (normal_moment(b) - normal_moment(a));
                const double weighted =
                    g.weight * (mass(g, i, shift_) - factor * mass(g, i, 0.0)) / rate;
                by_location[k / 2] -=
                    outwards * g.weight / g.sigma * (top - factor * bottom) / rate;
                by_log_weight[k / 2] += weighted;
                by_log_sigma[k / 2] -= g.weight * moments / rate;
                by_shift += g.weight / g.sigma * top / rate;
                by_all_weights += weighted;
            }
        }
        for (std::size_t j = 0; j < pairs; ++j) {
            const double share = parts[2 * j].weight + parts[2 * j + 1].weight;
            by_log_weight[j] -= share * by_all_weights;
        }
        out.by_shift[row] = by_shift;
    }

  private:
    // The probability of the interval, moved to the right, under one component.
    static double mass(const Gaussian& g, const Interval& i, double shift) {
        return scaled_normal_mass(0.0, (i.begin + shift - g.location) / g.sigma,
                                  (i.end + shift - g.location) / g.sigma);
    }

    Value loss_at(double x) const {
        const Value top = mixture_.log_density(x + shift_);
        const Value bottom = mixture_.log_density(x);
        return {top.value - bottom.value, top.slope - bottom.slope};
    }

    // L is odd about -shift / 2, and a component's node n is also its image's node -n - shift: all
    // are found on the right half.
    void collect_nodes() {
        std::vector<Node> right = {{-0.5 * shift_, loss_at(-0.5 * shift_)}};
        for (const Node& n : mixture_.nodes()) {
            const Value top = mixture_.log_density(n.x + shift_);
            const Value loss = {top.value - n.at.value, top.slope - n.at.slope};
            right.push_back(n.x > -0.5 * shift_ ? Node{n.x, loss} : mirrored({n.x, loss}));
        }
        std::sort(right.begin() + 1, right.end(),
                  [](const Node& a, const Node& b) { return a.x < b.x; });
        std::vector<Node> half = {right.front()};
        for (const Node& next : right) {
            const Node last = half.back();
            if (next.x - last.x < mixture_.least_distance()) continue;
            if ((last.at.slope > 0.0) != (next.at.slope > 0.0)) {
                half.push_back(extreme(last, next));
            }
            half.push_back(next);
        }
        for (std::size_t i = half.size() - 1; i > 0; --i) nodes_.push_back(mirrored(half[i]));
        nodes_.insert(nodes_.end(), half.begin(), half.end());
    }

    Node mirrored(const Node& node) const {
        return {-node.x - shift_, {-node.at.value, node.at.slope}};
    }

    // Where L is greatest or least between two nodes, or nearly: the rule of false position, kept
    // off the ends.
    Node extreme(Node a, Node b) const {
        for (int i = 0; i < 12; ++i) {
            const double fraction = a.at.slope / (a.at.slope - b.at.slope);
            const double least = i % 2 == 0 ? 0.02 : 0.5;
            const double kept = std::min(std::max(fraction, least), 1.0 - least);
            const double x = a.x + kept * (b.x - a.x);
            const Node between = {x, loss_at(x)};
            ((between.at.slope > 0.0) == (a.at.slope > 0.0) ? a : b) = between;
            if (std::fabs(between.at.slope) * (b.x - a.x) < 1e-5) break;
        }
        return std::fabs(a.at.slope) < std::fabs(b.at.slope) ? a : b;
    }

    // The root of L = epsilon between two nodes: Newton's method within a bracket.
    double crossing(const Node& left, const Node& right, double epsilon) const {
        double a = left.x, b = right.x;
        const double at_a = left.at.value - epsilon, at_b = right.at.value - epsilon;
        const bool rises = at_b > at_a;
        double x = a + (b - a) * at_a / (at_a - at_b);
        for (int i = 0; i < 40; ++i) {
            const Value loss = loss_at(x);
            const double excess = loss.value - epsilon;
            ((excess > 0.0) == rises ? b : a) = x;
            if (std::fabs(excess) < 1e-9) break;
            const double next = x - excess / loss.slope;
            x = next > a && next < b ? next : 0.5 * (a + b);
        }
        return x;
    }

    const Mixture& mixture_;
    double shift_;
    std::vector<Node> nodes_;
};

void write_row(const Mixture& mixture, double shift, double delta, double near,
               const ShiftEpsilons& out, std::size_t row) {
    constexpr double kClose = 1e-9;
    const std::size_t pairs = mixture.parts().size() / 2;
    for (double* rows : {out.by_location, out.by_log_weight, out.by_log_sigma}) {
        std::fill_n(rows + row * pairs, pairs, 0.0);
    }
    out.epsilon[row] = 0.0;
    out.by_shift[row] = 0.0;
    const ShiftedMixture shifted(mixture, shift);
    double low = 0.0, high = kInfinity;
    double epsilon = near;
    std::vector<Interval> set;
    Cost cost = {0.0, 0.0};
    for (int i = 0; i < 100; ++i) {
        set = shifted.violating(epsilon);
        cost = shifted.cost(set, epsilon);
        (cost.delta > delta ? low : high) = epsilon;
        // Newton's method on log D, which falls at the rate e^epsilon mass / D and is concave, or
        // nearly.
        const double rate = std::exp(epsilon) * cost.mass;
        const double newton = epsilon + cost.delta * std::log(cost.delta / delta) / rate;
        const double middle = high < kInfinity ? 0.5 * (low + high) : 2.0 * low;
        const double next = newton > low && newton < high ? newton : middle;
        if (std::fabs(next - epsilon) < kClose || next < kClose) break;
        epsilon = next;
    }
    if (epsilon < 2.0 * kClose) return;
    out.epsilon[row] = epsilon;
    const double rate = std::exp(epsilon) * cost.mass;
    if (rate > 0.0) shifted.write_derivatives(set, epsilon, rate, out, row);
}

}  // namespace

void shift_epsilons(const GaussianPairs& mixture, const double* shifts, std::size_t count,
                    double delta, double near, const ShiftEpsilons& out) {
    const Mixture gaussians(mixture, delta);
    for (std::size_t i = 0; i < count; ++i) {
        poll();
        write_row(gaussians, shifts[i], delta, near, out, i);
    }
}

}  // namespace tightnoise
