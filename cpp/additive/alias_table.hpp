// Walker's alias method (1977, "An efficient method for generating discrete random variables with
// general distributions"), built as by Vose (1991): one of n components by one look into a table.
//
// All in integers: every weight, as a share of their sum, is rounded to a multiple of 2^-64 (the
// largest takes what is left), and 64 random bits then give exactly that. So every probability is
// within 2^-65 = 2.7e-20 of its share in double precision, the largest within n 2^-65.
#pragma once

#include <cstdint>
#include <vector>

#include "additive/alias_columns.hpp"

namespace tightnoise {

class AliasTable {
  public:
    // weights: at least one and at most 2^31, not negative, of a positive and finite sum.
    explicit AliasTable(const std::vector<double>& weights);

    // Lasts as long as the table.
    AliasColumns columns() const { return {threshold_.data(), packed_.data(), index_bits_}; }

  private:
    int index_bits_ = 1;
    std::vector<std::uint64_t> threshold_;
    std::vector<std::uint32_t> packed_;
};

}  // namespace tightnoise
