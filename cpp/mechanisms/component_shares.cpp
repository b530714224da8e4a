#include "mechanisms/component_shares.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "random/big_normal.hpp"

namespace tightnoise {
namespace {

// floor(x) + 1 for 0 <= x < 2^128.
Share next_integer(const Big& x) {
    const auto high = static_cast<std::uint64_t>(ldexp(x, -64));
    const auto low = static_cast<std::uint64_t>(x - ldexp(Big(high), 64));
    return (Share{high} << 64 | low) + 1;
}

// What n weights of that sum are multiplied by.
Big scale_of(const Big& total, std::size_t n) {
    return (ldexp(Big(1), 128) - n) / total;
}

// The largest takes what the others leave.
std::vector<Share> completed(std::vector<Share> share) {
    Share sum = 0;
    for (const Share x : share) sum += x;
    *std::max_element(share.begin(), share.end()) -= sum;
    return share;
}

}  // namespace

std::vector<Share> ladder_shares(double epsilon, int modes) {
    const Big ratio = exp(-Big(epsilon));
    Big weight = 1, total = 1;
    for (int k = 1; k <= modes; ++k) {
        weight *= ratio;
        total += 2 * weight;
    }
    const auto middle = static_cast<std::size_t>(modes);
    std::vector<Share> share(2 * middle + 1);
    weight = scale_of(total, share.size());
    share[middle] = next_integer(weight);
    for (std::size_t k = 1; k <= middle; ++k) {
        weight *= ratio;
        share[middle - k] = share[middle + k] = next_integer(weight);
    }
    return completed(std::move(share));
}

std::vector<Share> quasi_gaussian_shares(double sigma, double epsilon, double sensitivity) {
    const Big side = exp(-Big(epsilon)) * normal_below(Big(sensitivity) / sigma);
    const Big scale = scale_of(1 + 2 * side, 3);
    const Share of_side = next_integer(side * scale);
    return completed({next_integer(scale), of_side, of_side});
}

std::vector<Share> mirrored_shares(const double* weight, std::size_t n) {
    Big total = 0;
    for (std::size_t i = 0; i < n; ++i) total += 2 * Big(weight[i]);
    const Big scale = scale_of(total, 2 * n);
    std::vector<Share> share(2 * n);
    for (std::size_t i = 0; i < n; ++i) share[i] = share[n + i] = next_integer(weight[i] * scale);
    return completed(std::move(share));
}

}  // namespace tightnoise
