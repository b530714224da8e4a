#include "cost/contour/shifted_kernels.hpp"

#include "numeric/lanes.hpp"

namespace tightnoise::contour {
namespace {

void store_lanes(double* to, Lanes v) {
    std::memcpy(to, &v, sizeof v);
}

constexpr std::size_t kTile = 256;  // nodes: what the first cache holds

void sums(const ShiftedColumns& c, std::size_t count, double* real, double* imaginary) {
    for (std::size_t k = 0; k < count; ++k) real[k] = imaginary[k] = 0.0;
    for (std::size_t first = 0; first < c.n; first += kTile) {
        const std::size_t end = first + kTile < c.n ? first + kTile : c.n;
        for (std::size_t k = 0; k < count; ++k) {
            Lanes sum_real = {}, sum_imaginary = {};
            for (std::size_t j = first; j < end; j += kLanes) {
                const Lanes er = load_lanes(c.real + j), ei = load_lanes(c.imaginary + j);
                const Lanes tr = load_lanes(c.turn_real + j);
                const Lanes ti = load_lanes(c.turn_imaginary + j);
                const Lanes wr = load_lanes(c.weight_real + j);
                const Lanes wi = load_lanes(c.weight_imaginary + j);
                sum_real += wr * er - wi * ei;
                sum_imaginary += wr * ei + wi * er;
                // (1 + E)(1 + turn) - 1
                store_lanes(c.real + j, er + (tr + (er * tr - ei * ti)));
                store_lanes(c.imaginary + j, ei + (ti + (er * ti + ei * tr)));
            }
            real[k] += lane_sum(sum_real);
            imaginary[k] += lane_sum(sum_imaginary);
        }
    }
}

}  // namespace

extern const ShiftedKernels TIGHTNOISE_AT_LEVEL(shifted_kernels) = {sums};

}  // namespace tightnoise::contour
