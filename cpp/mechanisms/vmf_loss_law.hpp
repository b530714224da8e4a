// The privacy loss of two von Mises-Fisher distributions P and Q of one concentration kappa on the
// sphere of R^p, whose mean directions x and x' are 2 s apart (s = sin(angle / 2), the half chord).
// Kernel-side header: internal linkage.
//
// With u = (x - x') / |x - x'| and h = kappa s, the loss of an output y is l = 2 h t, t = y . u.
// With t = tanh v, m = p - 1 and c = sqrt(1 - s^2), the density of v under P is proportional to
//
//     e^(h tanh v) sech(v)^m A(kappa c sech v),
//
// A(z) = E[e^(z w_1)], w uniform on the unit sphere of R^m; under Q it is that of -v, and e^-l
// times that under P. (Given t, the part of y orthogonal to u has length sqrt(1 - t^2) = sech v,
// and its direction enters through its product with (x + x') / 2, which has length c.)
//
// The law in d = v - v*, where v* is the mode. v, and not t, because t crowds at 1 as soon as
// kappa >> p, and because the density in v falls like e^(-m |v|) and has no end points. All of
// E = e^(-2 d), of which e = E - 1 keeps the digits of a small d: with T = tanh v*, U = 1 - T,
//
//     D = 2 + U e,   q = cosh v / cosh v* = D / (2 sqrt(E)),   S = -e / D,
//     tanh v - T = S sech(v*)^2,   1 - tanh v = 2 U E / D,
//     (1 / q)^2 - 1 = e (4 T - U^2 e) / D^2.
//
// The exponent f(d), the log density less that at the mode. With h sech(v*)^2 = M T (the condition
// for a mode: M = m + z A'(z) / A(z) at z = z*),
//
//     f = M (T S - log q) + (log A(z* / q) - log A(z*) + (M - m) log q).
//
// For q = cosh d (1 + T tanh d) and T S = y / (1 + y), y = T tanh d, the first part is
//
//     -M (R(-T S) + log cosh d),   R(x) = x - log(1 + x) >= 0,
//
// where nothing cancels. The second is of second order in log q, positive, and at most 2/3 of the
// first. Where A has settled into Debye's expansion (numeric/bessel.hpp), with H = hypot(n, z),
// n = m / 2 - 1 and r the rise of H from z* to z* / q, its leading part is
//
//     (H* - n) / 2 R(r / (H* - n)) + (H* + n) / 2 R(r / (H* + n))
//
// (log q = -log(z^2 / z*^2) / 2, and z^2 = (H - n)(H + n)), where nothing cancels either; the rest
// is of the size of log q. For p = 2, A(z) = cosh z and the same holds with n = 0. Where A has not
// settled, its terms are small or f is of their size.
//
// T is rounded, so what is left of the conditions, h sech(v*)^2 - M T and the like, is computed
// once in double-double arithmetic and enters as a multiple of S and of log q: f belongs to kappa
// and s as they are, whatever T is.
//
// Ranges: finite kappa with 1e-300 <= kappa s, kappa <= 1e100, dim from 2 to 2^53, 0 < s <= 1,
// |d| <= 300. Error of f: 1e-14 (1 + |f|).
//
// A tilt stays in the family: the density proportional to e^(a l) times that of P is the law of
// concentration kappa' = kappa hypot(c, (1 + 2 a) s) and half chord (1 + 2 a) h / kappa', for
// a > -1/2 (mirrored for a < -1/2). Its mode is that of VmfLossLaw(kappa', p, s').
#pragma once

#include <cmath>

#include "numeric/bessel.hpp"
#include "numeric/double_double.hpp"
#include "numeric/log1p_remainder.hpp"

namespace tightnoise {
namespace {

// tanh v and 1 - tanh v, the smaller one exact as a double.
struct TanhPair {
    DoubleDouble t, one_minus_t;
};

// The v >= 0 with h sech(v)^2 = M tanh(v): tanh v = 2 h / (M + hypot(M, 2 h)), and with
// b = M / (2 h + hypot(M, 2 h)), 1 - tanh v = 2 b / (1 + b).
inline TanhPair stationary_tanh(double h, double M) {
    const double half = 0.5 * M;
    const bool is_flat = h < half;
    const double q = is_flat ? h / half : half / h;  // its square cannot overflow
    const double root = std::sqrt(1.0 + q * q);
    const double t = is_flat ? q / (1.0 + root) : 1.0 / (q + root);
    if (t < 0.5) return {{t, 0.0}, two_sum(1.0, -t)};
    const double b = is_flat ? 1.0 / (q + root) : q / (1.0 + root);
    const double u = 2.0 * b / (1.0 + b);
    return {two_sum(1.0, -u), {u, 0.0}};
}

// E = e^(-2 d) and e = E - 1, both with all their digits.
struct Decay {
    double e, E;

    explicit Decay(double d) {
        const double rise = expm1(2.0 * std::fabs(d));
        const double power = 1.0 + rise;
        E = d > 0.0 ? 1.0 / power : power;
        e = d > 0.0 ? -rise / power : rise;
    }
};

class VmfLossLaw {
  public:
    VmfLossLaw(double kappa, double dim, double half_chord)
        : m_(dim - 1.0),
          order_(dim > 3.0 ? 0.5 * (dim - 3.0) : 0.0),
          h_(two_product(kappa, half_chord)) {
        const DoubleDouble cosine_square = -two_product(half_chord, half_chord) + 1.0;
        const DoubleDouble z_square = two_product(kappa, kappa) * cosine_square;
        const double pull = solve_mode(dim, std::sqrt(z_square.hi));
        const DoubleDouble sech_square = mode_.one_minus_t * (mode_.t + 1.0);
        T_ = mode_.t.hi;
        U_ = mode_.one_minus_t.hi;
        M_ = m_ + pull;
        const DoubleDouble square = z_square * sech_square;
        z_square_ = square.hi;
        along_S_ = rounded(h_ * sech_square - mode_.t * M_);
        double slope = 0.0;  // what the parts of A have in log q, together
        if (!(z_square_ > 0.0)) {
            kind_ = Kind::kAntipodal;
        } else if (dim == 2.0 || order_ >= kDebyeOrder || z_square_ >= kSettledSquare) {
            kind_ = dim == 2.0 ? Kind::kCircle : Kind::kExpansion;
            const DoubleDouble hypotenuse = square_root(square + two_product(order_, order_));
            H_ = hypotenuse.hi;
            slope = rounded(hypotenuse + -order_ + m_ + -M_);
            rest_ = rest(H_);
        } else {
            kind_ = Kind::kRecurrence;
            slope = m_ - M_;
        }
        along_log_q_ = -slope;
    }

    // log density of v* + d, less that of v*: never above a rounding error. -inf is never reached.
    double exponent(double d) const {
        const auto [e, E] = Decay(d);
        const double D = 2.0 + U_ * e;
        const double S = -e / D;
        const double log_cosh = 0.5 * log1p(0.25 * e * (e / E));
        double f = S * along_S_ - M_ * (log1p_remainder(-T_ * S, (2.0 + e) / D) + log_cosh);
        if (kind_ != Kind::kAntipodal) {
            const double w = e / D * ((4.0 * T_ - U_ * U_ * e) / D);  // q^-2 - 1
            const double one_plus_w = 4.0 * (E / D) / D;
            const double log_q = -0.5 * (w > -0.5 ? log1p(w) : log(one_plus_w));
            f += log_q * along_log_q_ + sphere_part(w, one_plus_w);
        }
        return f;
    }

    // The loss 2 h tanh v of v* + d, and what it is short of 2 h, which keeps its digits.
    double loss(double d) const {
        const double e = Decay(d).e;
        return 2.0 * h_.hi * ((2.0 * T_ - U_ * e) / (2.0 + U_ * e));
    }
    double loss_shortfall(double d) const {
        const auto [e, E] = Decay(d);
        return 4.0 * h_.hi * U_ * (E / (2.0 + U_ * e));
    }
    // loss(d + rise) - loss(d), without cancellation.
    double loss_rise(double d, double rise) const {
        const auto [e, E] = Decay(d);
        const double fall = expm1(-2.0 * rise);
        const double D = 2.0 + U_ * e;
        const double D_there = D + U_ * E * fall;
        return -4.0 * h_.hi * U_ * (1.0 + T_) * (E / D) * (fall / D_there);
    }

    // 2 h - l, to 30 digits: the loss is below l everywhere where this is 0 or less.
    DoubleDouble shortfall(double l) const { return two_sum(2.0 * h_.hi, -l) + 2.0 * h_.lo; }
    // The d where the loss is l, |l| < 2 h: E = ((2 h - l) / (2 h + l)) ((1 + T) / U), and
    // E - 1 = 2 (2 h T - l) / ((2 h + l) U).
    double offset_of_loss(double l) const {
        const double below = shortfall(l).hi;
        const double above = shortfall(-l).hi;
        const DoubleDouble difference = h_ * mode_.t * 2.0 + -l;
        const double e = 2.0 * difference.hi / above / U_;
        return -0.5 * (e > -0.5 ? log1p(e) : log(below / above * ((1.0 + T_) / U_)));
    }

    const TanhPair& tanh_mode() const { return mode_; }         // of v*
    double mode() const { return 0.5 * log1p(2.0 * T_ / U_); }  // v*; under Q it is -v*
    double greatest_loss() const { return 2.0 * h_.hi; }
    double scale() const { return 1.0 / std::sqrt(M_); }  // of d: where f falls by 1, or farther

  private:
    enum class Kind { kAntipodal, kCircle, kRecurrence, kExpansion };

    // From here on f is below -900 wherever z* / q is below kDebyeArgument.
    static constexpr double kSettledSquare = 2500.0 * 2500.0;

    // z A'(z) / A(z).
    double growth(double dim, double z) const {
        if (dim > 2.0) return z * iv_ratio(order_, z);
        const double e = expm1(-2.0 * z);
        return z * (-e / (2.0 + e));
    }

    // Finds the mode and returns z A'(z) / A(z) there, by Newton's method for M = m + z A' / A.
    // d log z / d log M = T^2 / (1 + T^2), so that the slope is below 1: G = d (z A' / A) / d log z
    // is positive, and below 2 z A' / A as well as z^2 - g^2 - 2 n g.
    double solve_mode(double dim, double z_of_cosine) {
        double M = m_ + growth(dim, z_of_cosine);
        double pull = 0.0;
        for (int i = 0; i < 12; ++i) {
            mode_ = stationary_tanh(h_.hi, M);
            const double t = mode_.t.hi;
            const double z = z_of_cosine * std::sqrt(mode_.one_minus_t.hi * (1.0 + t));
            pull = growth(dim, z);
            const double lead = dim > 2.0 ? order_ : 0.0;
            const double H = hypotenuse(lead, z);
            const double growth_slope = z > 0.0 ? z * (z / H) : 0.0;
            const double change =
                (m_ + pull - M) / (1.0 - growth_slope / M * (t * t / (1.0 + t * t)));
            M = M + change > m_ ? M + change : m_;
            if (std::fabs(change) <= 1e-10 * M) break;
        }
        return pull;
    }

    // log A(z) less the leading part of Debye's expansion, but for a constant; H = hypot(n, z).
    double rest(double H) const {
        if (kind_ == Kind::kCircle) return log1p(exp(-2.0 * H));
        const double v = 1.0 / H;
        const double t = order_ * v;
        return debye_sum(kDebye, t * t, v) - 0.5 * log(H / H_);
    }

    // log A(z* / q) - log A(z*), but for what is a multiple of log q; w = q^-2 - 1.
    double sphere_part(double w, double one_plus_w) const {
        if (kind_ == Kind::kRecurrence) {
            const double z = std::sqrt(z_square_);
            return log_sphere_mean_rise(order_, z, z * z * (w > -1.0 ? w : -1.0));
        }
        const double n = order_;
        const double H = std::sqrt(n * n + z_square_ * one_plus_w);
        const double upper = H_ + n;
        const double lower = z_square_ / upper;  // H* - n
        const double x = w * (upper / (H_ + H));
        const double y = lower / upper * x;
        const double one_plus_x = one_plus_w * (upper / (H + n));
        return 0.5 * (lower * log1p_remainder(x, one_plus_x) +
                      upper * log1p_remainder(y, (H + n) / upper)) +
               (rest(H) - rest_);
    }

    double m_;      // p - 1
    double order_;  // n; 0 for p = 2
    DoubleDouble h_;
    TanhPair mode_;
    double T_ = 0.0, U_ = 0.0, M_ = 0.0;
    double along_S_ = 0.0, along_log_q_ = 0.0;
    double z_square_ = 0.0, H_ = 0.0, rest_ = 0.0;  // at the mode
    Kind kind_ = Kind::kAntipodal;
};

}  // namespace
}  // namespace tightnoise
