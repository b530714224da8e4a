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
// |d| <= 300. Error of f: 1e-14 (1 + |f|) where f > -900; elsewhere
// only f < -800 is sure.
//
// A tilt stays in the family: the density proportional to e^(a l) times that of P is the law of
// concentration kappa' = kappa hypot(c, (1 + 2 a) s) and half chord (1 + 2 a) h / kappa', for
// a > -1/2 (mirrored for a < -1/2). Its mode is that of VmfLossLaw(kappa', p, s').
#pragma once

#include <cmath>

#include "mechanisms/vmf_loss_exponent.hpp"
#include "mechanisms/vmf_loss_kernels.hpp"
#include "mechanisms/vmf_stationary.hpp"
#include "numeric/bessel.hpp"
#include "numeric/double_double.hpp"

namespace tightnoise {
namespace {

// tanh v and 1 - tanh v, the smaller one exact as a double.
struct TanhPair {
    DoubleDouble t, one_minus_t;
};

// Of the v >= 0 with h sech(v)^2 = M tanh(v).
inline TanhPair stationary_tanh(double h, double M) {
    const Stationary at = stationary(h, M);
    if (at.x < 0.5) return {{at.x, 0.0}, two_sum(1.0, -at.x)};
    return {two_sum(1.0, -at.one_minus_x), {at.one_minus_x, 0.0}};
}

class VmfLossLaw {
  public:
    VmfLossLaw(double kappa, double dim, double half_chord)
        : m_(dim - 1.0), h_(two_product(kappa, half_chord)) {
        const DoubleDouble cosine_square = -two_product(half_chord, half_chord) + 1.0;
        const DoubleDouble z_square = two_product(kappa, kappa) * cosine_square;
        shape_.order = dim > 3.0 ? 0.5 * (dim - 3.0) : 0.0;
        shape_.M = m_ + solve_mode(dim, std::sqrt(z_square.hi));
        shape_.T = mode_.t.hi;
        shape_.U = mode_.one_minus_t.hi;
        const DoubleDouble sech_square = mode_.one_minus_t * (mode_.t + 1.0);
        const DoubleDouble square = z_square * sech_square;
        shape_.z_square = square.hi;
        shape_.along_S = rounded(h_ * sech_square - mode_.t * shape_.M);
        if (!(square.hi > kNegligibleSquare)) return;
        if (dim > 2.0 && shape_.order < kDebyeOrder && square.hi < kSettledSquare) {
            shape_.sphere = VmfSphere::kRecurrence;
            shape_.along_log_q = shape_.M - m_;
            return;
        }
        const DoubleDouble H = square_root(square + two_product(shape_.order, shape_.order));
        shape_.H = H.hi;
        shape_.along_log_q = -rounded(H + -shape_.order + m_ + -shape_.M);
        if (dim > 2.0) {
            shape_.sphere = VmfSphere::kExpansion;
            shape_.rest = sphere_rest<VmfSphere::kExpansion>(shape_.order, H.hi);
        } else {
            shape_.sphere = VmfSphere::kCircle;
            shape_.rest = sphere_rest<VmfSphere::kCircle>(shape_.order, H.hi);
        }
    }

    // log density of v* + d, less that of v*: never above a rounding error.
    double exponent(double d) const {
        double f;
        vmf_loss_kernels().exponents(shape_, &d, 1, &f);
        return f;
    }
    const VmfLossShape& shape() const { return shape_; }  // for vmf_loss_kernels(): many at once
    // Whether it is sure only where it is above -900: Debye's expansion has settled at the mode,
    // and has not where z is below kDebyeArgument.
    bool is_sure_near_mode_only() const {
        return shape_.sphere == VmfSphere::kExpansion && shape_.order < kDebyeOrder;
    }

    // The loss 2 h tanh v of v* + d.
    double loss(double d) const {
        const double e = decay(d).e;
        return 2.0 * h_.hi * ((2.0 * shape_.T - shape_.U * e) / (2.0 + shape_.U * e));
    }
    // How the loss rises from there on, without cancellation where v >= 0.
    VmfLossRise loss_rise_from(double d) const {
        const auto [e, E] = decay(d);
        const double D = 2.0 + shape_.U * e;
        return {4.0 * h_.hi * shape_.U * (1.0 + shape_.T) * (E / D), D, shape_.U * E, 0.0};
    }

    // 2 h - l, to 30 digits: the loss is below l everywhere where this is 0 or less.
    DoubleDouble shortfall(double l) const { return two_sum(2.0 * h_.hi, -l) + 2.0 * h_.lo; }
    // The d where the loss is l, |l| < 2 h: E = ((2 h - l) / (2 h + l)) ((1 + T) / U), and
    // E - 1 = 2 (2 h T - l) / ((2 h + l) U).
    double offset_of_loss(double l) const {
        const double below = shortfall(l).hi;
        const double above = shortfall(-l).hi;
        const DoubleDouble difference = h_ * mode_.t * 2.0 + -l;
        const double e = 2.0 * difference.hi / above / shape_.U;
        return -0.5 * (e > -0.5 ? log1p(e) : log(below / above * ((1.0 + shape_.T) / shape_.U)));
    }

    double mode() const { return 0.5 * log1p(2.0 * shape_.T / shape_.U); }  // v*; under Q it is -v*
    // Beyond this |v| the exponent is a smooth function of e^(-2 |v|): tanh has its poles at the
    // zeros of cosh, and log A its singularities at imaginary z with |z| > max(n, 3/2), where v is
    // this and less + i pi / 2.
    double last_singularity() const {
        const double n = shape_.order > 1.5 ? shape_.order : 1.5;
        return std::asinh(std::sqrt(shape_.z_square) * std::cosh(mode()) / n);
    }
    double greatest_loss() const { return 2.0 * h_.hi; }
    double scale() const {
        return 1.0 / std::sqrt(shape_.M);
    }  // of d: where f falls by 1, or farther

  private:
    // log A(z) <= z^2 / 2: nothing.
    static constexpr double kNegligibleSquare = 1e-40;
    // From here on f is below -900 where z* / q is below kDebyeArgument.
    static constexpr double kSettledSquare = 2500.0 * 2500.0;

    // z A'(z) / A(z).
    double growth(double dim, double z) const {
        if (dim > 2.0) return z * iv_ratio(shape_.order, z);
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
            const double H = hypotenuse(shape_.order, z);
            const double growth_slope = z > 0.0 ? z * (z / H) : 0.0;
            const double change =
                (m_ + pull - M) / (1.0 - growth_slope / M * (t * t / (1.0 + t * t)));
            M = M + change > m_ ? M + change : m_;
            if (std::fabs(change) <= 1e-10 * M) break;
        }
        return pull;
    }

    double m_;  // p - 1
    DoubleDouble h_;
    TanhPair mode_;
    VmfLossShape shape_;
};

}  // namespace
}  // namespace tightnoise
