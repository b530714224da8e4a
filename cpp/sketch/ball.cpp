#include "sketch/ball.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr double kUnit = 0x1p-53;
constexpr std::size_t kPlaces = 16;  // at once

// The largest cost between two nodes: the chord, and what the bend allows above it.
struct Cell {
    double a, b, slope, level, bend;  // (s - a) slope + level + bend (s - a) (b - s)

    double at(double s) const { return level + (s - a) * (slope + bend * (b - s)); }

    // max (cost - price s^2): a concave parabola.
    double excess(double price) const {
        const double curvature = 2.0 * (bend + price), rise = slope + bend * (a + b);
        double s = rise >= curvature * b ? b : std::max(a, rise / curvature);
        // From here on the parabola is above what is known at b, which no cost between exceeds.
        if (slope < bend * (s - a)) s = slope > 0.0 ? a + slope / bend : a;
        return at(s) - price * s * s;
    }

    // max cost / s^2: in v = 1 / s a parabola.
    double rate() const {
        const double rise = slope + bend * (a + b), rest = level - slope * a - bend * a * b;
        double most = std::max(at(a) / (a * a), at(b) / (b * b));
        const double v = -0.5 * rise / rest;
        if (rest < 0.0 && v > 1.0 / b && v < 1.0 / a) {
            most = std::max(most, -bend + v * (rise + rest * v));
        }
        return most;
    }
};

class Place {
  public:
    Place(const BallProblem& problem, std::size_t place)
        : steps_(problem.steps),
          values_(problem.values + place * problem.nodes),
          reach_(problem.reach[place]),
          bend_(problem.bend[place]),
          cells_(problem.nodes - 1) {}

    // Between the nodes k and k + 1.
    Cell cell(std::size_t k) const {
        const double a = reach_ * steps_[k], b = reach_ * steps_[k + 1];
        const double level = k == 0 ? 0.0 : values_[k];
        return {a, b, (values_[k + 1] - level) / (b - a), level, bend_};
    }

    double rate() const {
        const double largest = reach_ * steps_[cells_];
        double most = values_[cells_] / (largest * largest);
        for (std::size_t k = 1; k < cells_; ++k) most = std::max(most, cell(k).rate());
        return most;
    }

    // Fills out[i stride], first <= i < last. The best s does not increase with the price, so the
    // cell of the middle price ends the search for all others on either side; cells that rounding
    // puts in the wrong order are as good as the best, up to the rounding that is added.
    void excesses(const double* prices, std::size_t first, std::size_t last, std::size_t least,
                  std::size_t most, std::size_t stride, float* out) const {
        if (first == last) return;
        const std::size_t middle = first + (last - first) / 2;
        double greatest = -1.0;
        std::size_t best = least;
        for (std::size_t k = least; k <= most; ++k) {
            const double excess = cell(k).excess(prices[middle]);
            if (excess > greatest) {
                greatest = excess;
                best = k;
            }
        }
        const double largest = reach_ * steps_[cells_];
        const double rounding = values_[cells_] + prices[middle] * largest * largest;
        const double sum = std::max(greatest, 0.0) + 64.0 * kUnit * rounding;
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const bool fits = sum < std::numeric_limits<float>::max();
        out[middle * stride] = fits ? std::nextafter(static_cast<float>(sum), infinity) : infinity;
        excesses(prices, first, middle, best, most, stride, out);
        excesses(prices, middle + 1, last, least, best, stride, out);
    }

    std::size_t cells() const { return cells_; }

  private:
    const double* steps_;
    const double* values_;
    double reach_, bend_;
    std::size_t cells_;
};

template <class Visit>
void for_each_place(const BallProblem& problem, Visit visit) {
    parallel_ranges(problem.places, kPlaces, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) visit(i, Place(problem, i));
    });
}

}  // namespace

void ball_rates(const BallProblem& problem, double* rates) {
    for_each_place(problem, [&](std::size_t i, const Place& place) { rates[i] = place.rate(); });
}

void ball_excesses(const BallProblem& problem, const double* prices, std::size_t count,
                   float* out) {
    for_each_place(problem, [&](std::size_t i, const Place& place) {
        place.excesses(prices, 0, count, 0, place.cells() - 1, problem.places, out + i);
    });
}

double ball_least(const double* prices, std::size_t count, const float* excesses,
                  const double* counts, std::size_t places, double budget) {
    std::size_t first = 0, last = places;  // of those with coordinates
    while (first < last && counts[first] == 0.0) ++first;
    while (first < last && counts[last - 1] == 0.0) --last;
    const auto total = [&](std::size_t i) {
        const float* row = excesses + i * places;
        double sums[4] = {};
        std::size_t j = first;
        for (; j + 4 <= last; j += 4) {
            for (std::size_t k = 0; k < 4; ++k) {
                sums[k] += counts[j + k] * static_cast<double>(row[j + k]);
            }
        }
        for (; j < last; ++j) sums[0] += counts[j] * static_cast<double>(row[j]);
        return prices[i] * budget + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    };
    // Convex in the price.
    std::size_t low = 0, high = count - 1;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (total(middle) <= total(middle + 1)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return total(low);
}

}  // namespace tightnoise
