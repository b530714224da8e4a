// (epsilon, delta)-DP of the truncated Gaussian on a bounded domain: its worst case over all true
// values, certified, and the noise that a guarantee needs. Answers err towards privacy only.
//
// Everywhere: numbers greater than 0 and finite, epsilon >= 0, sensitivity clipped to the width (no
// two values are farther apart).
#pragma once

namespace tightnoise {

// An upper bound of the smallest delta: above it by a fraction 1e-10 at most, of delta or of 1 -
// delta, whichever is less; where epsilon is close to the loss H, by 2e-14/(1 - epsilon/H) more,
// which is what rounding may do to the difference of the two. 0 from H on. Range: width/sigma up to
// 1e150; 1 beyond, where the loss exceeds epsilon.
double truncated_worst_delta(double sigma, double width, double sensitivity, double epsilon);

// The smallest epsilon >= 0 found for which truncated_worst_delta is at most delta, 0 < delta < 1;
// never more than the loss.
double truncated_epsilon_at(double sigma, double width, double sensitivity, double delta);

// The smallest sigma found for which truncated_worst_delta is at most delta, 0 < delta < 1; never
// more than the one that pure epsilon-DP needs.
double truncated_sigma_at(double epsilon, double delta, double width, double sensitivity);

}  // namespace tightnoise
