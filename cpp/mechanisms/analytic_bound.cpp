#include "mechanisms/analytic_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "numeric/complex_normal.hpp"

namespace tightnoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
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

// |E exp(iy Z)| from below over all positions of the support [-h, h]. The variance and the mass
// decrease with the distance from the centre, so each slice of positions needs only its two ends.
class SupportStrip {
  public:
    explicit SupportStrip(double half_width) : h_(half_width) {
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

  private:
    struct Slice {
        double variance;  // at most
        double mass;      // at least
    };

    double mass(double x) const { return tail(-h_ - x) - tail(h_ - x); }

    double variance(double x) const {
        const double uniform = h_ * h_ / 3;  // at x = 0 the density falls away from the centre
        if (h_ < 0.3) return uniform;
        const double u = -h_ - x, v = h_ - x;
        const double mean = normal_interval(u, 2 * h_).mean.real();
        const double value = 1 + (u * density(u) - v * density(v)) / mass(x) - mean * mean;
        return std::min(uniform, value + 1e-12);
    }

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

// `largest`: a bound of the function on the real line, by which it is at most multiplied.
AnalyticBound truncated_bound(const SupportStrip& strip, double largest, double t0, double t1,
                              double terms) {
    AnalyticBound best = kNothing;
    for (double scale = 0.2; scale < 1.45; scale += 0.05) {
        const Ellipse ellipse(t0, t1, scale * std::sqrt(2 / strip.central_variance()));
        const double lower = strip.lower(ellipse.height);
        if (lower > 0) keep_better(best, {ellipse.rho, largest / (lower * lower)}, terms);
    }
    return best;
}

// --- Theorem B: two tails and a density, small divergence ----------------------------------------

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

// Outcomes of slice [x0, x1] x [-y, y] of the complex plane.
void add_outcomes(BoundedGaussian kind, double h, double k, double x0, double x1, double y,
                  std::vector<Outcome>& out) {
    const double growth = std::exp(0.5 * y * y);
    const double edge = kind == BoundedGaussian::sign ? 0.0 : h;
    for (const double side : {1.0, -1.0}) {  // upper tail: t = edge - z; lower tail: t = edge + z
        const double nearest = edge - std::max(side * x0, side * x1);
        const double t0 = edge - std::max(side * x0, side * x1) - std::max(side * k, 0.0);
        const double t1 = edge - std::min(side * x0, side * x1) - std::min(side * k, 0.0);
        const double lower = characteristic_lower(y, tail_variance(t0), tail(t1));
        const double hazard = normal_tail(t1).hazard.real();
        out.push_back(
            {growth * tail(nearest), lower > 0 ? std::fabs(k) * hazard / lower : kInfinity});
    }
    if (kind == BoundedGaussian::sign) return;
    const int pieces = 16 * static_cast<int>(std::min(8.0, std::ceil(0.5 * h)));
    const double width = 2 * h / pieces;
    for (int i = 0; i < pieces; ++i) {
        const double s0 = -h + i * width, s1 = s0 + width;
        const double nearest = std::max({0.0, s0 - x1, x0 - s1});
        const double farthest = std::max(s1 - x0, x1 - s0);
        out.push_back({growth * width * density(nearest),
                       std::fabs(k) * std::hypot(farthest + 0.5 * std::fabs(k), y)});
    }
}

// The outcomes of every slice of an ellipse, slice by slice.
std::vector<Outcome> ellipse_outcomes(BoundedGaussian kind, double h, double k,
                                      const Ellipse& ellipse) {
    std::vector<Outcome> out;
    for (int i = 0; i < kSlices; ++i) {
        const double a = 2.0 * i / kSlices - 1, b = 2.0 * (i + 1) / kSlices - 1;
        const double inner = a < 0 && b > 0 ? 0.0 : std::min(std::fabs(a), std::fabs(b));
        add_outcomes(kind, h, k, ellipse.centre + a * ellipse.width,
                     ellipse.centre + b * ellipse.width,
                     ellipse.height * std::sqrt(1 - inner * inner), out);
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

// --- Theorem C: two tails and a density, walk around the ellipse ---------------------------------

// Bounds of |(log Q)''| and of its derivative on a disc.
struct TailCurvature {
    double second;
    double third;
};

// On the disc of this radius about t: lambda' = lambda (lambda - t) for the hazard lambda, so that
// |lambda| is at most the solution of m' = m (m + |t| + radius). Infinity where that blows up.
TailCurvature tail_curvature(Complex t, Complex hazard, double radius) {
    const double reach = std::abs(t) + radius, growth = std::exp(reach * radius);
    const double at_centre = std::abs(hazard) * growth;
    if (!(at_centre * radius < 1)) return {kInfinity, kInfinity};
    const double most = at_centre / (1 - at_centre * radius), second = most * (most + reach);
    return {second, second * (2 * most + reach) + most};
}

// S(z) = sum_i exp(T_i(z)) near one point: an outcome's T, T' and a bound of |T''| on the disc.
struct Term {
    Complex value;
    Complex slope;
    double curvature;
};

class BoundaryWalk {
  public:
    BoundaryWalk(BoundedGaussian kind, double half_width, double shift, const SupportStrip& strip,
                 const Ellipse& ellipse)
        : edge_(kind == BoundedGaussian::sign ? 0.0 : half_width),
          width_(kind == BoundedGaussian::sign ? 0.0 : 2 * half_width),
          k_(shift),
          ellipse_(ellipse) {
        const double lower = strip.lower(ellipse_.height + kMaxRadius);
        middle_curvature_ = lower > 0 ? 1 + strip.central_variance() / (lower * lower) : kInfinity;
    }

    // sup |D_alpha| over the ellipse; infinity if S may vanish in it, or if the walk needs steps
    // that are too small or too many.
    double bound(double alpha) const {
        constexpr double kMinStep = 1e-3;
        double largest = 0, angle = 0, step = 0.1, phase = 0;
        int leader = kNone;
        for (int steps = 0; angle < kPi; ++steps) {
            if (steps > kMaxSteps) return kInfinity;
            step = std::min({step, kPi - angle, 2 * kMaxRadius / ellipse_.width});
            const Complex z = point(angle + 0.5 * step), begin = point(angle);
            const double radius = 0.5 * step * ellipse_.width;
            const Arc arc = near(z, radius, alpha);
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
    static constexpr double kMaxRadius = 0.08;
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
        const Complex p_at = edge_ - side * z, q_at = p_at - side * k_;
        const NormalTail p = normal_tail(p_at), q = normal_tail(q_at);
        const TailCurvature both = tail_curvature(p_at, p.hazard, radius + shift);
        const double apart = alpha * tail_curvature(p_at, p.hazard, radius).second +
                             beta * tail_curvature(q_at, q.hazard, radius).second;
        return {alpha * p.log - beta * q.log, side * (alpha * p.hazard - beta * q.hazard),
                std::min(apart, both.second + beta * shift * both.third)};
    }

    Complex leading(int leader, Complex z, double alpha) const {
        return leader == kNone ? 0.0 : tail_term(leader, z, 0.0, alpha).value;
    }

    Arc near(Complex z, double radius, double alpha) const {
        const double beta = alpha - 1, reach = std::abs(z) + edge_ + std::fabs(k_);
        // Far above the error of any exp(T).
        const double rounding = 1e-6 + alpha * (1e-12 + 1e-15 * reach * reach);
        Term terms[3] = {tail_term(0, z, radius, alpha), tail_term(1, z, radius, alpha), {}};
        int count = 2;
        if (width_ > 0) {
            const NormalInterval middle = normal_interval(-edge_ - z + beta * k_, width_);
            terms[count++] = {0.5 * alpha * beta * k_ * k_ + middle.log, middle.mean,
                              middle_curvature_};
        }
        int leader = 0;
        for (int i = 1; i < count; ++i) {
            if (terms[i].value.real() > terms[leader].value.real()) leader = i;
        }
        const Term reference = leader == kNone ? Term{} : terms[leader];
        Arc arc{leader, reference, 0, 0, 0};
        const double top = (terms[leader].value - reference.value).real();
        Complex weight[3], sum = 0;
        for (int i = 0; i < count; ++i) {
            weight[i] = std::exp(terms[i].value - reference.value - top);
            sum += weight[i];
        }
        arc.log = std::log(sum) + top;
        for (int i = 0; i < count; ++i) {
            weight[i] /= sum;
            arc.slope += weight[i] * (terms[i].slope - reference.slope);
        }
        for (int i = 0; i < count; ++i) {
            const bool constant = i == leader && leader != kNone;  // this term of R is 1
            const double curvature = constant ? 0.0 : terms[i].curvature + reference.curvature;
            const double change = std::abs(terms[i].slope - reference.slope - arc.slope) * radius +
                                  0.5 * curvature * radius * radius;
            arc.error += std::abs(weight[i]) * (std::expm1(change) + rounding);
        }
        return arc;
    }

    double edge_, width_, k_;
    Ellipse ellipse_;
    double middle_curvature_;
};

constexpr double kHeights[] = {2.3, 2.0, 1.7, 1.5, 1.3, 1.1, 0.9, 0.7, 0.5, 0.35, 0.25};
constexpr double kWalkHeights[] = {1.5, 1.1, 0.8, 0.55, 0.4, 0.3, 0.2};

}  // namespace

double interpolation_error(const AnalyticBound& f, double terms) {
    if (!(f.bound < kInfinity)) return kInfinity;
    return 4 * f.bound * std::pow(f.rho, 1 - terms) / (f.rho - 1);
}

void renyi_analytic_bounds(BoundedGaussian kind, double half_width, double shift,
                           const double* alphas, std::size_t count, double t0, double t1,
                           double terms, AnalyticBound* out) {
    std::fill(out, out + count, kNothing);
    std::vector<char> done(count, 0);
    for (std::size_t i = 0; i < count; ++i) done[i] = !(alphas[i] >= 1);
    const SupportStrip strip(kind == BoundedGaussian::sign ? 1.0 : half_width);
    if (kind == BoundedGaussian::truncated) {
        const double steepest = 2 * half_width * std::fabs(shift);
        const double curved = 0.5 * shift * shift * strip.central_variance();
        for (std::size_t i = 0; i < count; ++i) {
            if (done[i]) continue;
            const double largest = shift == 0 ? 0.0 : std::min(alphas[i] * curved, steepest);
            out[i] = truncated_bound(strip, largest, t0, t1, terms);
        }
        return;
    }

    for (const double height : kHeights) {
        const Ellipse ellipse(t0, t1, height);
        const auto outcomes = ellipse_outcomes(kind, half_width, shift, ellipse);
        for (std::size_t i = 0; i < count; ++i) {
            if (done[i]) continue;
            const double before = interpolation_error(out[i], terms);
            const double bound = alphas[i] < kInfinity ? small_divergence_bound(outcomes, alphas[i])
                                                       : max_divergence_bound(outcomes);
            keep_better(out[i], {ellipse.rho, bound}, terms);
            // Lower ellipses help while |S - 1| is near 1, no longer.
            done[i] = before < kInfinity && interpolation_error(out[i], terms) >= before;
        }
    }
    // The walk knows |log S| only up to a constant of order 1, so it is of no use where Theorem B
    // gave a small bound already.
    constexpr double kNegligible = 1e-13, kWalkConstant = 0.05;
    const bool too_narrow = kind == BoundedGaussian::rectified && half_width < 1e-4;
    for (std::size_t i = 0; i < count; ++i) {
        done[i] = too_narrow || !(alphas[i] > 1 && alphas[i] < kInfinity);
    }
    for (const double height : kWalkHeights) {
        const Ellipse ellipse(t0, t1, height);
        const BoundaryWalk walk(kind, half_width, shift, strip, ellipse);
        for (std::size_t i = 0; i < count; ++i) {
            if (done[i]) continue;
            const double now = interpolation_error(out[i], terms);
            const AnalyticBound hoped{ellipse.rho, kWalkConstant / (alphas[i] - 1)};
            done[i] = now < kInfinity && (now <= kNegligible * out[i].bound ||
                                          now <= interpolation_error(hoped, terms));
            if (done[i]) continue;
            const double bound = walk.bound(alphas[i]);
            keep_better(out[i], {ellipse.rho, bound}, terms);
            done[i] = bound < kInfinity;
        }
    }
}

AnalyticBound fisher_analytic_bound(BoundedGaussian kind, double half_width, double t0, double t1,
                                    double terms) {
    if (kind == BoundedGaussian::truncated) {
        const SupportStrip strip(half_width);
        return truncated_bound(strip, strip.central_variance(), t0, t1, terms);
    }
    constexpr double kShift = 1e-6;  // any shift is sound, a small one tight
    AnalyticBound best = kNothing;
    for (const double height : kHeights) {
        const Ellipse ellipse(t0, t1, height);
        const auto outcomes = ellipse_outcomes(kind, half_width, kShift, ellipse);
        keep_better(best, {ellipse.rho, fisher_bound(outcomes, kShift)}, terms);
    }
    return best;
}

}  // namespace tightnoise
