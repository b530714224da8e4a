#include "mechanisms/alias_table.hpp"

#include <algorithm>
#include <cstddef>

namespace tightnoise {

AliasTable::AliasTable(std::vector<Share> share) {
    while (std::size_t{1} << index_bits_ < share.size()) ++index_bits_;
    const std::size_t columns = std::size_t{1} << index_bits_;
    const bool all_in_one = std::all_of(share.begin(), share.end(), [](Share x) { return x == 0; });
    share.resize(columns, 0);

    // Columns that are too low are filled up by components that have too much.
    const Share full = Share{1} << (128 - index_bits_);
    std::vector<std::uint32_t> alias(columns, 0);
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
        packed_[i] = (static_cast<std::uint32_t>(threshold_[i] >> 96) & ~low_bits) | alias[i];
    }
}

}  // namespace tightnoise
