#include "additive/multi_gaussian_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accounting/root_search.hpp"
#include "additive/multi_gaussian_search.hpp"
#include "numeric/normal.hpp"
#include "numeric/step_until.hpp"

namespace tightnoise {
namespace {

// The shifts that the paper looks at. D is smooth and the grid fine: the greatest D of the grid is
// next to a local maximum of D, so the two neighbours of each stand for up to 1e300 shifts.
class GridDivergence {
  public:
    GridDivergence(const MultiGaussianSearch& search, double epsilon, double delta, double eta,
                   double sigma)
        : search_(search), epsilon_(epsilon), step_(kSqrtTwoPi * eta * delta) {
        // Its maxima at this sigma, next to which those of others nearby are found.
        constexpr int kPoints = 120;
        const auto law = search_.law(sigma);
        const auto scales = search_.inner_shifts();
        const double ratio = std::pow(1e-6, 1.0 / kPoints);
        double t = 0.98;
        double before = 0.0;
        for (int i = 0; i < kPoints; ++i, t *= ratio) {
            const double slope = shift_divergence(law, 1.0 - t, epsilon_).d_shift;
            if (before > 0.0 && slope <= 0.0) {
                if (const auto top = scales.near(law, 1.0 - t)) summits_.push_back(top->shift);
            }
            before = slope;
        }
    }

    double greatest(double sigma) const {
        const auto law = search_.law(sigma);
        const auto scales = search_.inner_shifts();
        const double cells = std::ceil(1.0 / (step_ * sigma));
        double most = shift_divergence(law, 1.0, epsilon_).delta;
        for (const double summit : summits_) {
            const auto top = scales.near(law, summit);
            const double cell = (top ? top->shift : summit) * cells;
            for (const double shift : {std::floor(cell) / cells, std::ceil(cell) / cells}) {
                most = std::max(most, shift_divergence(law, shift, epsilon_).delta);
            }
        }
        return most;
    }

  private:
    const MultiGaussianSearch& search_;
    double epsilon_;
    double step_;
    std::vector<double> summits_;
};

// At sensitivity 1.
double sigma_on_grid(double epsilon, double delta, double modes, double eta) {
    const double target = (1.0 - eta) * delta;
    const MultiGaussianSearch search(epsilon, target, modes);
    const double most = search.certified(search.root(), 1.0);  // private at every shift
    if (modes == 0.0 || !std::isfinite(most)) return most;
    const GridDivergence grid(search, epsilon, delta, eta, most);
    const auto excess = [&](double sigma) { return std::log(target / grid.greatest(sigma)); };
    double least = most * (1.0 - 1e-6);
    for (double room = 1e-5; excess(least) > 0.0 && room < 0.5; room *= 4.0) {
        least = most * (1.0 - room);
    }
    const double root = root_from_below(excess, least, most);
    return step_until([&](double sigma) { return excess(sigma) >= 0.0; }, root);
}

}  // namespace

double multi_gaussian_sigma_on_grid(double epsilon, double delta, double sensitivity, double modes,
                                    double eta) {
    return sensitivity * sigma_on_grid(epsilon, delta, modes, eta);
}

MultiGaussianChoice best_multi_gaussian_on_grid(double epsilon, double delta, double sensitivity,
                                                AdditiveLoss loss, double eta) {
    MultiGaussianChoice best{};
    double least = std::numeric_limits<double>::infinity();
    for (double modes = 1.0; modes <= 20.0; modes += 1.0) {
        const double sigma = sigma_on_grid(epsilon, delta, modes, eta);
        const double value = loss_of(MultiGaussianLaw(sigma, epsilon, 1.0, modes), loss);
        if (value < least * (1.0 - 1e-9)) {
            least = value;
            best = {sigma * sensitivity, modes};
        }
    }
    return best;
}

}  // namespace tightnoise
