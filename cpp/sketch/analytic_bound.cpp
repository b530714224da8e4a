#include "sketch/analytic_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/complex_normal.hpp"
#include "numeric/elementary.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr AnalyticBound kNothing{1.0, kInfinity};

// What a bound is multiplied by, so that rounding errors stay on the safe side.
constexpr double kRoundUp = 1 + 1e-6;

double density(double t) {
    return kInvSqrt2Pi * std::exp(-0.5 * t * t);
}
double tail(double t) {
    return std::exp(normal_tail(t).log.real());
}

// Var(Z | Z > t), decreasing in t; beyond 5 its value at 5, where 1 - lambda (lambda - t) still has
// all its digits.
double tail_variance(double t) {
    const double x = std::min(t, 5.0), hazard = normal_tail(x).hazard.real();
    return std::min(1.0, 1 - hazard * (hazard - x) + 1e-12);
}

// Lemma 1: a lower bound of |E exp(iy (Z - mean))| for a normal law conditioned on an interval
// that has at most this variance and at least this mass (> 0). Not positive: no bound.
double characteristic_lower(double y, double variance, double mass) {
    const double near = 1 - 0.5 * y * y * variance;
    const double wide = (std::exp(-0.5 * y * y) - (1 - mass)) / mass;
    return std::max(near, wide) - 1e-9;
}

// The interval [-h, h] as an outcome: |E exp(iy Z)| from below over all positions. The variance and
// the mass decrease with the distance from the centre, so each slice of positions needs only its
// two ends.
class IntervalStrip {
  public:
    explicit IntervalStrip(double half_width) : h_(half_width) {
        constexpr int kSlices = 64;
        const double reach = std::min(h_, 8.0);
        if (h_ > reach) slices_.push_back({variance(0), mass(h_ - reach)});
        for (int i = 0; i < kSlices; ++i) {
            slices_.push_back({variance(h_ - reach + reach * i / kSlices),
                               mass(h_ - reach + reach * (i + 1) / kSlices)});
        }
        slices_.push_back({variance(h_), 1e-300});  // beyond the edge, whatever the mass
    }

    double central_variance() const { return slices_.front().variance; }

    // 0 where nothing is known.
    double lower(double y) const {
        double least = 1;
        for (const Slice& slice : slices_) {
            const double bound = characteristic_lower(y, slice.variance, slice.mass);
            if (!(bound > 0)) return 0;
            least = std::min(least, bound);
        }
        return least;
    }

    double half_width() const { return h_; }
    double mass(double x) const { return tail(std::fabs(x) - h_) - tail(std::fabs(x) + h_); }

    // An upper bound; what it is at the edge stands for all that is outside.
    double variance(double distance) const {
        const double x = std::min(distance, h_);
        const double uniform = h_ * h_ / 3;  // at x = 0 the density falls away from the centre
        if (h_ < 0.3) return uniform;
        const double u = -h_ - x, v = h_ - x;
        const double mean = normal_interval(u, 2 * h_).mean.real();
        const double value = 1 + (u * density(u) - v * density(v)) / mass(x) - mean * mean;
        return std::min(uniform, value + 1e-12);
    }

  private:
    struct Slice {
        double variance;  // at most
        double mass;      // at least
    };

    double h_;
    std::vector<Slice> slices_;
};

// The Bernstein ellipse of an interval whose smaller semi-axis is `height`.
struct Ellipse {
    double centre, height, width, rho;

    Ellipse(double t0, double t1, double semi_axis) : centre(0.5 * (t0 + t1)), height(semi_axis) {
        const double radius = 0.5 * (t1 - t0), ratio = height / radius;
        width = std::hypot(radius, height);
        rho = (ratio + std::hypot(1.0, ratio)) * (1 - 1e-12);
    }
};

void keep_better(AnalyticBound& best, AnalyticBound other, double terms) {
    other.bound *= kRoundUp;
    if (interpolation_error(other, terms) < interpolation_error(best, terms)) best = other;
}

// --- Theorem A: truncated ------------------------------------------------------------------------

// In |Im z| < height the function is at most `growth` times its bound on the real line.
struct Strip {
    double height, growth;
};

std::vector<Strip> truncated_strips(const IntervalStrip& strip) {
    std::vector<Strip> found;
    for (double scale = 0.2; scale < 1.45; scale += 0.05) {
        const double height = scale * std::sqrt(2 / strip.central_variance());
        const double lower = strip.lower(height);
        if (lower > 0) found.push_back({height, 1 / (lower * lower)});
    }
    return found;
}

// `largest`: a bound of the function on the real line.
AnalyticBound truncated_bound(const std::vector<Strip>& strips, double largest, double t0,
                              double t1, double terms) {
    AnalyticBound best = kNothing;
    for (const Strip& strip : strips) {
        const Ellipse ellipse(t0, t1, strip.height);
        keep_better(best, {ellipse.rho, largest * strip.growth}, terms);
    }
    return best;
}

// --- Theorem B: two tails and what lies between them, small divergence ---------------------------

// What a mechanism cuts the line into: two tails that begin at -edge and edge, and between them
// nothing (the sign), a density (rectified) or some cells of one width (quantised).
struct Partition {
    bool dense;
    int cells;
    double edge, width;  // `width` of a cell, or of the density's support

    Partition(BoundedGaussian kind, double half_width, int levels)
        : dense(kind == BoundedGaussian::rectified),
          cells(kind == BoundedGaussian::quantized ? levels - 2 : 0),
          edge(kind == BoundedGaussian::sign ? 0.0 : half_width),
          width(2 * half_width) {
        if (kind != BoundedGaussian::quantized) return;
        width /= levels - 1;
        edge = 0.5 * width * cells;
    }

    double centre(int cell) const { return width * (cell - 0.5 * (cells - 1)); }
};

// exp(t) - 1 - t for t >= 0, rounded up.
double exp_remainder(double t) {
    return t < 1e-3 ? 0.5 * t * t * (1 + t) : (std::expm1(t) - t) * (1 + 1e-9);
}

// A set of outcomes: |probability| and |log-likelihood ratio| at most these in one slice of an
// ellipse.
struct Outcome {
    double probability;
    double log_ratio;
};

constexpr int kSlices = 8;
constexpr double kNarrow = 0.75;  // cells up to this width are taken together

// A part [x0, x1] x [-y, y] of the complex plane, and a shift along the real axis.
struct Slice {
    double x0, x1, y, k;

    double low() const { return x0 + std::min(k, 0.0); }  // with all translates towards k
    double high() const { return x1 + std::max(k, 0.0); }
    double growth() const { return std::exp(0.5 * y * y); }
};

// One cell, of this half width. Of the two bounds of its score |(log p)'| the first is good for
// narrow cells, the second for wide ones.
Outcome cell_outcome(const IntervalStrip& cell, double centre, const Slice& slice) {
    const double low = slice.low() - centre, high = slice.high() - centre;
    const double h = cell.half_width(), y = slice.y;
    const double nearest = std::max({0.0, low, -high}), farthest = std::max(-low, high);
    const double variance = cell.variance(nearest), mass = cell.mass(farthest);
    const double lower = characteristic_lower(y, variance, mass);
    if (!(lower > 0)) return {1.0, kInfinity};
    const auto pull = [h](double x) { return std::abs(normal_interval(-h - x, 2 * h).mean); };
    const auto edge = [=](double at) { return density(std::max({0.0, low - at, at - high})); };
    const double narrow =
        std::hypot(std::max(pull(low), pull(high)), y) + y * variance / lower + 1e-12;
    const double wide = (edge(-h) + edge(h)) / (mass * lower);
    return {slice.growth() * cell.mass(nearest), std::fabs(slice.k) * std::min(narrow, wide)};
}

// All outcomes in [s0, s1] together: a density, or cells of at most this variance whose |E
// exp(iy Z)| is at least `lower`.
Outcome stretch_outcome(double s0, double s1, double variance, double lower, const Slice& slice) {
    const double nearest = std::max({0.0, s0 - slice.x1, slice.x0 - s1});
    const double farthest = std::max(s1 - slice.low(), slice.high() - s0);
    return {slice.growth() * (s1 - s0) * density(nearest),
            std::fabs(slice.k) * (std::hypot(farthest, slice.y) + slice.y * variance / lower)};
}

void add_outcomes(const Partition& partition, const IntervalStrip& strip, const Slice& slice,
                  std::vector<Outcome>& out) {
    const double x0 = slice.x0, x1 = slice.x1, y = slice.y, k = slice.k, edge = partition.edge;
    const double growth = slice.growth();
    for (const double side : {1.0, -1.0}) {  // upper tail: t = edge - z; lower tail: t = edge + z
        const double nearest = edge - std::max(side * x0, side * x1);
        const double t0 = edge - std::max(side * x0, side * x1) - std::max(side * k, 0.0);
        const double t1 = edge - std::min(side * x0, side * x1) - std::min(side * k, 0.0);
        const double lower = characteristic_lower(y, tail_variance(t0), tail(t1));
        const double hazard = normal_tail(t1).hazard.real();
        out.push_back(
            {growth * tail(nearest), lower > 0 ? std::fabs(k) * hazard / lower : kInfinity});
    }
    const int pieces = 16 * static_cast<int>(std::clamp(std::ceil(0.5 * edge), 1.0, 8.0));
    if (partition.dense) {
        const double width = 2 * edge / pieces;
        for (int i = 0; i < pieces; ++i) {
            const double s0 = -edge + i * width;
            out.push_back(stretch_outcome(s0, s0 + width, 0.0, 1.0, slice));
        }
    } else if (partition.width > kNarrow) {
        for (int i = 0; i < partition.cells; ++i) {
            out.push_back(cell_outcome(strip, partition.centre(i), slice));
        }
    } else {
        const double variance = strip.central_variance(), lower = strip.lower(y);
        const int together = (partition.cells + pieces - 1) / pieces;
        for (int i = 0; i < partition.cells; i += together) {
            const int end = std::min(i + together, partition.cells);
            out.push_back(stretch_outcome(partition.centre(i) - strip.half_width(),
                                          partition.centre(end - 1) + strip.half_width(), variance,
                                          lower, slice));
        }
    }
}

// The outcomes of every slice of an ellipse, slice by slice.
std::vector<Outcome> ellipse_outcomes(const Partition& partition, const IntervalStrip& strip,
                                      double k, const Ellipse& ellipse) {
    std::vector<Outcome> out;
    for (int i = 0; i < kSlices; ++i) {
        const double a = 2.0 * i / kSlices - 1, b = 2.0 * (i + 1) / kSlices - 1;
        const double inner = a < 0 && b > 0 ? 0.0 : std::min(std::fabs(a), std::fabs(b));
        add_outcomes(partition, strip,
                     {ellipse.centre + a * ellipse.width, ellipse.centre + b * ellipse.width,
                      ellipse.height * std::sqrt(1 - inner * inner), k},
                     out);
    }
    return out;
}

// sup |D| over the ellipse; infinity if |S - 1| < 1 cannot be shown.
double small_divergence_bound(const std::vector<Outcome>& outcomes, double alpha) {
    const double beta = alpha - 1;
    const std::size_t per_slice = outcomes.size() / kSlices;
    double largest = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
        double distance = 0;  // |S - 1|, for alpha = 1 its limit over beta
        for (std::size_t i = slice * per_slice; i < (slice + 1) * per_slice; ++i) {
            const Outcome& outcome = outcomes[i];
            if (!(beta * outcome.log_ratio < 700 && outcome.log_ratio < 700)) return kInfinity;
            const double reverse = exp_remainder(outcome.log_ratio);
            distance +=
                outcome.probability *
                (beta > 0 ? exp_remainder(beta * outcome.log_ratio) + beta * reverse : reverse);
        }
        if (!(distance < (beta > 0 ? 0.999 : kInfinity))) return kInfinity;
        largest = std::max(largest, distance);
    }
    return beta > 0 ? -std::log1p(-largest) / beta : largest;
}

// sup |D_infinity|, the log-likelihood ratio of a tail.
double max_divergence_bound(const std::vector<Outcome>& outcomes) {
    const std::size_t per_slice = outcomes.size() / kSlices;
    double largest = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
        for (std::size_t i = 0; i < 2; ++i) {
            const double log_ratio = outcomes[slice * per_slice + i].log_ratio;
            if (!(log_ratio <= largest)) largest = log_ratio;
        }
    }
    return largest;
}

// sup |E l^2| / shift^2 over the ellipse: the Fisher information, from outcomes for this shift.
double fisher_bound(const std::vector<Outcome>& outcomes, double shift) {
    const std::size_t per_slice = outcomes.size() / kSlices;
    double largest = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
        double information = 0;
        for (std::size_t i = slice * per_slice; i < (slice + 1) * per_slice; ++i) {
            const double score = outcomes[i].log_ratio / shift;
            if (!(score < kInfinity)) return kInfinity;
            information += outcomes[i].probability * score * score;
        }
        largest = std::max(largest, information);
    }
    return largest;
}

// --- Theorem C: two tails and what lies between them, walk around the ellipse --------------------

// Bounds of |(log Q)''| and of its derivative on a disc and on its translates by up to `shift`
// along the real axis.
struct TailCurvature {
    double second;
    double third;
};

// From lambda' = lambda (lambda - t) for the hazard lambda: |lambda| is at most the solution of
// m' = m (m + |t| + radius), good where it is small. And, good where t is large, from moments of
// the law of what is beyond t.
TailCurvature tail_curvature(Complex t, Complex hazard, double radius, double shift) {
    constexpr double kHalfVariance = 0.363380228;  // Var(Z | Z > 0), rounded up
    TailCurvature found = {kInfinity, kInfinity};
    const double x = t.real() - radius - shift, y = std::fabs(t.imag()) + radius;
    const double variance = x > 0 ? std::min(kHalfVariance, 1 / (x * x)) : 1.0;
    const double lower = 1 - 0.5 * y * y * variance - 1e-9;
    if (lower > 0) {
        const double third = std::sqrt(24 * variance);
        found.second = 1 + variance / (lower * lower);
        found.third = (x > 0 ? std::min(third, 7 / (x * x * x)) : third) / (lower * lower * lower);
    }
    const double all = radius + shift, reach = std::abs(t) + all, growth = std::exp(reach * all);
    const double at_centre = std::abs(hazard) * growth;
    if (!(at_centre * all < 1)) return found;
    const double most = at_centre / (1 - at_centre * all), second = most * (most + reach);
    return {std::min(found.second, second),
            std::min(found.third, second * (2 * most + reach) + most)};
}

// S(z) = sum_i exp(T_i(z)) near one point: an outcome's T, T' and a bound of |T''| on the disc.
struct Term {
    Complex value;
    Complex slope;
    double curvature;
};

class BoundaryWalk {
  public:
    BoundaryWalk(const Partition& partition, double shift, const IntervalStrip& strip,
                 const Ellipse& ellipse)
        : partition_(partition), k_(shift), ellipse_(ellipse) {
        const double lower = strip.lower(ellipse_.height + kMaxRadius), width = partition.width;
        const double variance = strip.central_variance();
        middle_second_ = lower > 0 ? variance / (lower * lower) : kInfinity;
        middle_third_ = std::min(2 * variance * width, 5.0) / (lower * lower * lower);
    }

    // sup |D_alpha| over the ellipse; infinity if S may vanish in it, or if the walk needs steps
    // that are too small or too many.
    double bound(double alpha) const {
        constexpr double kMinStep = 1e-3;
        double largest = 0, angle = 0, step = 0.1, phase = 0;
        int leader = kNone;
        std::vector<Term> terms;
        for (int steps = 0; angle < kPi; ++steps) {
            if (steps > kMaxSteps) return kInfinity;
            step = std::min({step, kPi - angle, 2 * kMaxRadius / ellipse_.width});
            const Complex z = point(angle + 0.5 * step), begin = point(angle);
            const double radius = 0.5 * step * ellipse_.width;
            const Arc arc = near(z, radius, alpha, terms);
            if (!(arc.error <= kMaxError)) {
                step *= 0.6;
                if (step < kMinStep) return kInfinity;
                continue;
            }
            if (arc.leader != leader) {
                if (angle > 0) {  // at angle 0 all phases are 0
                    phase +=
                        (leading(leader, begin, alpha) - leading(arc.leader, begin, alpha)).imag();
                }
                leader = arc.leader;
            }
            const double here = (arc.log + arc.slope * (begin - z)).imag();
            const double turns = std::round((phase - here) / (2 * kPi));
            const Complex log = arc.log + Complex(0, 2 * kPi * turns);
            angle = kPi - angle <= step ? kPi : angle + step;
            phase = (log + arc.slope * (point(angle) - z)).imag();
            largest = std::max(largest, std::abs(arc.leading.value + log) +
                                            std::abs(arc.leading.slope + arc.slope) * radius +
                                            0.5 * arc.leading.curvature * radius * radius -
                                            std::log1p(-arc.error));
            if (arc.error < 0.3) step *= 1.3;
        }
        // R is positive again: its phase is 2 pi times half the number of zeros.
        return std::fabs(phase) < 1 ? largest / (alpha - 1) : kInfinity;
    }

  private:
    static constexpr double kMaxRadius = 0.2;
    static constexpr double kMaxError = 0.5;
    static constexpr int kMaxSteps = 2000;
    static constexpr int kNone = 2;  // leaders 0 and 1 are the upper and the lower tail

    // S = exp(leading T) R, and |log R(z') - log - slope (z' - z)| <= -log(1 - error) on a disc
    // about z.
    struct Arc {
        int leader;
        Term leading;
        Complex log;
        Complex slope;
        double error;
    };

    Complex point(double angle) const {
        return {ellipse_.centre + ellipse_.width * std::cos(angle),
                ellipse_.height * std::sin(angle)};
    }

    Term tail_term(int which, Complex z, double radius, double alpha) const {
        const double side = which == 0 ? 1.0 : -1.0, beta = alpha - 1, shift = std::fabs(k_);
        const Complex p_at = partition_.edge - side * z, q_at = p_at - side * k_;
        const NormalTail p = normal_tail(p_at), q = normal_tail(q_at);
        const TailCurvature both = tail_curvature(p_at, p.hazard, radius, shift);
        const double apart = alpha * tail_curvature(p_at, p.hazard, radius, 0.0).second +
                             beta * tail_curvature(q_at, q.hazard, radius, 0.0).second;
        return {alpha * p.log - beta * q.log, side * (alpha * p.hazard - beta * q.hazard),
                std::min(apart, both.second + beta * shift * both.third)};
    }

    Complex leading(int leader, Complex z, double alpha) const {
        return leader == kNone ? 0.0 : tail_term(leader, z, 0.0, alpha).value;
    }

    // The density's outcomes together.
    Term density_term(Complex z, double alpha) const {
        const double beta = alpha - 1, width = partition_.width;
        const NormalInterval p = normal_interval(-0.5 * width - z + beta * k_, width);
        return {0.5 * alpha * beta * k_ * k_ + p.log, p.mean, 1 + middle_second_};
    }

    Term cell_term(Complex from_centre, double alpha) const {
        const double beta = alpha - 1, shift = std::fabs(k_), width = partition_.width;
        const Complex at = -0.5 * width - from_centre;
        const NormalInterval p = normal_interval(at, width), q = normal_interval(at - k_, width);
        const double apart = (alpha + beta) * middle_second_;
        return {alpha * p.log - beta * q.log, alpha * p.mean - beta * q.mean,
                1 + std::min(apart, middle_second_ + beta * shift * middle_third_)};
    }

    Arc near(Complex z, double radius, double alpha, std::vector<Term>& terms) const {
        const double reach = std::abs(z) + partition_.edge + std::fabs(k_);
        // Far above the error of any exp(T).
        double digits = 1e-12 + 1e-15 * reach * reach;
        if (partition_.cells > 0) digits += 1e-14 / partition_.width;
        const double rounding = 1e-6 + alpha * digits;
        terms.assign({tail_term(0, z, radius, alpha), tail_term(1, z, radius, alpha)});
        if (partition_.dense) terms.push_back(density_term(z, alpha));
        for (int i = 0; i < partition_.cells; ++i) {
            terms.push_back(cell_term(z - partition_.centre(i), alpha));
        }
        const auto lower = [](const Term& a, const Term& b) {
            return a.value.real() < b.value.real();
        };
        const auto greatest = std::max_element(terms.begin(), terms.end(), lower);
        const int leader = std::min(static_cast<int>(greatest - terms.begin()), kNone);
        const Term reference = leader == kNone ? Term{} : *greatest;
        Arc arc{leader, reference, 0, 0, 0};
        const double top = (greatest->value - reference.value).real();
        Complex sum = 0;
        for (Term& term : terms) {
            term.value -= reference.value + top;
            term.slope -= reference.slope;
            term.curvature += reference.curvature;
            sum += std::exp(term.value);
        }
        if (leader != kNone) terms[leader].curvature = 0;  // this term of R is 1
        const Complex log_sum = std::log(sum);
        for (Term& term : terms) {
            term.value -= log_sum;
            arc.slope += std::exp(term.value) * term.slope;
        }
        arc.log = log_sum + top;
        for (const Term& term : terms) {
            const double change =
                std::abs(term.slope - arc.slope) * radius + 0.5 * term.curvature * radius * radius;
            const double log_weight = term.value.real(), weight = std::exp(log_weight);
            // A weight of exp(-1e6) may well grow by a factor of exp(1e5).
            const double growth =
                change < 1 ? weight * std::expm1(change) : std::exp(log_weight + change);
            arc.error += growth * (1 + rounding) + weight * rounding;
        }
        return arc;
    }

    Partition partition_;
    double k_;
    Ellipse ellipse_;
    double middle_second_, middle_third_;  // bounds of |A''| and |A'''|
};

constexpr double kHeights[] = {2.3, 2.0, 1.7, 1.5, 1.3, 1.1, 0.9, 0.7, 0.5, 0.35};
constexpr double kUseless = 1e-4;  // an interpolation error

// What is asked about one of the intervals.
class Interval {
  public:
    Interval(const RenyiQuestion& question, std::size_t which, AnalyticBound* out)
        : q_(question), which_(which), out_(out) {}

    double t0() const { return q_.t0[which_]; }
    double t1() const { return q_.t1[which_]; }
    AnalyticBound& best(std::size_t order) const { return out_[order * q_.intervals + which_]; }
    double error(std::size_t order) const { return interpolation_error(best(order), q_.terms); }
    bool done(std::size_t order) const { return error(order) <= q_.enough[order]; }

    void truncated(const IntervalStrip& strip, const std::vector<Strip>& strips) const {
        const double steepest = 2 * q_.half_width * std::fabs(q_.shift);
        const double curved = 0.5 * q_.shift * q_.shift * strip.central_variance();
        for (std::size_t i = 0; i < q_.orders; ++i) {
            if (!(q_.alphas[i] >= 1)) continue;
            const double largest = q_.shift == 0 ? 0.0 : std::min(q_.alphas[i] * curved, steepest);
            best(i) = truncated_bound(strips, largest, t0(), t1(), q_.terms);
        }
    }

    void small_divergence(const Partition& partition, const IntervalStrip& strip) const {
        constexpr double kLowest = 0.25, kHighest = 2.3, kMargin = 1.2;
        // Errors at the height before, on the way down, and the lowest height without a bound.
        std::vector<double> before(q_.orders, kInfinity), failed(q_.orders, kInfinity);
        for (std::size_t i = 0; i < q_.orders; ++i) failed[i] = q_.alphas[i] >= 1 ? kInfinity : 0.0;
        const auto look = [&](double height, bool downwards) {
            const auto idle = [height](double limit) { return height >= limit; };
            if (std::all_of(failed.begin(), failed.end(), idle)) return;
            const Ellipse ellipse(t0(), t1(), height);
            const auto outcomes = ellipse_outcomes(partition, strip, q_.shift, ellipse);
            for (std::size_t i = 0; i < q_.orders; ++i) {
                if (idle(failed[i])) continue;
                const double bound = q_.alphas[i] < kInfinity
                                         ? small_divergence_bound(outcomes, q_.alphas[i])
                                         : max_divergence_bound(outcomes);
                if (!(bound < kInfinity)) failed[i] = height;
                keep_better(best(i), {ellipse.rho, bound}, q_.terms);
                const double here = interpolation_error({ellipse.rho, bound}, q_.terms);
                // Lower ellipses help while |S - 1| is near 1, no longer.
                if (done(i) || (downwards && here < kInfinity && here >= before[i])) failed[i] = 0;
                if (downwards) before[i] = here;
            }
        };
        look(kLowest, false);
        double needed = 0;
        for (std::size_t i = 0; i < q_.orders; ++i) {
            if (failed[i] > kLowest) needed = std::max(needed, height_for(i, best(i).bound));
        }
        look(std::clamp(kMargin * needed, kLowest, kHighest), false);
        for (const double height : kHeights) look(height, true);
    }

    // The walk knows |log S| only up to a constant of order 1, so it is of no use where Theorem B
    // gave a small bound already.
    void any_divergence(const Partition& partition, const IntervalStrip& strip,
                        std::size_t i) const {
        constexpr double kNegligible = 1e-13, kWalkConstant = 0.05;
        const double alpha = q_.alphas[i], beta = alpha - 1;
        if (!(alpha > 1 && alpha < kInfinity)) return;
        // The lowest ellipse that is likely to do, then lower ones.
        const double needed = height_for(i, 1 / beta + 0.5 * alpha * q_.shift * q_.shift);
        for (double height = std::clamp(needed, 0.2, 1.5); height > 0.15; height *= 0.75) {
            const Ellipse ellipse(t0(), t1(), height);
            // Whatever the walk finds is at least |D| on the interval.
            if (interpolation_error({ellipse.rho, 1.0}, q_.terms) > kUseless) return;
            const double now = error(i), constant = kWalkConstant / beta;
            if (done(i)) return;
            if (now < kInfinity && (now <= kNegligible * best(i).bound ||
                                    now <= interpolation_error({ellipse.rho, constant}, q_.terms)))
                return;
            const double bound = BoundaryWalk(partition, q_.shift, strip, ellipse).bound(alpha);
            keep_better(best(i), {ellipse.rho, bound}, q_.terms);
            if (bound < kInfinity) return;
        }
    }

  private:
    // The ellipse in which this bound would be good enough.
    double height_for(std::size_t order, double bound) const {
        const double error = std::min(q_.enough[order], kUseless);
        const double rho = std::pow(4 * bound / error, 1 / (q_.terms - 1));
        return 0.25 * (t1() - t0()) * (rho - 1 / rho);
    }

    const RenyiQuestion& q_;
    std::size_t which_;
    AnalyticBound* out_;
};

}  // namespace

double interpolation_error(const AnalyticBound& f, double terms) {
    if (!(f.bound < kInfinity)) return kInfinity;
    return 4 * f.bound * std::pow(f.rho, 1 - terms) / (f.rho - 1);
}

void renyi_analytic_bounds(const RenyiQuestion& question, AnalyticBound* out) {
    std::fill(out, out + question.orders * question.intervals, kNothing);
    const Partition partition(question.kind, question.half_width, question.levels);
    const IntervalStrip strip(0.5 * partition.width);
    const bool is_truncated = question.kind == BoundedGaussian::truncated;
    const std::vector<Strip> strips = is_truncated ? truncated_strips(strip) : std::vector<Strip>();
    const bool too_narrow = partition.width < 2e-4 && (partition.dense || partition.cells > 0);
    parallel_blocks(question.intervals, [&](std::size_t which) {
        const Interval interval(question, which, out);
        if (is_truncated) return interval.truncated(strip, strips);
        interval.small_divergence(partition, strip);
        if (too_narrow) return;
        for (std::size_t i = 0; i < question.orders; ++i) {
            interval.any_divergence(partition, strip, i);
        }
    });
}

AnalyticBound fisher_analytic_bound(BoundedGaussian kind, double half_width, int levels, double t0,
                                    double t1, double terms) {
    const Partition partition(kind, half_width, levels);
    const IntervalStrip strip(0.5 * partition.width);
    if (kind == BoundedGaussian::truncated) {
        return truncated_bound(truncated_strips(strip), strip.central_variance(), t0, t1, terms);
    }
    constexpr double kShift = 1e-6;  // any shift is sound, a small one tight
    AnalyticBound best = kNothing;
    for (const double height : kHeights) {
        const Ellipse ellipse(t0, t1, height);
        const auto outcomes = ellipse_outcomes(partition, strip, kShift, ellipse);
        keep_better(best, {ellipse.rho, fisher_bound(outcomes, kShift)}, terms);
    }
    return best;
}

}  // namespace tightnoise
