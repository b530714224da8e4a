#include "mechanisms/integer_theta.hpp"

#include <cmath>
#include <limits>

#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 15;

__extension__ typedef __int128 Wide;

template <class Body>
void for_each_element(std::size_t count, Body&& body) {
    parallel_ranges(count, kChunk, [&](std::size_t begin, std::size_t end) {
        for (std::size_t j = begin; j < end; ++j) body(j);
    });
}

// Of powers of two.
int log2_ratio(double unit, double step) {
    return std::ilogb(unit) - std::ilogb(step);
}

// The integer nearest to n 2^-shift, shift at least 1.
std::int64_t nearest_multiple(std::int64_t n, int shift) {
    if (shift > 63) return 0;  // abs(n) <= 2^62
    const Wide half = Wide{1} << (shift - 1);
    return static_cast<std::int64_t>((n + half) >> shift);
}

// n 2^shift, shift at least 0; negative numbers must not be shifted.
Wide times_power(std::int64_t n, int shift) {
    return n == 0 ? Wide{0} : Wide{n} * (Wide{1} << shift);
}

Wide whole_of(std::int64_t n, int log2) {
    return log2 >= 0 ? times_power(n, log2) : Wide{nearest_multiple(n, -log2)};
}

// Rounded to the nearest double, of two to the even one.
double rounded(Wide k) {
    const Wide magnitude = k < 0 ? -k : k;
    int shift = 0;
    while (magnitude >> shift >> 62 != 0) ++shift;
    // What is shifted out matters only in that it is not nothing.
    const bool sticky = (magnitude >> shift << shift) != magnitude;
    const auto head = static_cast<std::int64_t>(magnitude >> shift) | (sticky ? 1 : 0);
    const double value = std::ldexp(static_cast<double>(head), shift);
    return k < 0 ? -value : value;
}

}  // namespace

void split_integers(const std::int64_t* n, double unit, const Operand& step, std::size_t count,
                    double* theta, double* low) {
    for_each_element(count, [&](std::size_t j) {
        const int log2 = log2_ratio(unit, float64_at(step, j));
        const Wide rest =
            log2 >= 0 ? Wide{0} : n[j] - times_power(nearest_multiple(n[j], -log2), -log2);
        const auto integer = static_cast<std::int64_t>(rest);
        const auto high = static_cast<double>(integer);
        theta[j] = high * unit;
        low[j] = static_cast<double>(integer - static_cast<std::int64_t>(high)) * unit;
    });
}

void join_integers(const std::int64_t* n, double unit, const Operand& step,
                   const std::int64_t* noise, std::size_t count, double* out) {
    for_each_element(count, [&](std::size_t j) {
        const double g = float64_at(step, j);
        out[j] = g * rounded(whole_of(n[j], log2_ratio(unit, g)) + noise[j]);
    });
}

void join_integers(const std::int64_t* n, double unit, const Operand& step,
                   const std::int64_t* noise, std::size_t count, std::int64_t* out) {
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    for_each_element(count, [&](std::size_t j) {
        const Wide k = whole_of(n[j], log2_ratio(unit, float64_at(step, j))) + noise[j];
        out[j] = k < kLeast ? kLeast : k > kMost ? kMost : static_cast<std::int64_t>(k);
    });
}

}  // namespace tightnoise
