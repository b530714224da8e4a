// (epsilon, delta)-DP of the bounded Laplace mechanism (bounded_laplace_loss.hpp) on a domain: the
// worst over all true values.
//
// In units of the scale, from the lower bound: width w, neighbours k apart (values farther apart
// are less private, as the likelihood ratio of any two falls with the output; Karlin and Rubin,
// Blackwell), at a and b = a + k for some a in [0, w - k]; the other order is the mirror image.
// With
//     A = e^-a,  B = e^(a - w),  Z(a) = 2 - A - B,  r(a) = Z'(a)/Z(a) = (A - B)/Z(a),
// the loss a + b - 2 x + log Z(b)/Z(a) falls with the output x between a and b, so that the best
// test is the outputs below the x at which it is epsilon. With s = e^-(x - a) there,
//     s^2 = e^(epsilon - k) Z(a)/Z(b),
//     delta(a) = f(a) where s < 1, else 0,    f(a) = (1 - s) (2 - A (1 + s))/Z(a).
// Which a is the worst depends on epsilon: from the middle where epsilon is 0 to an end at the
// greatest loss. It is looked for by bisection, with bounds on f over an interval of a's. Z is log
// concave, so that r falls and s rises with a, and |r| <= 1. So
//     f <= (1 - s) (2 - A' (1 + s))/least Z,  s at the left end, A' at the right one,
// which suffices where s reaches 1. Elsewhere f <= f(middle) + max |f'| times half the length,
//     f' = ((1 - s) (B + A s (1 - t) - (B - A s) r(a)) - s t (2 - A (1 + s)))/Z(a),
//     t = d log s/da = (r(a) - r(b))/2, in [0, 1], which is k/2 times some -r' between a and b,
// each factor being between its values at the ends; and where f' has one sign, f is at most what it
// is at an end. An interval whose bound is a part kNear above a value that is reached is done with.
//
// Nothing cancels but in epsilon - k + log(Z(a)/Z(b)), by an error of up to 32 units of k. So much
// is epsilon lowered by first: answers are too large only.
#pragma once

namespace tightnoise {

// An upper bound of the smallest delta: at most 2e-10, relative, above the one at epsilon - 2^-46
// sensitivity/scale. At least the smallest subnormal unless it is 0.
// Numbers greater than 0 and finite, epsilon >= 0, sensitivity clipped to the width.
double bounded_laplace_worst_delta(double scale, double width, double sensitivity, double epsilon);

// The smallest epsilon >= 0 found for which that is at most delta, 0 < delta < 1.
double bounded_laplace_epsilon_at(double scale, double width, double sensitivity, double delta);

}  // namespace tightnoise
