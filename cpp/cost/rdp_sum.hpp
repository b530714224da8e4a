// What releases that differ cost together: sums over many terms and orders, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/parallel.hpp"

namespace tightnoise {

// What a term costs once, as upper bounds at n orders; and how often.
template <class Step>
struct RdpTerm {
    Step step;
    double count;
};
template <class Step>
using RdpOf = void (*)(const Step& step, const double* alpha, double* rdp, std::size_t n);

// rdp[i] = sum_t terms[t].count D(terms[t].step) of order alpha[i], rounded up.
template <class Step>
void sum_rdp(RdpOf<Step> evaluate, const std::vector<RdpTerm<Step>>& terms, const double* alpha,
             double* rdp, std::size_t n) {
    // Blocks of terms and orders; sums over blocks of terms are added up in their order.
    constexpr std::size_t kTerms = 16, kOrders = 32;
    const std::size_t rows = (terms.size() + kTerms - 1) / kTerms;
    const std::size_t columns = (n + kOrders - 1) / kOrders;
    std::vector<double> sums(rows * n);
    parallel_blocks(rows * columns, [&](std::size_t block) {
        const std::size_t row = block / columns, begin = block % columns * kOrders;
        const std::size_t count = std::min(kOrders, n - begin);
        const std::size_t last = std::min(terms.size(), (row + 1) * kTerms);
        double* sum = sums.data() + row * n + begin;
        double once[kOrders];
        for (std::size_t t = row * kTerms; t < last; ++t) {
            if (terms[t].count == 0.0) continue;  // also where one release costs infinity
            evaluate(terms[t].step, alpha + begin, once, count);
            for (std::size_t i = 0; i < count; ++i) sum[i] += terms[t].count * once[i];
        }
    });
    // k rounded products, added up, are less than k + 1 units of the last place off.
    const double up = 1.0 + 0x1p-52 * static_cast<double>(terms.size() + 2);
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0.0;
        for (std::size_t row = 0; row < rows; ++row) total += sums[row * n + i];
        rdp[i] = total * up;
    }
}

}  // namespace tightnoise
