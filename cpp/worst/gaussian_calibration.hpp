// The Gaussian mechanism's exact (epsilon, delta) guarantee and its inverses. mu is sensitivity /
// sigma. Every answer is on the private side: rounding and search errors only ever make it larger
// (sigma, epsilon, delta), or smaller (mu).
#pragma once

namespace tightnoise {

// The smallest delta, rounded upwards: at most 1.3e-14 above it, relative, and at least the
// smallest subnormal, at most 1. Range: epsilon >= 0, mu >= 0, infinities included (mu = inf gives
// 1; mu = 0 or epsilon = inf gives 0).
double gaussian_delta_upper(double epsilon, double mu);

// The smallest epsilon >= 0 for delta in [0, 1] and mu in [0, inf], rounded upwards: it is at most
// the exact epsilon of delta (1 - 1e-13) rounded up. inf where delta = 0 < mu, or mu = inf.
double gaussian_epsilon_upper(double delta, double mu);

// The smallest sigma for finite epsilon >= 0, 0 < delta < 1 and sensitivity > 0: at most 3e-14
// above it, relative. inf where sigma would overflow.
double gaussian_sigma_upper(double epsilon, double delta, double sensitivity);

}  // namespace tightnoise
