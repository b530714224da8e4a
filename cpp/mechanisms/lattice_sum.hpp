// Sums over the components of a multi-Gaussian law, sum_k e^(-|k| epsilon) e^(-(x - k)^2 / (2 s^2))
// over |k| <= K, in units of the lattice.
//
// From the dominant component the terms fall on both sides, and each is the one before times a
// ratio that is itself multiplied by e^(-1/s^2), and by e^(-2 epsilon) once where k passes 0. So
// two exponentials and a logarithm give the density, whatever K.
//
// A position is x = node + u with an integer node: u keeps its digits where x has none to spare.
// Indices and means are returned less the node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tightnoise {

struct LatticeSum {
    double distance;  // d = u - index of the dominant component
    double index;
    double exponent;  // of the dominant component: -|k| epsilon - d^2 / (2 s^2)
    double sum;       // of all, divided by the dominant one
    double mean;      // sum_k k T_k / sum_k T_k, the posterior mean of k
    double right;     // of those with k >= 0, divided by the dominant one
};

// The same about y, half way between two positions y -+ shift / 2: with weights e^(-+j tau),
// tau = shift / (2 s^2), j counted from the dominant component.
struct LatticePairSum {
    double distance, index, exponent;
    double even, odd;            // sums of T_j cosh(j tau), T_j sinh(j tau)
    double even_odd, even_even;  // sums of j T_j sinh(j tau), j T_j cosh(j tau)
};

struct Tilt {
    explicit Tilt(double t) : tau(t), ch(std::cosh(t)), sh(std::sinh(t)) {}
    double tau, ch, sh;
};

class Lattice {
  public:
    // epsilon > 0, s > 0, modes an integer >= 0.
    Lattice(double epsilon, double s, double modes)
        : epsilon_(epsilon),
          s_(s),
          modes_(modes),
          a_(0.5 / (s * s)),
          pull_(epsilon * s * s),
          square_(std::exp(-2.0 * a_)),
          fold_(std::exp(-2.0 * epsilon)),
          outwards_(std::exp(-a_ - epsilon)),
          inwards_(std::exp(-a_ + epsilon)),
          one_exp_(a_ + epsilon < 300.0) {}

    double epsilon() const { return epsilon_; }
    double s() const { return s_; }
    double modes() const { return modes_; }
    double a() const { return a_; }
    double pull() const { return pull_; }

    // The dominant component at node + u, less node.
    double dominant(double node, double u) const {
        const double x = node + u;
        double index = -node;
        if (x > pull_) index = std::nearbyint(u - pull_);
        if (x < -pull_) index = std::nearbyint(u + pull_);
        return std::min(std::max(index, -modes_ - node), modes_ - node);
    }

    LatticeSum sum(double node, double u) const {
        const Start start = start_at(node, u);
        LatticeSum r = {start.distance, start.index, start.exponent, 1.0, 0.0, 0.0};
        double before = 0.0, after = 0.0, first = 0.0;  // terms with k < 0, k >= 0; first moment
        (start.k < 0.0 ? before : after) = 1.0;
        walk_all(start, [&](double term, double j, bool right, bool) {
            (right ? after : before) += term;
            first += j * term;
        });
        r.sum = before + after;
        r.mean = r.index + first / r.sum;
        r.right = after;
        return r;
    }

    // About node + u; |tau| s is at most about 1/2.
    LatticePairSum pair_sum(double node, double u, const Tilt& tilt) const {
        const Start start = start_at(node, u);
        LatticePairSum r = {start.distance, start.index, start.exponent, 1.0, 0.0, 0.0, 0.0};
        double ch = 1.0, sh = 0.0;
        walk_all(start, [&](double term, double j, bool, bool anchor) {
            if (std::fabs(j) == 1.0) {
                ch = tilt.ch;
                sh = j * tilt.sh;
            } else if (anchor) {
                ch = std::cosh(j * tilt.tau);
                sh = std::sinh(j * tilt.tau);
            } else {
                const double step = j > 0.0 ? tilt.sh : -tilt.sh;
                const double next = ch * tilt.ch + sh * step;
                sh = sh * tilt.ch + ch * step;
                ch = next;
            }
            r.even += term * ch;
            r.odd += term * sh;
            r.even_odd += j * (term * sh);
            r.even_even += j * (term * ch);
        });
        return r;
    }

    // log(T_(k + j) / T_k) where the dominant component is k, at distance d.
    double log_ratio(double k, double d, double j) const {
        const double weights = std::fabs(k) - std::fabs(k + j);
        return weights * epsilon_ - a_ * j * (j - 2.0 * d);
    }

  private:
    // A recurrence starts afresh after so many terms: its error grows with their square.
    static constexpr std::int64_t kAnchor = 64;
    // The terms fall ever faster, so that all beyond are less than a unit of the last place.
    static constexpr double kLeast = 1e-20;

    // The dominant component.
    struct Start {
        double index, k, distance, exponent;
    };

    Start start_at(double node, double u) const {
        const double index = dominant(node, u);
        const double k = node + index;
        const double d = u - index;
        return {index, k, d, -std::fabs(k) * epsilon_ - a_ * d * d};
    }

    // Calls add(T_j, j, k + j >= 0, anchor) for all j but 0 that count: 1, 2, ..., then -1, -2, ...
    // anchor: T_j was computed afresh.
    template <class Add>
    void walk_all(const Start& start, Add add) const {
        const double k = start.k, d = start.distance;
        double up, down;
        if (one_exp_) {
            const double tilt = std::exp(2.0 * a_ * d);
            up = (k >= 0.0 ? outwards_ : inwards_) * tilt;
            down = (k <= 0.0 ? outwards_ : inwards_) / tilt;
        } else {
            up = std::exp(log_ratio(k, d, 1.0));
            down = std::exp(log_ratio(k, d, -1.0));
        }
        walk(start, 1.0, up, -k, modes_ - k,
             [&](double term, double j, bool anchor) { add(term, j, k + j >= 0.0, anchor); });
        walk(start, -1.0, down, k, modes_ + k,
             [&](double term, double j, bool anchor) { add(term, j, k + j >= 0.0, anchor); });
    }

    // In one direction: to k = 0 in `inwards` steps where that is positive, and on to `last`.
    template <class Add>
    void walk(const Start& start, double direction, double ratio, double inwards, double last,
              Add add) const {
        const auto to_zero = static_cast<std::int64_t>(std::min(std::max(inwards, 0.0), last));
        const auto end = static_cast<std::int64_t>(last);
        double term = 1.0;
        for (std::int64_t j = 1; j <= end; ++j) {
            const bool anchor = j % kAnchor == 0;
            if (anchor) {
                const double at = direction * static_cast<double>(j);
                term = std::exp(log_ratio(start.k, start.distance, at));
                ratio = term > 0.0 ? std::exp(log_ratio(start.k, start.distance, at + direction) -
                                              log_ratio(start.k, start.distance, at))
                                   : 0.0;
            } else {
                term *= ratio;
                ratio *= square_;
                if (j == to_zero) ratio *= fold_;
            }
            if (term < kLeast) return;
            add(term, direction * static_cast<double>(j), anchor);
        }
    }

    double epsilon_, s_, modes_;
    double a_;     // 1 / (2 s^2)
    double pull_;  // epsilon s^2: the dominant component is so much nearer to 0 than x
    double square_, fold_, outwards_, inwards_;
    bool one_exp_;
};

}  // namespace tightnoise
