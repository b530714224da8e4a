// The elements of an array sorted into narrow cells: what sums of functions with kinks, whose
// places are not known beforehand, need to know about the array.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/operand.hpp"

namespace tightnoise {

struct CellRequest {
    Operand theta;
    std::size_t n;
    double centre;
    const double* cuts;  // increasing: no cell holds elements from both sides of t < cut
    std::size_t cut_count;
    double unit;
};

// One cell each: the least, the mean and the greatest t = |theta - centre| of its elements, and how
// many they are.
struct Cells {
    std::vector<double> left, mean, right, count;
};

// Cells in the order of t, such that
//     count * (right - left) <= unit * (number of elements up to the cell's last),
// whatever the array: elements that crowd together get narrow cells. As sum sqrt(n_j w_j) <=
// sqrt(sum n_j sum w_j), about sqrt(extent / unit) cells do for each doubling of that number, and
// the mean's share of a sum with a kink is off by at most a fraction of the unit.
// All elements must be finite. Takes the memory of 2 n doubles.
Cells cells(const CellRequest& request);

}  // namespace tightnoise
