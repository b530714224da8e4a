// What a certificate asks of a density.
#pragma once

namespace tightnoise {

// log f(x), and m = x + s^2 (log f)'(x), which does not decrease, s the law's `least_sigma`.
struct DensityPoint {
    double log_density;
    double m;
};

}  // namespace tightnoise
