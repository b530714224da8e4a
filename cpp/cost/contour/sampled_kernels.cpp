#include "cost/contour/sampled_kernels.hpp"

#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"
#include "numeric/polynomial.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kLargest = 700.0;  // of a: e^a is finite

// Counters are int, for AVX2 makes no doubles of 64-bit integers.
void nodes(const SampledGrid& grid, std::size_t n, const SampledColumns& to) {
    const double q = grid.rate, log_rate = log(q), first = grid.first;
    const bool is_topped = std::fabs(grid.width) < kInfinity;
    const int count = static_cast<int>(n);
#pragma omp simd
    for (int j = 0; j < count; ++j) {
        const double a = (first + static_cast<double>(j)) * grid.spacing;
        const double z = grid.sigma * a + grid.middle;
        const double v = q * expm1(a < kLargest ? a : kLargest);
        to.z[j] = z;
        to.excess[j] = v;
        to.loss[j] = a > kLargest ? log_rate + a : log1p(v);
        to.log_weight[j] = grid.log_step - 0.5 * z * z;
    }
    if (q > 0.5) {  // else v > -1/2
#pragma omp simd
        for (int j = 0; j < count; ++j) {
            const double a = (first + static_cast<double>(j)) * grid.spacing;
            const double low = log_positive((1.0 - q) + q * exp(a));
            to.loss[j] = to.excess[j] < -0.5 ? low : to.loss[j];
        }
    }
    if (is_topped) {
#pragma omp simd
        for (int j = 0; j < count; ++j) {
            to.log_weight[j] += log_ndtr((grid.top - to.z[j]) / grid.width);
        }
    }
}

// atan t for 0 <= t <= tan(0.475 pi), within 12 u: a quarter of the angle by its Taylor series,
// whose rest is below 0.2 u.
constexpr double kArcTangent[18] = {
    -1.0 / 3.0,  1.0 / 5.0,  -1.0 / 7.0,  1.0 / 9.0,  -1.0 / 11.0, 1.0 / 13.0,
    -1.0 / 15.0, 1.0 / 17.0, -1.0 / 19.0, 1.0 / 21.0, -1.0 / 23.0, 1.0 / 25.0,
    -1.0 / 27.0, 1.0 / 29.0, -1.0 / 31.0, 1.0 / 33.0, -1.0 / 35.0, 1.0 / 37.0,
};
inline double arc_tangent(double t) {
    const double half = t / (1.0 + std::sqrt(1.0 + t * t));
    const double quarter = half / (1.0 + std::sqrt(1.0 + half * half));
    const double square = quarter * quarter;
    return 4.0 * (quarter + quarter * square * polynomial_in_halves(kArcTangent, square));
}

// w - 1 = q (e^a cos b - 1 + i e^a sin b); far out it is q e^(a + ib), next to which 1 - q is
// nothing.
void shifted(const ShiftedGrid& grid, std::size_t n, const ShiftedGridColumns& to) {
    constexpr double kFarOut = 300.0;  // of a: e^(2a) is finite
    const double q = grid.rate, rest = 1.0 - q, log_rate = log(q), b = grid.angle;
    const double sine = grid.sine, cosine = grid.cosine;
    const double less = 2.0 * grid.half_sine * grid.half_sine;
    const int count = static_cast<int>(n);
    const double order = grid.order, tau = grid.tau;
#pragma omp simd
    for (int j = 0; j < count; ++j) {
        const double a = (grid.first + static_cast<double>(j)) * grid.spacing;
        const double z = grid.sigma * a + grid.middle;
        const double at = a < kFarOut ? a : kFarOut;
        const double grown = q * exp(at);
        const double real = q * (expm1(at) * cosine - less);
        const double imaginary = grown * sine, whole = rest + grown * cosine;
        const double near = log1p(2.0 * real + real * real + imaginary * imaginary);
        const double far = log_positive(whole * whole + imaginary * imaginary);
        const double above_half = real > -0.5 ? near : far;
        const double size_here = 0.5 * (real < 1e8 ? above_half : far);
        const double angle_here = arc_tangent(imaginary / whole);
        const double size = a < kFarOut ? size_here : log_rate + a;
        const double angle = a < kFarOut ? angle_here : b;
        to.z[j] = z;
        to.log_size[j] = size;
        to.angle[j] = angle;
        to.log_modulus[j] = grid.log_factor - 0.5 * (z - tau) * (z + tau) + order * size;
        to.phase[j] = order * angle - z * tau;
    }
}

TiltedSum tilt(std::size_t n, const double* log_weight, const double* loss, double order,
               double* weight) {
    double largest = -kInfinity, total = 0.0;
#pragma omp simd reduction(max : largest)
    for (std::size_t j = 0; j < n; ++j) {
        weight[j] = log_weight[j] + order * loss[j];
        largest = weight[j] > largest ? weight[j] : largest;
    }
#pragma omp simd reduction(+ : total)
    for (std::size_t j = 0; j < n; ++j) {
        weight[j] = exp(weight[j] - largest);
        total += weight[j];
    }
    return {largest, total};
}

// Errors as weight_error() and share_error() of sampled_pair.hpp and the sampled Gaussian's say.
WeightedSums sums(const SampledGrid& grid, std::size_t n, const double* weight, const double* z,
                  const double* loss, double order) {
    double mean = 0.0, square = 0.0, error = 0.0;
    const double of_z = 1.0 / grid.sigma;
#pragma omp simd reduction(+ : mean, square, error)
    for (std::size_t j = 0; j < n; ++j) {
        const double first = weight[j] * loss[j];
        mean += first;
        square += first * loss[j];
        error += weight[j] * (3.0 * z[j] * z[j] + std::fabs(z[j]) * of_z +
                              10.0 * std::fabs(order * loss[j]) + 12.0);
    }
    if (!(std::fabs(grid.width) < kInfinity && std::fabs(grid.top) < kInfinity)) {
        return {mean, square, error};
    }
    const double narrow = 5.0 / std::fabs(grid.width), middle = std::fabs(grid.top);
#pragma omp simd reduction(+ : error)
    for (std::size_t j = 0; j < n; ++j) {
        const double t = (grid.top - z[j]) / grid.width;
        const double hazard = t > 0.0 ? exp(-0.5 * t * t) : 1.0 - t;
        error += weight[j] * (20.0 + hazard * (std::fabs(z[j]) + middle) * narrow);
    }
    return {mean, square, error};
}

double powers(std::size_t n, const double* base, const double* mixed, double power, double square) {
    double largest = -kInfinity, total = 0.0;
#pragma omp simd reduction(max : largest)
    for (std::size_t j = 0; j < n; ++j) {
        const double at = base[j] + power * log1p(-mixed[j] * square);
        largest = at > largest ? at : largest;
    }
#pragma omp simd reduction(+ : total)
    for (std::size_t j = 0; j < n; ++j) {
        total += exp(base[j] + power * log1p(-mixed[j] * square) - largest);
    }
    return largest + log(total);
}

// Of the angle the lower bound by Shafer, atan x >= 3x/(1 + 2 sqrt(1 + x^2)) for x >= 0.
double tail(std::size_t n, const double* weight, const double* share, double power, double sine,
            double cosine, double y) {
    double total = 0.0;
    const double less = 1.0 - cosine;
#pragma omp simd reduction(+ : total)
    for (std::size_t j = 0; j < n; ++j) {
        const double p = share[j];
        const double real = 1.0 - p * less, imaginary = p * sine;
        const double size = std::sqrt(real * real + imaginary * imaginary);
        const double angle = 3.0 * imaginary / (real + 2.0 * size);
        total += weight[j] * exp(power * log1p(-2.0 * p * (1.0 - p) * less) - y * angle);
    }
    return total;
}

}  // namespace

extern const SampledKernels TIGHTNOISE_AT_LEVEL(sampled_kernels) = {nodes, shifted, tilt,
                                                                    sums,  powers,  tail};

}  // namespace tightnoise::contour
