#include "cost/contour/laplace_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/node_line.hpp"
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

// Relative to M: atoms at epsilon and -epsilon, the first one `atom`, the other `last` times as
// large, and half of that as a density, times e^((c + 1/2)(l - epsilon)), between.
class LaplaceLine : public NodeLine {
  public:
    LaplaceLine(TiltedNodes nodes, Moment moment, double epsilon, double atom, double last)
        : NodeLine(std::move(nodes), moment), epsilon_(epsilon), atom_(atom), last_(last) {}

    double log_tail(double y) const override {
        return std::log(atom_ * (1.0 + last_ + 1.0 / y) * kMargin);
    }
    // Both atoms turn by 2 y epsilon against each other; so do the ends of the density.
    double log_largest(double y, double step) const override {
        const double from = 2.0 * y * epsilon_, to = 2.0 * (y + step) * epsilon_;
        if (!(to < kMostTurn)) return 0.0;
        const auto passes = [&](double turn) {  // whole turns and this
            return std::floor((to - turn) / (2.0 * kPi) + kNear) >=
                   std::ceil((from - turn) / (2.0 * kPi) - kNear);
        };
        const double most = passes(0.0) ? 1.0 : std::max(std::cos(from), std::cos(to)) + kNear;
        const double least = passes(kPi) ? -1.0 : std::min(std::cos(from), std::cos(to)) - kNear;
        const double square = 1.0 + last_ * last_;
        const double atoms = std::sqrt(square + 2.0 * last_ * most);
        const double density = 0.5 * std::sqrt(square - 2.0 * last_ * least) / y;
        return std::min(std::log(atom_ * (atoms + density) * kMargin), 0.0);
    }
    bool has_far_tail() const override { return true; }
    std::size_t work_of_look() const override { return 100; }

  private:
    static constexpr double kMargin = 1.0 + 1e-13;
    static constexpr double kMostTurn = 1e6, kNear = 1e-9;  // far above the rounding of such angles
    double epsilon_, atom_, last_;
};

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
    const double atom = 0.5 * std::exp(request.tilt * epsilon_ - moment.value + moment.error);
    const double last = std::exp(-(2.0 * request.tilt + 1.0) * epsilon_);
    return std::make_unique<LaplaceLine>(std::move(nodes), moment, epsilon_, atom, last);
}

// 1 - e^((x - epsilon)/2).
std::optional<Interval> LaplaceLaw::profile(double x) const {
    const double delta = x < epsilon_ ? -expm1(0.5 * (x - epsilon_)) : 0.0;
    return Interval{delta * (1.0 - 8.0 * kUnit), delta * (1.0 + 8.0 * kUnit)};
}

}  // namespace tightnoise::contour
