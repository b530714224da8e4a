#include "cost/contour/laplace_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"

namespace tightnoise::contour {
namespace {

constexpr int kPoints = 16;  // of a panel
constexpr int kMostPanels = 1 << 11;
constexpr double kMomentError = 1e-20;

// log of a bound of the quadrature's error for e^((b + iy) l) on a panel of half-width r, relative
// to the integral of e^(b l), over Bernstein ellipses: section 7.
double log_panel_error(double b, double y, double r) {
    double best = kInfinity;
    for (double rho = 1.5; rho < 200.0; rho *= 1.3) {
        const double growth = 0.5 * r * (b * (rho + 1.0 / rho) + y * (rho - 1.0 / rho));
        best = std::min(
            best, growth - 2.0 * (kPoints - 1) * std::log(rho) - std::log1p(-1.0 / (rho * rho)));
    }
    return best + std::log(32.0 / 15.0);
}

}  // namespace

std::optional<AtomsLaw> LaplaceLaw::discretised(const LineRequest& request) const {
    using Rule = GaussLegendre<kPoints>;
    int panels = 1;
    while (log_panel_error(request.tilt + 0.5, request.reach, epsilon_ / panels) >
           std::log(request.error)) {
        panels *= 2;
        if (panels > kMostPanels) return std::nullopt;
    }
    std::vector<double> losses{epsilon_, -epsilon_}, masses{0.5, 0.5 * exp(-epsilon_)};
    std::vector<double> log_masses{-kLog2, -kLog2 - epsilon_};
    const double width = 2.0 * epsilon_ / panels;
    for (int i = 0; i < panels; ++i) {
        for (int k = 0; k < kPoints; ++k) {
            const double share = (i + Rule::nodes[k]) / panels;  // of the way to epsilon
            const double exponent = epsilon_ * (share - 1.0);
            const double weight = 0.25 * width * Rule::weights[k];
            losses.push_back(epsilon_ * (2.0 * share - 1.0));
            masses.push_back(weight * exp(exponent));
            log_masses.push_back(log(weight) + exponent);
        }
    }
    return AtomsLaw(losses, masses, log_masses, 0.0, AtomsLaw::Exact::log_masses);
}

Moment LaplaceLaw::moment(double t) const {
    const auto atoms = discretised({t, 0.0, kMomentError});
    if (!atoms) return {t * epsilon_, kInfinity, epsilon_, epsilon_ * epsilon_};
    Moment moment = atoms->moment(t);
    moment.error += 3.0 * kMomentError;
    return moment;
}

// The pair is symmetric.
double LaplaceLaw::log_swapped_moment(double t) const {
    const Moment known = moment(t);
    return known.value + (known.error < kInfinity ? known.error : 0.0);
}

std::unique_ptr<Line> LaplaceLaw::line(const LineRequest& request) const {
    const auto atoms = discretised(request);
    if (!atoms) return nullptr;
    TiltedNodes nodes = atoms->nodes(request.tilt);
    nodes.step = request.step;
    nodes.missing += 2.0 * request.error;
    nodes.loss_error = 16.0;  // next to 0 by errors of epsilon's size, which the atoms outweigh
    Moment moment = atoms->moment(request.tilt);
    moment.error += 3.0 * request.error;
    // Relative to e^(c epsilon): the atoms, and twice the density's maximum for its variation.
    const double scale = std::exp(request.tilt * epsilon_ - moment.value + moment.error);
    const double last = std::exp(-(2.0 * request.tilt + 1.0) * epsilon_);
    return std::make_unique<DensityLine>(std::move(nodes), moment, 0.5 * scale * (1.0 + last),
                                         0.5 * scale);
}

// 1 - e^((x - epsilon)/2).
std::optional<Interval> LaplaceLaw::profile(double x) const {
    const double delta = x < epsilon_ ? -expm1(0.5 * (x - epsilon_)) : 0.0;
    return Interval{delta * (1.0 - 8.0 * kUnit), delta * (1.0 + 8.0 * kUnit)};
}

}  // namespace tightnoise::contour
