#include <algorithm>
#include <vector>

#include "leakage/bayes_capacity.hpp"
#include "numeric/compensated_sum.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {

double log_box_capacity(BayesCapacityKernels::Sum mechanism, const BoxOperands& box,
                        std::size_t n) {
    constexpr std::size_t kBlock = 4096;
    std::vector<CompensatedSum> sums((n + kBlock - 1) / kBlock);
    parallel_blocks(sums.size(), [&](std::size_t block) {
        const std::size_t begin = block * kBlock;
        sums[block] = mechanism(box, begin, std::min(n - begin, kBlock));
    });
    CompensatedSum total;
    for (const CompensatedSum& sum : sums) add(total, sum);
    return value(total);
}

}  // namespace tightnoise
