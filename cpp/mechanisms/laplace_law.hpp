// Laplace noise, also truncated: density proportional to e^(-|x|/scale) on [-bound, bound].
//
// Truncated: Geng, Ding, Guo and Kumar 2020, "Tight Analysis of Privacy and Utility Tradeoff in
// Approximate Differential Privacy", Section 3.
#pragma once

namespace tightnoise {

class LaplaceLaw {
  public:
    // Scale > 0; bound > 0, infinite for all of the line.
    LaplaceLaw(double scale, double bound);

    double scale() const { return scale_; }
    double bound() const { return bound_; }
    // What small lengths are multiplied by, exactly: differences next to the smallest float have no
    // digits.
    double enlarging() const { return scale_ < 0x1p-900 ? 0x1p200 : 1.0; }

    // For finite x, q in [0, 1]. Relative error: 1e-15, and what the rounding of |x|/scale or
    // bound/scale makes of the result (cdf: of the smaller tail; log density: absolute).
    double log_density(double x) const;
    double distribution(double x) const;
    double mass(double from, double to) const;  // of an interval, from <= to finite
    // log P(noise > x) for x >= 0, also where that is no float. Absolute error: 1e-13, and what the
    // roundings of x and of the result make.
    double log_tail(double x) const;
    double quantile(double q) const;
    double mean_abs() const;
    double variance() const;

  private:
    double scale_;
    double bound_;
    double span_;       // bound / scale
    double half_mass_;  // of e^-u for 0 <= u <= span
};

// The divergence of the law and itself, shifted: for any finite epsilon, shift >= 0.
// Relative error: 1e-13 where above 1e-300.
double hockey_stick(const LaplaceLaw& law, double shift, double epsilon);

}  // namespace tightnoise
