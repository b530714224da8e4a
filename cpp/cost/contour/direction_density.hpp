// The outputs of von Mises-Fisher noise along the difference of two mean directions x, x': under Q0
// the density of v, tanh v = y . (x - x')/|x - x'|, is proportional to
//     e^(-h tanh v) sech(v)^m A(g sech v),   h = kappa s, g = kappa sqrt(1 - s^2), m = dim - 1,
// s the half chord, A(z) the mean of e^(z u_1) over the unit sphere of R^m, and the loss of Q1
// against Q0 is a = 2 h tanh v. Section 8 of CONTOUR.md proves every bound here.
#pragma once

namespace tightnoise::contour {

// tanh, sech^2 and log cosh of v.
struct Hyperbolic {
    explicit Hyperbolic(double v);
    double tanh, sech_square, log_cosh;
};

class DirectionDensity {
  public:
    // kappa from 1e-12 to 1e8, dim from 2, half_chord from 1e-12 to 1, kappa half_chord >= 1e-12.
    DirectionDensity(double kappa, double dim, double half_chord);

    double along() const { return h_; }
    double across() const { return g_; }
    double sphere() const { return m_; }
    double log_density(const Hyperbolic& at) const;        // but for the normaliser
    double log_density_error(const Hyperbolic& at) const;  // in units u
    // The slope of log density + h tanh v + pull tanh v for v > 0: it falls to below 0 once.
    double slope(const Hyperbolic& at, double pull) const;
    double pull_across(const Hyperbolic& at) const;  // z A'(z)/A(z), z = g sech v
    // A v > 0 at which that is about 0, of a pull that never rises with v.
    template <class Pull>
    double mode(Pull pull) const;
    // About the standard deviation of v where it is broadest.
    double scale() const;
    // log sup of A(g Re sech(v + id))/A(g sech v) over v.
    double log_sphere_growth(double d) const;
    // log sup of |density w^u| at v + id by that at v, w of a sample at this rate; for orders u
    // from -t to 1 + t, |d| <= pi/4.
    double log_growth(double d, double t, double order, double rate) const;
    // The same of the integral of |density w^(u + iy)|, y up to reach, and of the part of it that a
    // share of large losses makes.
    double log_mean_growth(double d, double t, double order, double rate, double reach) const;
    // t D_(1+t)(Q1 || Q0), rounded up.
    double log_unsampled_moment(double t) const;

  private:
    double log_growth_along(double d, double t, double order, double rate) const;

    double kappa_, dim_, half_chord_;
    double h_, g_, m_;
};

template <class Pull>
double DirectionDensity::mode(Pull pull) const {
    const auto rises = [&](double v) {
        const Hyperbolic at(v);
        return slope(at, pull(at)) > 0.0;
    };
    double low = 0.0, high = 1.0;
    while (rises(high) && high < 256.0) high *= 2.0;
    for (int i = 0; i < 40 && high - low > 0.01 * scale(); ++i) {
        const double middle = 0.5 * (low + high);
        (rises(middle) ? low : high) = middle;
    }
    return high;
}

}  // namespace tightnoise::contour
