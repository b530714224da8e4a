#include "cost/contour/shifted_kernels.hpp"

#include "numeric/elementary.hpp"
#include "numeric/lanes.hpp"

namespace tightnoise::contour {
namespace {

void store_lanes(double* to, Lanes v) {
    std::memcpy(to, &v, sizeof v);
}

constexpr std::size_t kMostFrequencies = 64;

void turns(std::size_t n, const double* decay, double* real, double* imaginary) {
#pragma omp simd
    for (std::size_t j = 0; j < n; ++j) {
        const double shrink = 2.0 * exp(-decay[j]), sine = real[j], cosine = imaginary[j];
        real[j] = expm1(-decay[j]) - shrink * (sine * sine);  // both of one sign
        imaginary[j] = shrink * (sine * cosine);
    }
}

// Of `groups` times kLanes nodes from j on, which stay in registers for all frequencies.
template <std::size_t groups>
void add(const ShiftedColumns& c, std::size_t j, std::size_t count, Lanes* real, Lanes* imaginary) {
    Lanes er[groups], ei[groups], tr[groups], ti[groups], wr[groups], wi[groups];
    for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t at = j + g * kLanes;
        er[g] = load_lanes(c.real + at);
        ei[g] = load_lanes(c.imaginary + at);
        tr[g] = load_lanes(c.turn_real + at);
        ti[g] = load_lanes(c.turn_imaginary + at);
        wr[g] = load_lanes(c.weight_real + at);
        wi[g] = load_lanes(c.weight_imaginary + at);
    }
    for (std::size_t k = 0; k < count; ++k) {
        Lanes of_real = {}, of_imaginary = {};
        for (std::size_t g = 0; g < groups; ++g) {
            of_real += wr[g] * er[g] - wi[g] * ei[g];
            of_imaginary += wr[g] * ei[g] + wi[g] * er[g];
            // (1 + E)(1 + turn) - 1
            const Lanes next = er[g] + (er[g] * tr[g] + (tr[g] - ei[g] * ti[g]));
            ei[g] = ei[g] + (er[g] * ti[g] + (ti[g] + ei[g] * tr[g]));
            er[g] = next;
        }
        real[k] += of_real;
        imaginary[k] += of_imaginary;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        store_lanes(c.real + j + g * kLanes, er[g]);
        store_lanes(c.imaginary + j + g * kLanes, ei[g]);
    }
}

void sums(const ShiftedColumns& c, std::size_t count, double* real, double* imaginary) {
    constexpr std::size_t kGroups = 2;
    Lanes of_real[kMostFrequencies] = {}, of_imaginary[kMostFrequencies] = {};
    for (std::size_t start = 0; start < c.n; start += kShiftedRun) {
        Lanes run_real[kMostFrequencies] = {}, run_imaginary[kMostFrequencies] = {};
        const std::size_t end = start + kShiftedRun < c.n ? start + kShiftedRun : c.n;
        std::size_t j = start;
        for (; j + kGroups * kLanes <= end; j += kGroups * kLanes) {
            add<kGroups>(c, j, count, run_real, run_imaginary);
        }
        for (; j < end; j += kLanes) add<1>(c, j, count, run_real, run_imaginary);
        for (std::size_t k = 0; k < count; ++k) {
            of_real[k] += run_real[k];
            of_imaginary[k] += run_imaginary[k];
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        real[k] = lane_sum(of_real[k]);
        imaginary[k] = lane_sum(of_imaginary[k]);
    }
}

double tail(std::size_t n, const double* modulus, const double* damping, double y) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (std::size_t j = 0; j < n; ++j) total += modulus[j] * exp(-y * damping[j]);
    return total;
}

}  // namespace

extern const ShiftedKernels TIGHTNOISE_AT_LEVEL(shifted_kernels) = {turns, sums, tail};

}  // namespace tightnoise::contour
