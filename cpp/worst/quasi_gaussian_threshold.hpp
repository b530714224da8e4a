// The two conditions with which Liu, Selvi and Wiesemann (2026) prove the quasi-Gaussian mixture
// private, at sensitivity 1; multiply by the sensitivity for others.
#pragma once

namespace tightnoise {

// The smallest sigma whose divergence at the greatest shift is at most delta (Theorem 4.2, (4a));
// 0 where every sigma has that. Range: finite epsilon > 0, delta in (0, 1).
double quasi_gaussian_sigma_of_shift(double epsilon, double delta);

// The largest sigma whose density varies by e^epsilon exactly on [0, 1]; no larger one varies by
// more (Theorem 4.2, (5a)). Range: finite epsilon > 0.
double quasi_gaussian_sigma_of_ratio(double epsilon);

}  // namespace tightnoise
