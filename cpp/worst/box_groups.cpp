#include "worst/box_groups.hpp"

#include <cstring>

namespace tightnoise {
namespace {

// A double's exponent and the first six bits after it.
constexpr int kBits = 11 + 6;
constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace

std::size_t BoxGroups::cell_of(double width) {
    std::uint64_t bits;
    std::memcpy(&bits, &width, sizeof bits);
    return static_cast<std::size_t>(bits >> (63 - kBits)) & ((std::size_t{1} << kBits) - 1);
}

BoxGroups::BoxGroups(const double* width, std::size_t n) : index_(std::size_t{1} << kBits, kNone) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t& group = index_[cell_of(width[i])];
        if (group == kNone) {
            group = static_cast<std::uint32_t>(width_.size());
            width_.push_back(0.0);
            count_.push_back(0.0);
        }
        // The running mean: a sum could overflow.
        count_[group] += 1.0;
        width_[group] += (width[i] - width_[group]) / count_[group];
    }
}

}  // namespace tightnoise
