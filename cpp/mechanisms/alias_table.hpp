// Walker's alias method (1977, "An efficient method for generating discrete random variables with
// general distributions"), built as by Vose (1991): one of n components by one look into a table.
//
// All in integers: 128 random bits choose a component with exactly the probability that its share
// is of 2^128 (component_shares.hpp says which shares).
#pragma once

#include <cstdint>
#include <vector>

#include "mechanisms/sampled_noise.hpp"

namespace tightnoise {

class AliasTable {
  public:
    // share: at least one and at most 2^25, their sum 2^128, that is 0; all of it is 0, too.
    explicit AliasTable(std::vector<Share> share);

    // Lasts as long as the table.
    AliasColumns columns() const { return {threshold_.data(), packed_.data(), index_bits_}; }

  private:
    int index_bits_ = 1;
    std::vector<Share> threshold_;
    std::vector<std::uint32_t> packed_;
};

}  // namespace tightnoise
