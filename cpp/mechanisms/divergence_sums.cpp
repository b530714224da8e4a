#include "mechanisms/divergence_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = 1024;

// Column sums of rows of `width` sums followed by `width` corrections, row by row.
void combine(const std::vector<double>& rows, std::size_t width, double* out) {
    std::vector<double> rest(width, 0.0);
    std::fill(out, out + width, 0.0);
    for (std::size_t row = 0; row < rows.size(); row += 2 * width) {
        for (std::size_t i = 0; i < width; ++i) {
            const double term = rows[row + i];
            const double sum = out[i] + term;
            const double lost = std::fabs(out[i]) >= std::fabs(term) ? (out[i] - sum) + term
                                                                     : (term - sum) + out[i];
            rest[i] += lost + rows[row + width + i];
            out[i] = sum;
        }
    }
    for (std::size_t i = 0; i < width; ++i) {
        if (std::isfinite(out[i])) out[i] += rest[i];
    }
}

// Calls sum_block(begin, n, row) for each block; row holds width sums and width corrections.
template <class SumBlock>
void sum_in_blocks(std::size_t n, std::size_t width, double* out, SumBlock sum_block) {
    const std::size_t blocks = (n + kBlock - 1) / kBlock;
    std::vector<double> rows(blocks * 2 * width);
    parallel_blocks(blocks, [&](std::size_t block) {
        const std::size_t begin = block * kBlock;
        sum_block(begin, std::min(kBlock, n - begin), rows.data() + block * 2 * width);
    });
    combine(rows, width, out);
}

}  // namespace

void rdp_sums(const MechanismKernels& kernels, const MechanismOperands& mechanism, const Operand& c,
              const double* alphas, std::size_t alpha_count, std::size_t n, double* forward,
              double* backward) {
    // A block of all orders at once could take seconds, in which nothing polls.
    constexpr std::size_t kOrders = 64;
    for (std::size_t first = 0; first < alpha_count; first += kOrders) {
        const std::size_t orders = std::min(kOrders, alpha_count - first);
        double sums[2 * kOrders];
        sum_in_blocks(n, 2 * orders, sums, [&](std::size_t begin, std::size_t count, double* row) {
            kernels.rdp_sums(mechanism, c, alphas + first, orders, begin, count, row);
        });
        std::copy_n(sums, orders, forward + first);
        std::copy_n(sums + orders, orders, backward + first);
    }
}

double fisher_sum(const MechanismKernels& kernels, const MechanismOperands& mechanism,
                  const Operand& c, std::size_t n) {
    double sum = 0.0;
    sum_in_blocks(n, 1, &sum, [&](std::size_t begin, std::size_t count, double* row) {
        kernels.fisher_sum(mechanism, c, begin, count, row);
    });
    return sum;
}

}  // namespace tightnoise
