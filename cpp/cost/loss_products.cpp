#include "cost/loss_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

constexpr double kShort = 0.01;  // for which the series is as good as the function
constexpr double kFar = 1.0;     // from where on 1 less what is moved has lost digits
constexpr double kRounding = 0x1p-50;

// x - x^2/2 + ... - x^6/720 is below 1 - e^-x, and x^7/5040 more is above: next to nothing, if x is
// short.
inline double series(double x, double seventh) {
    return x * (1.0 -
                x * (1.0 / 2.0 -
                     x * (1.0 / 6.0 -
                          x * (1.0 / 24.0 - x * (1.0 / 120.0 - x * (1.0 / 720.0 - x * seventh))))));
}

// 1 - e^-x, from above and from below.
inline double above(double x) {
    return (x > kShort ? -std::expm1(-x) : series(x, 1.0 / 5040.0)) * (1.0 + kRounding);
}

inline double below(double x) {
    return (x > kShort ? -std::expm1(-x) : series(x, 0.0)) * (1.0 - kRounding);
}

// e^-x - e^-gap, from above: what of a unit so far above a point is left there, less its share.
inline double left(double x, double gap) {
    return std::exp(-x) * above(std::max(gap - x, 0.0)) * (1.0 + kRounding);
}

// Calls of(k, p, x) for each pair of atoms: its sum is x above grid[k], the last point that is no
// larger, and its probability p; and next(k) when a run of sums leaves a cell. Sums below the first
// point have k = -1 and x < 0.
template <class Of, class Next>
void for_each_sum(const LossAtoms& a, const LossAtoms& b, const double* grid, std::size_t size,
                  Of of, Next next) {
    // Of two equal losses each pair counts twice.
    const bool is_square = a.losses == b.losses && a.masses == b.masses && a.size == b.size;
    std::ptrdiff_t first = -1;  // cell of the first sum of a row: it rises
    const auto last = static_cast<std::ptrdiff_t>(size) - 1;
    for (std::size_t i = 0; i < a.size; ++i) {
        poll();
        const double loss = a.losses[i];
        double p = a.masses[i];
        std::size_t j = is_square ? i : 0;
        while (first < last && loss + b.losses[j] >= grid[first + 1]) ++first;
        std::ptrdiff_t k = first;
        if (is_square) {
            of(k, p * p, 2.0 * loss - grid[std::max<std::ptrdiff_t>(k, 0)]);
            p *= 2.0;
            ++j;
        }
        for (; j < b.size; ++j) {
            const double sum = loss + b.losses[j];
            if (k < last && sum >= grid[k + 1]) {
                next(k);
                do ++k;
                while (k < last && sum >= grid[k + 1]);
            }
            of(k, p * b.masses[j], sum - grid[std::max<std::ptrdiff_t>(k, 0)]);
        }
        next(k);
    }
}

}  // namespace

InfiniteLosses split_product(const LossAtoms& a, const LossAtoms& b, const double* grid,
                             std::size_t size, double* mass) {
    // To the next point, and the share of a unit above each.
    std::vector<double> gap(size, std::numeric_limits<double>::infinity()), share(size, 1.0);
    for (std::size_t k = 0; k + 1 < size; ++k) {
        gap[k] = grid[k + 1] - grid[k];
        share[k] = 1.0 / below(gap[k]);
    }
    const auto last = static_cast<std::ptrdiff_t>(size) - 1;
    double here = 0.0, there = 0.0, swapped = 0.0;
    InfiniteLosses infinite{0.0, 0.0};
    const auto of = [&](std::ptrdiff_t k, double p, double x) {
        if (k < 0) {
            here += p;
            swapped += p * std::expm1(-x);
            return;
        }
        const double moved = std::min(above(x) * share[k], 1.0);
        here += p * (x < kFar ? 1.0 - moved : left(x, gap[k]) * share[k]);
        there += p * moved;
    };
    const auto next = [&](std::ptrdiff_t k) {
        mass[std::max<std::ptrdiff_t>(k, 0)] += here;
        (k == last ? infinite.losses : mass[k + 1]) += there;
        infinite.swapped += swapped;
        here = there = swapped = 0.0;
    };
    for_each_sum(a, b, grid, size, of, next);
    infinite.swapped *= std::exp(-grid[0]) * (1.0 + kRounding);
    return infinite;
}

void merged_product(const LossAtoms& a, const LossAtoms& b, const double* grid, std::size_t size,
                    double* mass, double* less) {
    double whole = 0.0, part = 0.0;
    const auto of = [&](std::ptrdiff_t k, double p, double x) {
        if (k < 0) return;
        whole += p;
        part += p * below(x);
    };
    const auto next = [&](std::ptrdiff_t k) {
        if (k >= 0) {
            mass[k] += whole;
            less[k] += part;
        }
        whole = part = 0.0;
    };
    for_each_sum(a, b, grid, size, of, next);
}

}  // namespace tightnoise
