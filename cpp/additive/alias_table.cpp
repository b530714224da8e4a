#include "additive/alias_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tightnoise {
namespace {

// The weights' shares of 2^64; their sum is 2^64, that is 0. The share of one component that has
// (nearly) all is 0 too.
std::vector<std::uint64_t> integer_shares(const std::vector<double>& weights, std::size_t largest) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::uint64_t> shares(weights.size(), 0);
    std::uint64_t others = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (i == largest) continue;
        shares[i] = static_cast<std::uint64_t>(std::floor(weights[i] / total * 0x1p64 + 0.5));
        others += shares[i];
    }
    shares[largest] = 0 - others;
    return shares;
}

}  // namespace

AliasTable::AliasTable(const std::vector<double>& weights) {
    while (std::size_t{1} << index_bits_ < weights.size()) ++index_bits_;
    const std::size_t columns = std::size_t{1} << index_bits_;
    const auto largest = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) -
                                                  weights.begin());
    std::vector<std::uint64_t> share = integer_shares(weights, largest);
    const bool all_in_one = share[largest] == 0;
    share.resize(columns, 0);

    // Columns that are too low are filled up by components that have too much.
    const std::uint64_t full = std::uint64_t{1} << (64 - index_bits_);
    std::vector<std::uint32_t> alias(columns, static_cast<std::uint32_t>(largest));
    std::vector<std::size_t> low, high;
    if (!all_in_one) {
        for (std::size_t i = 0; i < columns; ++i) (share[i] < full ? low : high).push_back(i);
    }
    while (!low.empty()) {
        const std::size_t column = low.back();
        const std::size_t donor = high.back();
        low.pop_back();
        alias[column] = static_cast<std::uint32_t>(donor);
        share[donor] -= full - share[column];
        if (share[donor] < full) {
            high.pop_back();
            low.push_back(donor);
        }
    }
    for (const std::size_t column : high) {  // full: all theirs
        alias[column] = static_cast<std::uint32_t>(column);
        share[column] = 0;
    }

    const std::uint32_t low_bits = (std::uint32_t{1} << index_bits_) - 1;
    threshold_.resize(columns);
    packed_.resize(std::max<std::size_t>(columns, kSmallestAliasTable), 0);
    for (std::size_t i = 0; i < columns; ++i) {
        threshold_[i] = share[i] << index_bits_;
        packed_[i] = (static_cast<std::uint32_t>(threshold_[i] >> 32) & ~low_bits) | alias[i];
    }
}

}  // namespace tightnoise
