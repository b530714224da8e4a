// Sums over the rows of von Mises-Fisher samples. Kernel-side header: internal linkage, one copy a
// level.
#pragma once

#include <cstring>

#include "mechanisms/vmf_sampling_kernels.hpp"
#include "numeric/compensated_sum.hpp"
#include "numeric/octet.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t padded(std::size_t n) {
    return (n + (kOctet - 1)) / kOctet * kOctet;
}

// Eight sums side by side, plain within a batch; their errors are carried from batch to batch.
struct ThreeSums {
    CompensatedSumOf<Octet> xx, xn, nn;

    // `size` is a multiple of 8.
    template <class X, class N>
    void add_batch(const X* x, double scale, const N* n, std::size_t size) {
        Octet of_xx{}, of_xn{}, of_nn{};
        for (std::size_t i = 0; i < size; i += kOctet) {
            const Octet a = scale * widened(x + i);
            const Octet b = widened(n + i);
            of_xx += a * a;
            of_xn += a * b;
            of_nn += b * b;
        }
        add(xx, of_xx);
        add(xn, of_xn);
        add(nn, of_nn);
    }
};

__attribute__((noinline)) CompensatedSum total_of(const CompensatedSumOf<Octet>& octet) {
    double sums[kOctet], errors[kOctet];
    store(sums, octet.sum);
    store(errors, octet.error);
    CompensatedSum total;
    for (std::size_t i = 0; i < kOctet; ++i) add(total, CompensatedSum{sums[i], errors[i]});
    return total;
}

inline VmfSums total_of(const ThreeSums& sums, double scale) {
    return {scale, total_of(sums.xx), total_of(sums.xn), total_of(sums.nn)};
}

}  // namespace
}  // namespace tightnoise
