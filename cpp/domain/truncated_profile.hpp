// (epsilon, delta)-DP of the truncated Gaussian on a bounded domain: its worst case over all true
// values, certified, and the noise that a guarantee needs. Answers err towards privacy only.
//
// Everywhere: numbers greater than 0 and finite, epsilon >= 0, sensitivity clipped to the width (no
// two values are farther apart).
#pragma once

namespace tightnoise {

// An upper bound of the smallest delta: at most 1e-10 above it, relative; where the loss can barely
// exceed epsilon, by epsilon less than 1e-5 of it, more: what epsilon's last digits are worth. 0
// where the loss never exceeds epsilon. Range: width/sigma from 1e-12 to 1e12; beyond, 1 or 0.
double truncated_worst_delta(double sigma, double width, double sensitivity, double epsilon);

// The smallest epsilon >= 0 found for which truncated_worst_delta is at most delta, 0 < delta < 1.
double truncated_epsilon_at(double sigma, double width, double sensitivity, double delta);

// The smallest sigma found for which truncated_worst_delta is at most delta, 0 < delta < 1; never
// more than the one that pure epsilon-DP needs.
double truncated_sigma_at(double epsilon, double delta, double width, double sensitivity);

}  // namespace tightnoise
