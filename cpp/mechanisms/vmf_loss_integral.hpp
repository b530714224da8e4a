// Integrals under the law of a von Mises-Fisher loss (vmf_loss_law.hpp). Internal linkage.
//
// Composite Gauss-Legendre: panels of 32 nodes go from a left end to the right until what is left
// is nothing. A panel is as wide as its nodes can bear. 32 nodes integrate e^(-48 x) and
// e^(-12.5 (2 x - 1)^2) over [0, 1] to 1e-16, so that the exponent may change by kMostChange over a
// panel, and bend by kMostBend; it is analytic within pi / 2 of the real line (where cosh has its
// zeros), which is what widest_at() is for.
#pragma once

#include <algorithm>
#include <cmath>

#include "mechanisms/vmf_loss_law.hpp"

namespace tightnoise {
namespace {

constexpr double kMostChange = 48.0;    // |f(b) - f(a)|
constexpr double kMostBend = 24.0;      // |f(a) - 2 f(middle) + f(b)|
constexpr double kNothingLeft = 1e-17;  // of an integral
constexpr double kDeep = 45.0;          // e^-45: nothing beside the mode

// How wide a panel may be that begins at v, for the sake of what is analytic: 1.25 anywhere. Where
// |v| is beyond `bend`, that of the mode and that of the last singularity, f is nearly linear,
// and a panel may be as wide as its distance from there allows, that of its nearer end.
inline double widest_at(double v, double bend) {
    const double right = 4.0 * (v - bend);
    const double left = 0.8 * (-v - bend);
    const double far = right > left ? right : left;
    return far > 1.25 ? far : 1.25;
}

// A d to the left of the mode with f(d) <= -kDeep, not far beyond.
inline double left_end(const VmfLossLaw& law) {
    double d = -3.0 * law.scale();
    while (law.exponent(d) > -kDeep) d *= 1.3;
    return d;
}

// The integrals of e^(f(d) - reference) and of e^(f(d) - reference) (1 - e^-rise(d)) over d > d0;
// `rise` is that of the loss, as seen from d0. f - reference is not above 0 by more than rounding.
// Relative error: 1e-14, besides that of f.
//
// What is left beyond a panel: beyond the mode f falls, at a rate of at least 1 where it is as low
// as where panels end (in the end it is m >= 1), and 1 - e^-rise is never above its limit.
inline VmfPanel integrals_from(const VmfLossLaw& law, double d0, double reference,
                               const VmfLossRise& rise) {
    const VmfLossKernels& kernels = vmf_loss_kernels();
    const bool is_ramped = rise.gain < kInfinity;
    const double most = is_ramped ? -expm1(-rise.base - rise.gain / (rise.D - rise.UE)) : 1.0;
    const double mode = law.mode();
    const double bend = std::max(mode, law.last_singularity());
    double width = 10.0 * law.scale();
    double begin = 0.0;
    double f_begin = law.exponent(d0 + begin) - reference;
    double rise_begin = is_ramped ? rise.base : kInfinity;
    VmfPanel sum{0.0, 0.0};
    for (;;) {
        const double widest = widest_at(mode + d0 + begin, bend);
        width = width < widest ? width : widest;
        double f_end = 0.0;
        bool is_nothing = false;
        double rise_end = kInfinity;
        for (int trials = 0; trials < 100; ++trials) {
            const double d[2] = {d0 + (begin + width), d0 + (begin + 0.5 * width)};
            double f[2];
            kernels.exponents(law.shape(), d, 2, f);
            f_end = f[0] - reference;
            is_nothing = f_begin < f_end && f_end < -kDeep;  // left of the mode
            if (is_ramped) rise_end = loss_rise(rise, begin + width);
            const double change = std::fabs(f_end - f_begin) / kMostChange;
            const double curve =
                std::fabs((f[0] - f[1]) - (f[1] - reference - f_begin)) / kMostBend;
            const double climb = rise_begin < kDeep ? (rise_end - rise_begin) / kMostChange : 0.0;
            double excess = change > climb ? change : climb;
            excess = excess > curve ? excess : curve;
            if (is_nothing || excess <= 1.0) break;
            width *= excess < 10.0 / 7.0 ? 0.7 : (excess > 4.0 ? 0.25 : 1.0 / excess);
        }
        if (!is_nothing) {
            const VmfPanel panel = kernels.panel(law.shape(), rise, d0, begin, width, reference);
            sum.all += panel.all;
            sum.above += panel.above;
            if (f_end <= f_begin && exp(f_end) * most <= kNothingLeft * sum.above) return sum;
        }
        begin += width;
        f_begin = f_end;
        rise_begin = rise_end;
        width *= 2.0;
    }
}

// log of the integral of e^f over the whole line.
inline double log_normaliser(const VmfLossLaw& law) {
    return log(integrals_from(law, left_end(law), 0.0, {kInfinity, 1.0, 0.0, 0.0}).all);
}

}  // namespace
}  // namespace tightnoise
