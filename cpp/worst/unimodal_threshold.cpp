#include "worst/unimodal_threshold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/roots.hpp"

namespace tightnoise {
namespace {

// What drives the density at x: sigma^2 (log f)'(x) = m(x) - x, where m(x) is the mean of the
// component given x, and the derivative of that, Var(component | x) / sigma^2 - 1.
struct Pull {
    double value;
    double slope;
};

class Lattice {
  public:
    Lattice(double epsilon, double modes, double sigma)
        : epsilon_(epsilon),
          modes_(modes),
          rate_(0.5 / (sigma * sigma)),
          square_(std::exp(-2.0 * rate_)),
          turn_(std::exp(-2.0 * epsilon)) {}

    // At x = -offset, 0 <= offset <= 1. Sums over components from the heaviest on, to both sides:
    // neighbouring terms have ratios that shrink by e^(-1/sigma^2) a step, and by e^(-2 epsilon)
    // once where the weights turn at 0.
    Pull pull(double offset) const {
        const double k = offset > 0.5 + 0.5 * epsilon_ / rate_ ? -1.0 : 0.0;  // the heaviest
        const double d = -k - offset;
        Sums sums;
        add_side(sums, 1.0, k, d);
        add_side(sums, -1.0, k, d);
        const double mean = sums.first / sums.mass;
        const double variance = sums.second / sums.mass - mean * mean;
        return {mean - d, 2.0 * rate_ * variance - 1.0};
    }

  private:
    struct Sums {
        double mass = 1.0;
        double first = 0.0;
        double second = 0.0;
    };

    void add_side(Sums& sums, double side, double k, double d) const {
        double distance = 1.0;
        double position = side * k + 1.0;  // of the component, outwards on this side
        const double weight = position > 0.0 ? -epsilon_ : epsilon_;
        double ratio = std::exp(rate_ * (2.0 * side * d - 1.0) + weight);
        double term = 1.0;
        while (position <= modes_) {
            term *= ratio;
            if (term < 1e-19) return;
            sums.mass += term;
            sums.first += side * distance * term;
            sums.second += distance * distance * term;
            ratio *= position == 0.0 ? square_ * turn_ : square_;
            position += 1.0;
            distance += 1.0;
        }
    }

    double epsilon_;
    double modes_;
    double rate_;  // 1 / (2 sigma^2)
    double square_;
    double turn_;
};

// The least pull towards 0 at offsets from `first` to `last`: at one of some points, or where the
// slope along the offset turns from falling to rising between two of them.
double least_pull(const Lattice& lattice, double first, double last) {
    constexpr int kSteps = 12;
    double offset = last;
    Pull before = lattice.pull(offset);
    double least = before.value;
    for (int i = kSteps - 1; i >= 0; --i) {
        const double next = first + (last - first) * i / kSteps;
        if (!(next > 0.0)) break;
        const Pull here = lattice.pull(next);
        least = std::min(least, here.value);
        if (before.slope < 0.0 && here.slope > 0.0) {
            const double valley = root_from_below([&](double y) { return -lattice.pull(y).slope; },
                                                  next, offset, 1e-10);
            least = std::min(least, lattice.pull(valley).value);
        }
        offset = next;
        before = here;
    }
    return least;
}

// Negative where the density of this sigma has more modes than one, else not. The cell next to the
// centre decides: a cell farther out, counted from its own inner end, has weights that fall more
// steeply, so that the pull towards 0 never grows less from one cell to the next.
double least_pull_anywhere(double epsilon, double modes, double sigma) {
    const Lattice lattice(epsilon, modes, sigma);
    if (lattice.pull(0.0).slope > 0.0) return -1.0;
    // The mean moves from 0 to -1 where both components weigh the same, within some sigma^2.
    const double square = sigma * sigma;
    const double turn = 0.5 + epsilon * square;
    const double narrow = least_pull(lattice, std::max(turn - 4.0 * square, 0.0),
                                     std::min(turn + 20.0 * square, 1.0));
    return std::min(narrow, least_pull(lattice, 0.0, 1.0));
}

// The smallest sigma from which on least(sigma) >= 0. Two equal bumps melt at sigma = 1/2, steps of
// e^epsilon earlier, about 1 / sqrt(2 epsilon) where epsilon is large; rows of nearly equal ones a
// little later.
template <class Least>
double melting_point(double epsilon, Least least) {
    double high = std::min(0.5, 1.0 / std::sqrt(2.0 * epsilon));
    double low = 0.25 * high;
    while (least(high) < 0.0) {
        // Ripples of e^(-2 pi^2 sigma^2) are gone: what is below 0 is rounding, as at epsilon of
        // 1e-17.
        if (high > 4.0) return high;
        low = high;
        high *= 1.25;
    }
    while (least(low) >= 0.0) low *= 0.5;
    return root_from_below(least, low, high) * (1.0 + 0x1p-50);
}

}  // namespace

double unimodal_sigma(double epsilon, double modes) {
    return melting_point(epsilon,
                         [=](double sigma) { return least_pull_anywhere(epsilon, modes, sigma); });
}

double flank_melting_sigma(double epsilon) {
    // With the square completed, e^(k epsilon) N(x; k) is that of equal weights at x + epsilon
    // sigma^2: the pull is that of a lattice of equal weights, and epsilon sigma^2 more.
    return melting_point(epsilon, [=](double sigma) {
        const Lattice lattice(0.0, std::numeric_limits<double>::infinity(), sigma);
        const double square = sigma * sigma;
        const double narrow = least_pull(lattice, 0.5, std::min(0.5 + 20.0 * square, 1.0));
        return epsilon * square + std::min(narrow, least_pull(lattice, 0.5, 1.0));
    });
}

}  // namespace tightnoise
