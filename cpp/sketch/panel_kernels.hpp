// Sums of functions over elements of which only moments are known, with error bounds.
#pragma once

#include <cstddef>

#include "runtime/simd_level.hpp"

namespace tightnoise {

// Panels (intervals) that are alike: the same Chebyshev points in [-1, 1], the same number of parts
// of equal length. Every function is known by its values at the nodes of each panel, the elements
// by their Chebyshev moments on each part. Arrays are C-contiguous with the shapes given.
struct PanelProblem {
    std::size_t functions, orders, panels, nodes;
    std::size_t terms;    // of a series on a part: nodes, padded with zeros to a multiple of 8
    std::size_t parts;    // with moments of their own
    std::size_t moments;  // known for each part; at most nodes
    std::size_t deciding_parts;  // on which functions are compared: as many as parts, or parts is 1
    const double* values;        // (functions, orders, panels, nodes)
    const double* tails;         // (functions, orders, panels): interpolation errors; or null
    const double* known;         // (panels, parts, moments)
    const double* roundings;     // (moments): largest error of a moment of one element
    // From values at the nodes to Chebyshev coefficients on the panel (nodes, nodes), on its parts
    // (nodes, parts, terms) and on its deciding parts (nodes, deciding_parts, terms).
    const double* whole;
    const double* summing;
    const double* deciding;
    double
        value_error;  // error of an interpolant that comes from errors of values, per max |value|
};

// What sum_max finds, (orders, panels) each; NaN where a value was NaN or infinite.
struct PanelSums {
    double* sums;       // over the panel's elements, of the greatest function
    double* errors;     // bounds of their errors
    double* closeness;  // (functions, orders, panels): bounds of |function - interpolant|
};

// Functions on panels as Chebyshev series, and the cells (cells.hpp) of elements there.
struct ExcessProblem {
    std::size_t functions, panels, terms;
    const double* coefficients;  // (functions, panels, terms)
    const double* centre;        // of each panel, and half its width
    const double* half;
    const std::size_t* begin;  // each panel's cells: begin, ..., end - 1
    const std::size_t* end;
    const double *left, *mean, *right, *count;
};

struct PanelKernels {
    // scratch: panel_scratch(problem) doubles.
    void (*sum_max)(const PanelProblem& problem, double* scratch, const PanelSums& out);
    // sums[panel] = sum over elements of max(0, every series), and bounds of their errors.
    void (*excess)(const ExcessProblem& problem, double* sums, double* errors);
};
TIGHTNOISE_KERNEL_TABLE(PanelKernels, panel_kernels)

// Per function: coefficients on all parts, an estimate and an error for each part, a closeness.
// And once: coefficients on all deciding parts, and on one part.
static inline std::size_t panel_scratch(const PanelProblem& p) {
    return p.functions * (p.parts * (p.terms + 2) + 1) + (p.deciding_parts + 1) * p.terms;
}

}  // namespace tightnoise
