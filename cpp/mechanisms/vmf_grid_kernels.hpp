// Samples of the von Mises-Fisher distribution on a grid: coordinate i is step K_i,
// K_i = floor(x_i / step + 1/2), of a real sample x on the unit sphere (grid_cells.hpp says why).
// x is what vmf_sampling_kernels.hpp makes, by the same words, of normals and uniforms with endless
// bits (random/ideal_normal.hpp), with all arithmetic exact, of the direction as the real numbers
// that its floats stand for; dim = 3 is no special case. Words are those of float64 for either
// type, and so are the K.
//
// Made in doubles, with a bound on the error of every coordinate (vmf_grid_errors.hpp). A row that
// has a coordinate, or an acceptance, that these leave open is made anew: ideal_row
// (vmf_ideal_row.hpp). That happens to one row in 30,000 of 10^6 coordinates, and costs about a
// second; rows of 1,000 it takes a millisecond, one in 10^7.
//
// Time does not depend on the direction, but by how often rows are made anew. Directions of zeros
// draw the cosine of a first axis, which they have no use for.
#pragma once

#include "mechanisms/vmf_sampling_kernels.hpp"

namespace tightnoise {

// Coordinate i in units of the step is of_x scale x_i + of_n n_i, and off by at most
// error_of_x |scale x_i| + error_of_n |n_i| + error.
struct VmfGridLine {
    double scale;
    double of_x;
    double of_n;
    double error_of_x;
    double error_of_n;
    double error;
};

template <class Real>
struct VmfGridKernels {
    // As those of VmfKernels. Rows that have an open coordinate are not written, and open[row -
    // first] is 1.
    void (*short_rows)(const VmfTask<Real>& task, std::size_t first, std::size_t last,
                       unsigned char* open);
    // A power of two that brings squares of any direction into range.
    double (*scale)(const VmfTask<Real>& task, std::size_t row);
    VmfSums (*project)(const VmfTask<Real>& task, std::size_t row, double scale, std::size_t begin,
                       std::size_t end);
    VmfGridLine (*choose)(const VmfTask<Real>& task, std::size_t row, const VmfSums& total,
                          VmfDraws& draws);
    // False if a coordinate is open.
    bool (*combine)(const VmfTask<Real>& task, std::size_t row, const VmfGridLine& line,
                    std::size_t begin, std::size_t end);
};

struct VmfGridKernelTable {
    VmfGridKernels<double> float64;
    VmfGridKernels<float> float32;
};
TIGHTNOISE_KERNEL_TABLE(VmfGridKernelTable, vmf_grid_kernels)

}  // namespace tightnoise
