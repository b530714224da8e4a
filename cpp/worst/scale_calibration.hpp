// The privacy loss of noise for one number in an interval, and the least noise for a given loss.
//
// `width` is the interval's, `sensitivity` how far apart neighbours may be: more than the width
// means the width. Only ratios matter: multiplying all lengths by a power of two multiplies the
// answer.
//
// Losses are rounded up: from the exact one to 3e-14 above it, relative. Range: finite arguments >
// 0, sensitivity/width at least 1e-100. inf where the loss is beyond the largest number; below
// 1e-300 at most twice the exact one and 1e-322.
//
// Scales are rounded up as well: the exact loss at the scale returned is at most epsilon and at
// least (1 - 5e-13) epsilon, for the theorem's sigma in terms of the theorem's bound. They do not
// rise with epsilon, not even from one number to the next. Range: epsilon from 1e-100 to 1e100, the
// ratio as above. inf or a number below the least normal one where the scale is not a normal
// number.
#pragma once

namespace tightnoise {

double truncated_epsilon_upper(double sigma, double width, double sensitivity);
double rectified_epsilon_upper(double sigma, double width, double sensitivity);
double bounded_laplace_epsilon_upper(double scale, double width, double sensitivity);

double truncated_sigma_upper(double epsilon, double width, double sensitivity);
double rectified_sigma_upper(double epsilon, double width, double sensitivity);
double bounded_laplace_scale_upper(double epsilon, double width, double sensitivity);

// "The Bounded Gaussian Mechanism for Differential Privacy", Theorem 6: the least sigma with
//     sigma^2 >= (width + c/2) c / (epsilon - log Delta C(sigma)).
double truncated_theorem_sigma_upper(double epsilon, double width, double sensitivity);

}  // namespace tightnoise
