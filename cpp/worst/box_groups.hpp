// Coordinates of a box put together by their widths: a small box that resembles a large one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tightnoise {

// Widths within a 64th of each other, roughly, are a group: their mean, and how many there are.
class BoxGroups {
  public:
    BoxGroups(const double* width, std::size_t n);

    std::size_t size() const { return width_.size(); }
    const double* width() const { return width_.data(); }
    const double* count() const { return count_.data(); }
    std::size_t group_of(double width) const { return index_[cell_of(width)]; }

  private:
    static std::size_t cell_of(double width);

    std::vector<std::uint32_t> index_;
    std::vector<double> width_, count_;
};

}  // namespace tightnoise
