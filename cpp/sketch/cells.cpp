#include "sketch/cells.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tightnoise {
namespace {

constexpr double kMostParts = 512;  // at once: as many places are written to in turn

class Divider {
  public:
    explicit Divider(const CellRequest& request) : request_(request) {}

    // Makes cells of t[0], ..., t[n - 1]; `spare` has room for as many.
    void divide(double* t, double* spare, std::size_t n) {
        const Extent all = extent(t, n);  // (lambdas of C++17 cannot take the parts of a pair)
        const double least = all.least, greatest = all.greatest;
        if (cut(t, spare, n, least, greatest)) return;
        const double width = greatest - least, count = static_cast<double>(n);
        const double allowed = request_.unit * (static_cast<double>(done_) + count);
        if (width == 0.0 || width * count <= allowed) return add(t, n, least, greatest);

        // So many parts would do for elements that are spread evenly. The least and the greatest
        // element end up in different parts, so this ends.
        const double wanted = std::min(count, std::ceil(std::sqrt(width / allowed * count)));
        const auto parts = static_cast<std::size_t>(std::clamp(wanted, 2.0, kMostParts));
        const double scale = static_cast<double>(parts) / width;
        if (!std::isfinite(scale)) return add(t, n, least, greatest);
        const auto part_of = [&](double at) {
            return std::min(parts - 1, static_cast<std::size_t>((at - least) * scale));
        };
        std::vector<std::size_t> ends(parts, 0);
        for (std::size_t i = 0; i < n; ++i) ++ends[part_of(t[i])];
        std::size_t begin = 0;
        for (std::size_t& end : ends) {
            begin += end;
            end = begin - end;  // for now, the part's beginning
        }
        for (std::size_t i = 0; i < n; ++i) spare[ends[part_of(t[i])]++] = t[i];
        begin = 0;
        for (const std::size_t end : ends) {
            if (end > begin) divide(spare + begin, t + begin, end - begin);
            begin = end;
        }
    }

    Cells& found() { return found_; }

  private:
    struct Extent {
        double least, greatest;
    };

    static Extent extent(const double* t, std::size_t n) {
        double least = t[0], greatest = t[0];
#pragma omp simd reduction(min : least) reduction(max : greatest)
        for (std::size_t i = 0; i < n; ++i) {
            least = t[i] < least ? t[i] : least;
            greatest = t[i] > greatest ? t[i] : greatest;
        }
        return {least, greatest};
    }

    // Where cuts lie between the elements, divides them at the middle one.
    bool cut(double* t, double* spare, std::size_t n, double least, double greatest) {
        const double* end = request_.cuts + request_.cut_count;
        const double* first = std::upper_bound(request_.cuts, end, least);
        const double* last = std::upper_bound(first, end, greatest);
        if (first == last) return false;
        const double at = first[(last - first) / 2];
        double* middle = std::partition(t, t + n, [at](double x) { return x < at; });
        const auto below = static_cast<std::size_t>(middle - t);
        divide(t, spare, below);
        divide(middle, spare + below, n - below);
        return true;
    }

    void add(const double* t, std::size_t n, double least, double greatest) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += t[i] - least;
        const double count = static_cast<double>(n);
        found_.left.push_back(least);
        found_.mean.push_back(std::min(greatest, least + sum / count));
        found_.right.push_back(greatest);
        found_.count.push_back(count);
        done_ += n;
    }

    const CellRequest& request_;
    Cells found_;
    std::size_t done_ = 0;
};

template <class T>
void distances(const T* theta, std::size_t n, double centre, double* t) {
    for (std::size_t i = 0; i < n; ++i) t[i] = std::fabs(static_cast<double>(theta[i]) - centre);
}

}  // namespace

Cells cells(const CellRequest& request) {
    const std::size_t n = request.n;
    Divider divider(request);
    if (n == 0) return {};
    // Not vectors, which would be filled with zeros.
    const std::unique_ptr<double[]> t(new double[n]), spare(new double[n]);
    if (request.theta.is_float32) {
        distances(static_cast<const float*>(request.theta.data), n, request.centre, t.get());
    } else {
        distances(static_cast<const double*>(request.theta.data), n, request.centre, t.get());
    }
    divider.divide(t.get(), spare.get(), n);
    return std::move(divider.found());
}

}  // namespace tightnoise
