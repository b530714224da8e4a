#include "mechanisms/divergence_sums.hpp"

#include <algorithm>
#include <vector>

#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = 1024;

// The totals of sum_block(begin, n, sums), which adds a block to `width` sums.
template <class SumBlock>
std::vector<double> sum_in_blocks(std::size_t n, std::size_t width, SumBlock sum_block) {
    const std::size_t blocks = (n + kBlock - 1) / kBlock;
    std::vector<CompensatedSum> rows(blocks * width), totals(width);
    parallel_blocks(blocks, [&](std::size_t block) {
        const std::size_t begin = block * kBlock;
        sum_block(begin, std::min(kBlock, n - begin), rows.data() + block * width);
    });
    for (std::size_t i = 0; i < rows.size(); ++i) add(totals[i % width], rows[i]);
    std::vector<double> values(width);
    for (std::size_t i = 0; i < width; ++i) values[i] = value(totals[i]);
    return values;
}

}  // namespace

void rdp_sums(const MechanismKernels& kernels, const MechanismOperands& mechanism, const Operand& c,
              const double* alphas, std::size_t alpha_count, std::size_t n, double* forward,
              double* backward) {
    // A block of all orders at once could take seconds, in which nothing polls.
    constexpr std::size_t kOrders = 64;
    for (std::size_t first = 0; first < alpha_count; first += kOrders) {
        const std::size_t orders = std::min(kOrders, alpha_count - first);
        const auto sums = sum_in_blocks(
            n, 2 * orders, [&](std::size_t begin, std::size_t count, CompensatedSum* row) {
                kernels.rdp_sums(mechanism, c, alphas + first, orders, begin, count, row);
            });
        std::copy_n(sums.data(), orders, forward + first);
        std::copy_n(sums.data() + orders, orders, backward + first);
    }
}

double fisher_sum(const MechanismKernels& kernels, const MechanismOperands& mechanism,
                  const Operand& c, std::size_t n) {
    const auto sum =
        sum_in_blocks(n, 1, [&](std::size_t begin, std::size_t count, CompensatedSum* row) {
            *row = kernels.fisher_sum(mechanism, c, begin, count);
        });
    return sum.front();
}

}  // namespace tightnoise
