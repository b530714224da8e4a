// The hockey-stick divergence of a multi-Gaussian law, in units of its lattice.
//
// The line is cut into zones, each with positions counted from a node of its own. Far from the
// centre and from the ends f(x + 1) = e^(+-epsilon) f(x) to the last digit, so one period stands
// for all of them.

#include <algorithm>
#include <cmath>

#include "mechanisms/lattice_mass.hpp"
#include "mechanisms/multi_gaussian.hpp"
#include "mechanisms/positive_part.hpp"

namespace tightnoise {
namespace {

struct LatticePoint {
    double x;                 // less the zone's node
    double excess;            // G
    double m0, m1;            // m(x) less the node, m(x + shift) less the node of x + shift
    double log_top, top_sum;  // f(x + shift) = e^log_top top_sum
    // Unless the form is plain: with `near` = x, or x + 1 in Form::near_step,
    double m_near;       // m(near) less its node,
    double m_rise;       // m(x + shift) - m(near), each less its node,
    double ratio;        // log f(x + shift) - log f(near),
    double excess_near;  // log f(near) - log f(x), less the law's epsilon if near = x + 1.
};

// How G is computed so that it keeps its digits.
enum class Form {
    plain,      // the difference of two logarithms
    small,      // small shifts: in one sum
    near_step,  // shifts near the lattice's step: from the shift by a step, in which most cancels
};

// Bounds, proven in multi_gaussian_posterior.md, of what the law's m is: m(x) is the mean of k
// given x, and m'(x) = Var(k | x) / s^2.
struct PosteriorBounds {
    double slope;   // of m'
    double growth;  // of |(log m')'|

    explicit PosteriorBounds(double s) {
        const double square = s * s;
        if (square < 0.7213) {  // 1 / log 4 = 0.72134...
            slope = 0.76 / square;
            growth = 1.0 / square;
        } else {
            constexpr double kPiSquare = 9.8696044010893586;
            const double ripple = std::exp(-kPiSquare * square);
            slope = 1.0 + 4.0 * kPiSquare * square * ripple / (1.0 - 2.0 * ripple);
            growth = 1e300;  // none is known; finite, so that no step is no growth
        }
    }
};

class LatticePair {
  public:
    using Point = LatticePoint;

    // x = node0 + u, x + shift = node1 + (u + offset). Both in one flank if log_gain, the logarithm
    // of f(node1 + v) / f(node0 + v), is given, and then `form` is small.
    LatticePair(const MultiGaussianLaw& law, Form form, double node0, double node1, double offset,
                double epsilon, double log_gain)
        : lattice_(law.lattice()),
          form_(form),
          node0_(node0),
          node1_(node1),
          offset_(offset),
          epsilon_(epsilon),
          log_gain_(log_gain),
          log_normaliser_(law.log_total() + kLogSqrtTwoPi + std::log(lattice_.s())),
          log_total_(law.log_total()),
          rest_(form == Form::near_step ? epsilon - lattice_.epsilon() : epsilon),
          posterior_(lattice_.s()),
          tilt_(offset * lattice_.a()) {}

    Point at(double u, Side) const { return form_ == Form::plain ? plain(u) : near(u); }

    double slope(const Point& p) const {
        const double change = form_ == Form::plain ? p.m1 - p.m0 : (p.m_near - p.m0) + p.m_rise;
        return (change - offset_) * (2.0 * lattice_.a());
    }
    double top_score(const Point& p) const { return (p.m1 - p.x - offset_) * (2.0 * lattice_.a()); }
    double top(const Point& p) const { return std::exp(p.log_top) * p.top_sum; }
    double scale() const { return lattice_.s(); }
    double scale_between(double, double) const { return lattice_.s(); }
    double close() const { return 1e-7 * lattice_.s() * std::min(lattice_.s(), 1.0); }
    double bend() const { return lattice_.s() * std::min(lattice_.s(), 1.0); }

    ExcessBounds bounds(const Point& a, const Point& b) const {
        const double scale = 2.0 * lattice_.a();
        ExcessBounds r;
        r.slope = {(a.m1 - b.m0 - offset_) * scale, (b.m1 - a.m0 - offset_) * scale};
        if (form_ == Form::plain) {
            const double step = node1_ - node0_;
            r.value = ratio_range(a.m0, b.m0, step + a.m1, step + b.m1, a.x, b.x, step + offset_);
            r.value = {r.value.low - epsilon_, r.value.high - epsilon_};
            // log f(x + step) - log f(x) does not increase, as below: the rest of the shift adds
            // no more than this.
            const double rest = offset_ > 0.0 ? offset_ * (posterior_.slope - 1.0) : -offset_;
            r.slope.high = std::min(r.slope.high, rest * scale);
            return r;
        }
        // log f(near + offset) - log f(near), with near = x or x + 1.
        const double w = b.x - a.x;
        const Range rise = rise_range(std::fabs(a.m_rise), std::fabs(b.m_rise), w);
        const Range slope =
            offset_ > 0.0 ? Range{(rise.low - offset_) * scale, (rise.high - offset_) * scale}
                          : Range{(-rise.high - offset_) * scale, (-rise.low - offset_) * scale};
        const Range straight = range_between(a.ratio, b.ratio, w, slope);
        const Range rough = ratio_range(a.m_near, b.m_near, a.m1, b.m1, a.x, b.x, offset_);
        // log f(x + 1) - log f(x) does not increase: f(x + 1) / f(x) is a mean of the ratios
        // w_(k+1) / w_k under the posterior of k, which moves up with x.
        r.slope.high = std::min(r.slope.high, slope.high);
        if (form_ == Form::small) r.slope.low = std::max(r.slope.low, slope.low);
        r.value = {b.excess_near + std::max(straight.low, rough.low) - rest_,
                   a.excess_near + std::min(straight.high, rough.high) - rest_};
        return r;
    }

    double top_mass(double a, double b) const {
        return lattice_mass(lattice_, -log_total_, node1_, a + offset_, b + offset_);
    }
    double bottom_mass(double a, double b) const {
        return lattice_mass(lattice_, true_epsilon() - log_total_, node0_, a, b);
    }

  private:
    // In a flank G has an epsilon of its own.
    double true_epsilon() const { return epsilon_ + log_gain_; }

    // |m(x + offset) - m(x)| on an interval of width w from its values at both ends. They are exact
    // to 1e-15 of what a variance of 1 + s^2 makes.
    Range rise_range(double at_a, double at_b, double w) const {
        const double rounding = 1e-14 * std::fabs(offset_) * (1.0 + 2.0 * lattice_.a());
        const double factor = std::exp(0.5 * posterior_.growth * w);
        const double low = std::max(at_a - rounding, 0.0) * std::max(at_b - rounding, 0.0);
        const double high = (at_a + rounding) * (at_b + rounding);
        return {std::sqrt(low) / factor,
                std::min(std::fabs(offset_) * posterior_.slope, std::sqrt(high) * factor)};
    }

    // log f(x + shift) - log f(x) = integral_0^shift (m(x + t) - x - t) dt / s^2 for x in [a, b].
    Range ratio_range(double m_a, double m_b, double shifted_a, double shifted_b, double a,
                      double b, double shift) const {
        const double size = std::fabs(shift) * (2.0 * lattice_.a());
        if (shift >= 0.0) return {size * (m_a - b - shift), size * (shifted_b - a)};
        return {-size * (m_b - a - shift), -size * (shifted_a - b)};
    }

    Point plain(double u) const {
        const LatticeSum f0 = lattice_.sum(node0_, u);
        const LatticeSum f1 = lattice_.sum(node1_, u + offset_);
        const double weights = std::fabs(node0_ + f0.index) - std::fabs(node1_ + f1.index);
        const double apart = offset_ - (f1.index - f0.index);
        const double exponents =
            weights * lattice_.epsilon() - lattice_.a() * (apart * (f1.distance + f0.distance));
        Point p;
        p.x = u;
        p.excess = (exponents - epsilon_) + std::log(f1.sum / f0.sum);
        p.m0 = f0.mean;
        p.m1 = f1.mean;
        p.log_top = f1.exponent - log_normaliser_;
        p.top_sum = f1.sum;
        return p;
    }

    // With the terms T_j at the middle and z = sum T_j sinh(j tau) / sum T_j cosh(j tau),
    // log f(x + shift) - log f(x) = -2 tau d + log((1 + z) / (1 - z)).
    double pair_ratio(const LatticePairSum& f) const {
        const double z = f.odd / f.even;
        return std::log1p(2.0 * z / (1.0 - z)) - 2.0 * tilt_.tau * f.distance;
    }

    void set_shifted(Point& p, const LatticePairSum& f) const {
        const double sum = f.even + f.odd;
        p.m1 = f.index + (f.even_even + f.even_odd) / sum;
        p.m_rise = 2.0 * (f.even_odd * f.even - f.even_even * f.odd) / (sum * (f.even - f.odd));
        p.log_top = f.exponent - tilt_.tau * (f.distance + 0.25 * offset_) - log_normaliser_;
        p.top_sum = sum;
    }

    double mean_before(const LatticePairSum& f) const {
        return f.index + (f.even_even - f.even_odd) / (f.even - f.odd);
    }

    Point near(double u) const {
        const LatticePairSum f = lattice_.pair_sum(node1_, u + 0.5 * offset_, tilt_);
        Point p;
        p.x = u;
        p.m_near = mean_before(f);
        p.ratio = pair_ratio(f);
        set_shifted(p, f);
        if (form_ == Form::near_step) {
            set_step(p, f);
        } else {
            p.m0 = p.m_near;
            p.excess_near = 0.0;
        }
        p.excess = (p.excess_near + p.ratio) - rest_;
        return p;
    }

    // f(x + 1) - e^epsilon f(x) has coefficients e^epsilon w_k times
    //     1 (k = -K - 1, the weight continued), 0 (k < 0), e^(-2 epsilon) - 1 (0 <= k < K), -1 (K).
    void set_step(Point& p, const LatticePairSum& f) const {
        const double epsilon = lattice_.epsilon(), modes = lattice_.modes();
        const LatticeSum f0 = lattice_.sum(node0_, p.x);
        const double k = node0_ + f0.index;
        const double above = lattice_.log_ratio(k, f0.distance, -(modes + 1.0) - k);
        const double to_last = lattice_.log_ratio(k, f0.distance, modes - k);
        const double last = to_last > -50.0 ? std::exp(to_last) : 0.0;
        const double fold = -std::expm1(-2.0 * epsilon);
        const double below = (fold * std::max(f0.right - last, 0.0) + last) / f0.sum;
        const double change = above > 300.0 ? HUGE_VAL : std::exp(above) / f0.sum - below;
        p.m0 = f0.mean;
        if (change > -0.5 && change < 1.0) {
            p.excess_near = std::log1p(change);
        } else {
            const double apart = f0.index - f.index;
            const double d = f.distance - 0.5 * offset_;  // of x + 1
            p.excess_near = (std::fabs(k) - std::fabs(node1_ + f.index) - 1.0) * epsilon -
                            lattice_.a() * (apart * (d + f0.distance)) +
                            std::log((f.even - f.odd) / f0.sum);
        }
    }

    const Lattice& lattice_;
    Form form_;
    double node0_, node1_, offset_, epsilon_, log_gain_, log_normaliser_, log_total_, rest_;
    PosteriorBounds posterior_;
    Tilt tilt_;
};

// Shift and epsilon those of the lattice: f(x + 1) - e^epsilon f(x) = A(x) - B(x) with
//     A = w_K N(x; -K - 1),   B = sum_(0 <= k < K) 2 sinh(epsilon) w_k N(x; k) + e^epsilon w_K N(x;
//     K)
// as all other coefficients cancel, and log A - log B decreases: one root.
class StepPair {
  public:
    struct Point {
        double x, excess, log_top, log_slope;  // of log A - log B
    };

    explicit StepPair(const MultiGaussianLaw& law)
        : lattice_(law.lattice()),
          fold_(-std::expm1(-2.0 * lattice_.epsilon())),
          log_fold_(std::log(fold_)),
          log_total_(law.log_total()) {}

    Point at(double x, Side) const {
        const double a = lattice_.a(), epsilon = lattice_.epsilon(), last = lattice_.modes();
        // B over its first term but the factor 2 sinh(epsilon): falls with k, for x < 0.
        double sum = 0.0, first = 0.0;
        for (double k = 0.0; k <= last; k += 1.0) {
            double term = std::exp(-k * epsilon - a * k * (k - 2.0 * x));
            if (k == last) term /= fold_;
            sum += term;
            first += k * term;
            if (term <= 1e-19 * fold_ * sum) break;
        }
        const double outer = last + 1.0;
        const double log_b = epsilon + log_fold_ + std::log(sum);
        return {x, -(last * epsilon) - a * outer * (2.0 * x + outer) - log_b, log_top(x),
                -(outer + first / sum) * 2.0 * a};
    }

    double slope(const Point& p) const { return p.log_slope; }
    double top(const Point& p) const { return std::exp(p.log_top); }
    double top_score(const Point& p) const {
        return -2.0 * lattice_.a() * (p.x + lattice_.modes() + 1.0);
    }
    // An upper bound, for top of a normal density.
    double top_mass(double, double b) const {
        const double z = -(b + lattice_.modes() + 1.0) / lattice_.s();
        return scaled_upper_tail(-lattice_.modes() * lattice_.epsilon() - log_total_,
                                 std::max(z, 0.0));
    }
    double bend() const { return lattice_.s() * std::min(lattice_.s(), 1.0); }
    double scale_between(double, double) const { return lattice_.s(); }

    // log A - log B is concave: from the right, Newton's method stays there. B is at least its
    // first term, and at x = -1/2 A is the smaller one.
    Point root() const {
        const double a = lattice_.a(), outer = lattice_.modes() + 1.0;
        const double first = lattice_.modes() > 0.0 ? log_fold_ : 0.0;
        const double constant = outer * lattice_.epsilon() + first;
        Point p = at(std::min(-0.5, -0.5 * (constant / (a * outer) + outer)), Side::right);
        for (int i = 0; i < 100; ++i) {
            poll();  // many modes
            const double step = p.excess / p.log_slope;
            p = at(p.x - step, Side::right);
            if (!(std::fabs(step) > 1e-8 * lattice_.s())) break;
        }
        return p;
    }

    double delta(const Point& root) const {
        const double s = lattice_.s(), last = lattice_.modes(), epsilon = lattice_.epsilon();
        const double z = (root.x + last + 1.0) / s;
        const double log_last = -last * epsilon - log_total_;
        const double upper = scaled_upper_tail(z > 0.0 ? 0.0 : log_last, std::fabs(z));
        const double top = z > 0.0 ? std::exp(log_last) * (1.0 - upper) : upper;
        double bottom = 0.0;
        for (double k = 0.0; k <= last; k += 1.0) {
            const double log_weight = (1.0 - k) * epsilon - log_total_;
            const double term = scaled_upper_tail(log_weight, (k - root.x) / s);
            bottom += k == last ? term : fold_ * term;
            if (term <= 1e-19 * fold_ * bottom) break;
        }
        if (keeps_digits(top, top - bottom)) return top - bottom;
        return quadrature(*this, -last - 1.0 - kNormalEnd * s, root.x);
    }

  private:
    double log_top(double x) const {
        const double d = x + lattice_.modes() + 1.0;
        return -lattice_.modes() * lattice_.epsilon() - lattice_.a() * d * d - log_total_ -
               kLogSqrtTwoPi - std::log(lattice_.s());
    }

    const Lattice& lattice_;
    double fold_, log_fold_, log_total_;
};

// D at shift 1, epsilon that of the law.
PositivePart step_divergence(const MultiGaussianLaw& law) {
    const StepPair pair(law);
    const StepPair::Point root = pair.root();
    const LatticeSum f =
        law.lattice().sum(std::nearbyint(root.x) + 1.0, root.x - std::nearbyint(root.x));
    const double log_normaliser = law.log_total() + kLogSqrtTwoPi + std::log(law.lattice().s());
    return {pair.delta(root), std::exp(f.exponent - log_normaliser) * f.sum,
            pair.top(root) * pair.slope(root)};
}

// Shifts smaller than sigma are taken in one sum.
bool is_small_shift(const Lattice& lattice, double shift) {
    return std::fabs(shift) < lattice.s() && std::fabs(shift) * lattice.a() < 300.0;
}

class Sweep {
  public:
    Sweep(const MultiGaussianLaw& law, double shift, double epsilon)
        : law_(law),
          lattice_(law.lattice()),
          shift_(shift),
          epsilon_(epsilon),
          whole_(std::nearbyint(shift)),
          part_(shift - whole_),
          form_(form()) {}

    PositivePart run() {
        const double s = lattice_.s(), last = lattice_.modes();
        // Each component alone has G > 0 to the left of its own root, and G < 0 to the right.
        const double spread = epsilon_ * s * s / shift_ + 0.5 * shift_;
        const double tail = -last - shift_ - kNormalEnd * s;
        const double visible = last - shift_ + kNormalEnd * s;  // f(x + shift) ends there
        const double first_root = -last - spread - 0.013 * s;
        if (first_root >= visible) return {1.0, 0.0, 0.0};
        double high = std::min(last - spread + 0.017 * s, visible);
        if (!(tail < high)) return total_;
        if (right_half_is_empty()) high = std::min(high, 0.0);
        const double low = std::max(first_root, tail);

        // The flanks, between integers and a half.
        const double edge = std::ceil(kFar * s) + 0.5;
        const double centre = std::ceil(kFar * s + lattice_.pull()) + 0.5;
        const double left = edge - last;
        const double left_end = std::floor(std::min(-centre - shift_, high) + 0.5) - 0.5;
        const double right_end = std::floor(std::min(last - edge - shift_, high) + 0.5) - 0.5;
        tail_ = tail;
        double from = low;
        if (left_end - left >= 2.0) {
            zones(from, left);
            flank(left, left_end, 1.0);
            from = left_end;
        }
        if (right_end - centre >= 2.0) {
            zones(from, centre);
            flank(centre, right_end, -1.0);
            from = right_end;
        }
        zones(from, high);
        return total_;
    }

  private:
    // Components so many sigmas beyond the dominant one do not count.
    static constexpr double kFar = 9.0;

    Form form() const {
        const double s = lattice_.s();
        // With sigma so large the flanks, in which the step cancels, do not exist.
        const bool has_flanks = s < 10.0 || lattice_.modes() > 2.0 * kFar * s;
        if (whole_ == 1.0 && is_small_shift(lattice_, part_) && has_flanks) {
            return Form::near_step;
        }
        return is_small_shift(lattice_, shift_) ? Form::small : Form::plain;
    }

    // For 0 < shift <= 1 and x >= 0, by semiconvexity and f(x + 1) <= rho f(x),
    //     f(x + shift) <= e^(shift (1 - shift) / (2 s^2)) ((1 - shift) f(x) + shift f(x + 1)).
    // f(x + 1) / f(x) is a mean of w_(k+1) / w_k, which falls with k, under the posterior of k,
    // which moves up with x, and what enters from k = -K - 1 falls, too: rho = f(1) / f(0).
    bool right_half_is_empty() const {
        if (shift_ > 1.0) return false;
        const LatticeSum at_0 = lattice_.sum(0.0, 0.0), at_1 = lattice_.sum(1.0, 0.0);
        const double rho = std::exp(at_1.exponent - at_0.exponent) * at_1.sum / at_0.sum;
        const double log_bound =
            shift_ * (1.0 - shift_) * lattice_.a() + std::log1p(shift_ * (rho - 1.0));
        return log_bound < epsilon_ - 1e-13 * (1.0 + epsilon_);
    }

    // Zones end half way between two points of the lattice, and their node is in the middle.
    void zones(double from, double to) {
        const double length = 2.0 * std::ceil(4.0 * std::max(lattice_.s() - 0.125, 0.0)) + 1.0;
        while (from < to) {
            const double next = std::floor(from + 0.5) + (length - 0.5);
            const double node = next - 0.5 * length;
            const double end = std::min(to, next);
            const double step = form_ == Form::small ? 0.0 : whole_;
            const double offset = form_ == Form::small ? shift_ : part_;
            const LatticePair pair(law_, form_, node, node + step, offset, epsilon_, 0.0);
            add(total_, positive_part(pair, from - node, end - node, tail_ - node, sign_), 1.0);
            tail_ = end;
            from = end;
        }
    }

    // The periods from n - 1/2 to n + 1/2 that make up [from, to]; the law grows from each to the
    // next by e^(sign epsilon).
    void flank(double from, double to, double sign) {
        const double node = sign > 0.0 ? to - 0.5 : from + 0.5;
        const double gain = sign * whole_ * lattice_.epsilon();
        const bool is_small = is_small_shift(lattice_, part_);
        const LatticePair pair =
            is_small
                ? LatticePair(law_, Form::small, node, node + whole_, part_, epsilon_ - gain, gain)
                : LatticePair(law_, Form::plain, node, node + whole_, part_, epsilon_, 0.0);
        sign_ = Sign::unknown;
        add(total_, positive_part(pair, -0.5, 0.5, -0.5, sign_),
            geometric_sum(lattice_.epsilon(), 0.0, to - from - 1.0));
        sign_ = Sign::unknown;
        tail_ = to;
    }

    const MultiGaussianLaw& law_;
    const Lattice& lattice_;
    double shift_, epsilon_;
    double whole_, part_;  // of the shift
    Form form_;
    double tail_ = 0.0;  // where what is next begins
    Sign sign_ = Sign::unknown;
    PositivePart total_;
};

}  // namespace

bool has_known_signs(const MultiGaussianLaw& law, double shift, double epsilon) {
    const Lattice& lattice = law.lattice();
    const bool has_flanks = lattice.s() < 10.0 || lattice.modes() > 18.0 * lattice.s();
    return has_flanks && shift == law.sensitivity() && std::fabs(epsilon) == law.epsilon();
}

ShiftDivergence shift_divergence(const MultiGaussianLaw& law, double shift, double epsilon) {
    return shift_divergence_by(shift, epsilon, law.least_sigma(), [&](double by) {
        return part_in_units(has_known_signs(law, by, epsilon)
                                 ? step_divergence(law)
                                 : Sweep(law, by / law.sensitivity(), std::fabs(epsilon)).run(),
                             law.sensitivity());
    });
}

}  // namespace tightnoise
