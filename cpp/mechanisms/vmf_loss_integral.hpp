// Integrals under the law of a von Mises-Fisher loss (vmf_loss_law.hpp). Kernel-side header:
// internal linkage.
//
// Composite Gauss-Legendre: panels of 20 nodes go from a left end to the right until they add
// nothing. A panel is as wide as its nodes can bear: 20 nodes integrate e^(-20 x) and
// e^(-18 (x - 1/2)^2) over [0, 1] to 1e-17, and the law is analytic within pi / 2 of the real line
// (its exponent has its poles at the zeros of cosh), so that f may change by kMostChange over a
// panel, bend by kMostBend, and the panel be kWidest wide.
#pragma once

#include "mechanisms/vmf_loss_law.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise {
namespace {

constexpr double kMostChange = 16.0;  // |f(b) - f(a)|
constexpr double kMostBend = 8.0;     // |f(a) - 2 f(middle) + f(b)|
constexpr double kWidest = 0.75;
constexpr double kNothingLeft = 1e-18;  // of an integral
constexpr double kDeep = 45.0;          // e^-45: nothing beside the mode

// A d to the left of the mode with f(d) <= -kDeep, not far beyond.
inline double left_end(const VmfLossLaw& law) {
    double d = -law.scale();
    while (law.exponent(d) > -kDeep) d *= 1.25;
    return d;
}

// integral_begin^inf e^(f(d) - reference) (1 - e^-excess(d - begin)) dd. `excess` increases from
// 0, or is infinite everywhere; f - reference is not above 0 by more than rounding. Relative error:
// 1e-14, besides that of f.
template <class Excess>
double integral_from(const VmfLossLaw& law, double begin, double reference, Excess excess) {
    using Rule = GaussLegendre<20>;
    double sum = 0.0;
    double width = 4.0 * law.scale();
    double from = 0.0;
    double f_from = law.exponent(begin) - reference;
    double excess_from = excess(0.0);
    for (;;) {
        double f_to = 0.0;
        double excess_to = 0.0;
        width = width < kWidest ? width : kWidest;
        for (int halvings = 0; halvings < 100; ++halvings) {
            f_to = law.exponent(begin + (from + width)) - reference;
            excess_to = excess(from + width);
            const double f_middle = law.exponent(begin + (from + 0.5 * width)) - reference;
            if (std::fabs(f_to - f_from) <= kMostChange &&
                std::fabs((f_from - f_middle) + (f_to - f_middle)) <= kMostBend &&
                (excess_from > kDeep || excess_to - excess_from <= kMostChange)) {
                break;
            }
            width *= 0.5;
        }
        double panel = 0.0;
        for (int k = 0; k < 20; ++k) {
            const double rise = from + width * Rule::nodes[k];
            const double density = exp(law.exponent(begin + rise) - reference);
            panel += Rule::weights[k] * density * -expm1(-excess(rise));
        }
        panel *= width;
        sum += panel;
        if (f_to <= f_from && panel <= kNothingLeft * sum) return sum;
        from += width;
        f_from = f_to;
        excess_from = excess_to;
        width *= 2.0;
    }
}

// log of the integral of e^f over the whole line.
inline double log_normaliser(const VmfLossLaw& law) {
    return log(integral_from(law, left_end(law), 0.0, [](double) { return kInfinity; }));
}

}  // namespace
}  // namespace tightnoise
