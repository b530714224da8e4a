#include "numeric/special.hpp"

#include <vector>

#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

// Small arrays are one block: waking a thread would cost more than it saves.
std::size_t block_size(std::size_t n) {
    return n < 100000 ? 100000 : std::size_t{1} << 15;
}

std::size_t block_count(std::size_t n) {
    return (n + block_size(n) - 1) / block_size(n);
}

// body(block, begin, m) for each block of m elements from `begin` on.
template <class Body>
void over_blocks(std::size_t n, Body body) {
    const std::size_t size = block_size(n);
    parallel_blocks(block_count(n), [&](std::size_t block) {
        const std::size_t begin = block * size;
        body(block, begin, n - begin < size ? n - begin : size);
    });
}

}  // namespace

void map_array(SpecialKernels::Map kernel, const Operand* x, const Output& y, std::size_t n) {
    over_blocks(n, [&](std::size_t, std::size_t begin, std::size_t m) { kernel(x, y, begin, m); });
}

double sum_array(const Operand& x, std::size_t n) {
    const SpecialKernels& kernels = special_kernels();
    std::vector<CompensatedSum> sums(block_count(n));
    over_blocks(n, [&](std::size_t block, std::size_t begin, std::size_t m) {
        sums[block] = kernels.sum(x, begin, m);
    });
    return kernels.combine_sums(sums.data(), sums.size());
}

double magnitude_of_array(const Operand& x, std::size_t n) {
    std::vector<double> blocks(block_count(n));
    over_blocks(n, [&](std::size_t block, std::size_t begin, std::size_t m) {
        blocks[block] = special_kernels().magnitude(x, begin, m);
    });
    double largest = 0.0;
    for (const double here : blocks) largest = here > largest || here != here ? here : largest;
    return largest;
}

double log_sum_exp_array(const Operand& x, std::size_t n) {
    const SpecialKernels& kernels = special_kernels();
    std::vector<double> maxima(block_count(n));
    over_blocks(n, [&](std::size_t block, std::size_t begin, std::size_t m) {
        maxima[block] = kernels.maximum(x, begin, m);
    });
    const double largest = kernels.combine_maxima(maxima.data(), maxima.size());
    std::vector<CompensatedSum> sums(block_count(n));
    over_blocks(n, [&](std::size_t block, std::size_t begin, std::size_t m) {
        sums[block] = kernels.sum_of_exp(x, largest, begin, m);
    });
    return kernels.combine_log_sum_exp(sums.data(), largest, sums.size());
}

}  // namespace tightnoise
