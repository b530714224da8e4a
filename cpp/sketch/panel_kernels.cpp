#include "sketch/panel_kernels.hpp"

#include "numeric/lanes.hpp"

namespace tightnoise {
namespace {

constexpr double kEpsilon = 0x1p-52;

// Coefficients that follow those computed are estimated as this often the geometric series that
// continues the decay.
constexpr double kTailSafety = 10.0;
// Coefficients below this fraction of the greatest are rounding errors of the values.
constexpr double kTailFloor = 2e-14;
// Decay rates are rounded up to a multiple of 1 / kDecaySteps; slower than kSlowest of them,
// nothing is claimed.
constexpr int kDecaySteps = 20;
constexpr int kSlowest = 18;

// out[m] = sum_j values[j] matrix[j, m]
inline void expand(const double* values, std::size_t nodes, const double* matrix, std::size_t width,
                   double* out) {
#pragma omp simd
    for (std::size_t m = 0; m < width; ++m) out[m] = 0.0;
    std::size_t j = 0;
    for (; j + 4 <= nodes; j += 4) {  // four rows at once: a fourth of the loads and stores of out
        const double a = values[j], b = values[j + 1], c = values[j + 2], d = values[j + 3];
        const double* row = matrix + j * width;
#pragma omp simd
        for (std::size_t m = 0; m < width; ++m) {
            out[m] += (a * row[m] + b * row[width + m]) +
                      (c * row[2 * width + m] + d * row[3 * width + m]);
        }
    }
    for (; j < nodes; ++j) {
        for (std::size_t m = 0; m < width; ++m) out[m] += values[j] * matrix[j * width + m];
    }
}

inline double greatest_size(const double* values, std::size_t n) {
    double greatest = 0.0;
#pragma omp simd reduction(max : greatest)
    for (std::size_t i = 0; i < n; ++i) {
        const double size = absolute(values[i]);
        greatest = size > greatest ? size : greatest;
    }
    return greatest;
}

// An estimate of the sum of the sizes of the Chebyshev coefficients beyond the n given: not a
// proof.
inline double estimated_tail(const double* coefficients, std::size_t n) {
    const std::size_t first = n / 3;
    const std::size_t last = n - 3;
    const double early = greatest_size(coefficients + first, 3);
    const double late = greatest_size(coefficients + last, 3);
    const double floor = kTailFloor * greatest_size(coefficients, n);
    if (late <= floor) return kTailSafety * floor;
    for (int step = 1; step <= kSlowest; ++step) {
        const double decay = static_cast<double>(step) / kDecaySteps;
        double reached = early;
        for (std::size_t k = first; k < last; ++k) reached *= decay;
        if (late <= reached) return kTailSafety * late * decay / (1.0 - decay);
    }
    return __builtin_inf();
}

// An upper bound of a Chebyshev series on [-1, 1]. |T_k| <= 1; and where the slope cannot change
// its sign, because |T_k'| <= k^2, it is the value at one of the ends. n is a multiple of 8.
inline double greatest_value(const double* coefficients, std::size_t n) {
    Lanes k = {}, all_sizes = {}, all_slopes = {}, even = {}, odd = {};
    LaneBits is_odd = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        k[lane] = static_cast<double>(lane);
        is_odd[lane] = lane % 2 == 0 ? 0 : -1;
    }
    for (std::size_t i = 0; i < n; i += kLanes) {
        const Lanes a = load_lanes(coefficients + i);
        const Lanes size = absolute(a);
        all_sizes += size;
        all_slopes += size * (k * k);
        even += is_odd ? Lanes{} : a;
        odd += is_odd ? a : Lanes{};
        k += static_cast<double>(kLanes);
    }
    const double sizes = lane_sum(all_sizes), slopes = lane_sum(all_slopes);
    const double slope = absolute(coefficients[1]);
    const double anywhere = coefficients[0] - absolute(coefficients[0]) + sizes;
    const double at_ends = lane_sum(even) + absolute(lane_sum(odd));
    const double rounding = 4.0 * kEpsilon * static_cast<double>(n) * sizes;
    const bool monotone = slope > slopes - slope + rounding * static_cast<double>(n * n);
    return (monotone && at_ends < anywhere ? at_ends : anywhere) + rounding;
}

// The work on one panel, for one order.
class Panel {
  public:
    Panel(const PanelProblem& problem, double* scratch)
        : p_(problem),
          width_(problem.parts * problem.terms),
          coefficients_(scratch),
          estimates_(coefficients_ + problem.functions * width_),
          errors_(estimates_ + problem.functions * problem.parts),
          closeness_(errors_ + problem.functions * problem.parts),
          decided_(closeness_ + problem.functions),
          difference_(decided_ + problem.deciding_parts * problem.terms) {}

    // Writes closeness[f * stride] for each function f.
    void add(std::size_t order, std::size_t panel, double& sum, double& error, double* closeness,
             std::size_t stride) {
        order_ = order;
        panel_ = panel;
        const double* known = p_.known + panel * p_.parts * p_.moments;
        for (std::size_t f = 0; f < p_.functions; ++f) {
            interpolate(f, known);
            closeness[f * stride] = closeness_[f];
        }
        for (std::size_t part = 0; part < p_.parts; ++part) {
            const double count = known[part * p_.moments];
            if (count == 0.0) continue;
            std::size_t used = 0;
            for (std::size_t f = 1; f < p_.functions; ++f) {
                if (estimate(f, part) > estimate(used, part)) used = f;
            }
            double excess = 0.0;
            for (std::size_t f = 0; f < p_.functions; ++f) {
                if (f == used) continue;
                const double above =
                    greatest_excess(f, used, part) + closeness_[f] + closeness_[used];
                if (!(above <= excess)) excess = above;
            }
            sum += estimate(used, part);
            error += count * (closeness_[used] + errors_[used * p_.parts + part] + excess);
        }
    }

  private:
    const double* values(std::size_t f) const {
        return p_.values + ((f * p_.orders + order_) * p_.panels + panel_) * p_.nodes;
    }
    double& estimate(std::size_t f, std::size_t part) { return estimates_[f * p_.parts + part]; }

    // The function's sum over the elements of each part, and what is wrong with it per element.
    void interpolate(std::size_t f, const double* known) {
        const double* value = values(f);
        double close = p_.value_error * greatest_size(value, p_.nodes);
        if (p_.tails != nullptr) {
            close += p_.tails[(f * p_.orders + order_) * p_.panels + panel_];
        } else {
            expand(value, p_.nodes, p_.whole, p_.nodes, difference_);
            close += estimated_tail(difference_, p_.nodes);
        }
        closeness_[f] = close;
        double* coefficients = coefficients_ + f * width_;
        expand(value, p_.nodes, p_.summing, width_, coefficients);
        for (std::size_t part = 0; part < p_.parts; ++part) {
            const double* a = coefficients + part * p_.terms;
            const double* moment = known + part * p_.moments;
            double sum = 0.0, error = 0.0;
#pragma omp simd reduction(+ : sum, error)
            for (std::size_t k = 0; k < p_.moments; ++k) {
                sum += a[k] * moment[k];
                error += absolute(a[k]) * p_.roundings[k];
            }
            for (std::size_t k = p_.moments; k < p_.nodes; ++k) error += absolute(a[k]);
            estimate(f, part) = sum;
            errors_[f * p_.parts + part] = error;
        }
    }

    // By how much, at most, the interpolant of f exceeds that of g on a part.
    double greatest_excess(std::size_t f, std::size_t g, std::size_t part) {
        if (p_.parts == p_.deciding_parts) {
            const double* a = coefficients_ + f * width_ + part * p_.terms;
            const double* b = coefficients_ + g * width_ + part * p_.terms;
            for (std::size_t k = 0; k < p_.terms; ++k) difference_[k] = a[k] - b[k];
            return greatest_value(difference_, p_.terms);
        }
        const double* a = values(f);
        const double* b = values(g);
        for (std::size_t k = 0; k < p_.nodes; ++k) difference_[k] = a[k] - b[k];
        expand(difference_, p_.nodes, p_.deciding, p_.deciding_parts * p_.terms, decided_);
        double greatest = -__builtin_inf();
        for (std::size_t d = 0; d < p_.deciding_parts; ++d) {
            const double here = greatest_value(decided_ + d * p_.terms, p_.terms);
            if (!(here <= greatest)) greatest = here;
        }
        return greatest;
    }

    const PanelProblem& p_;
    std::size_t width_, order_ = 0, panel_ = 0;
    double *coefficients_, *estimates_, *errors_, *closeness_, *decided_, *difference_;
};

void sum_max(const PanelProblem& problem, double* scratch, const PanelSums& out) {
    Panel work(problem, scratch);
    const double terms =
        static_cast<double>(static_cast<int>(problem.panels * problem.parts + 2 * problem.nodes));
    for (std::size_t order = 0; order < problem.orders; ++order) {
        for (std::size_t panel = 0; panel < problem.panels; ++panel) {
            const std::size_t at = order * problem.panels + panel;
            double sum = 0.0, error = 0.0;
            work.add(order, panel, sum, error, out.closeness + at, problem.orders * problem.panels);
            out.sums[at] = sum;
            out.errors[at] = error + kEpsilon * terms * absolute(sum);
        }
    }
}

// max(0, every series) at x in [-1, 1], by Clenshaw's recurrence. `stride` doubles from one series
// to the next.
template <class V>
inline V greatest_at(const double* coefficients, std::size_t functions, std::size_t stride,
                     std::size_t terms, V x) {
    V greatest = {};
    const V two_x = x + x;
    for (std::size_t f = 0; f < functions; ++f) {
        const double* a = coefficients + f * stride;
        V next = {}, after = {};
        for (std::size_t k = terms - 1; k > 0; --k) {
            const V here = two_x * next - after + a[k];
            after = next;
            next = here;
        }
        const V value = x * next - after + a[0];
        greatest = value > greatest ? value : greatest;
    }
    return greatest;
}

// The sum of g over the elements of cells, and a bound of what is wrong with it, as V(count) each:
// g + bend x^2 is convex, so that g is at least its value at the mean less bend times the variance
// and at most the chord plus bend times (mean - left)(right - mean), at least the variance.
template <class V, class At>
inline void add_cells(V left, V mean, V right, V count, double bend, At at, V& sum, V& error) {
    const V middle = at(mean), width = right - left;
    const V share = width > 0.0 ? (mean - left) / width : V{};
    const V first = at(left);
    const V chord = width > 0.0 ? first + share * (at(right) - first) : middle;
    const V bent = bend * ((mean - left) * (right - mean));
    const V gap = 0.5 * (chord - middle) + bent;
    sum += count * (0.5 * (chord + middle));
    error += count * (gap > 0.0 ? gap : V{});
}

void excess(const ExcessProblem& p, double* sums, double* errors) {
    const std::size_t stride = p.panels * p.terms;
    for (std::size_t panel = 0; panel < p.panels; ++panel) {
        const double* coefficients = p.coefficients + panel * p.terms;
        // |T_k''| <= k^2 (k^2 - 1) / 3 and Clenshaw's error is below terms^2 roundings of the
        // sizes.
        double bend = 0.0, sizes = 0.0;
        for (std::size_t f = 0; f < p.functions; ++f) {
            double curvature = 0.0, size = 0.0, k = 0.0;
            for (std::size_t i = 0; i < p.terms; ++i, k += 1.0) {
                const double a = absolute(coefficients[f * stride + i]);
                curvature += a * (k * k * (k * k - 1.0) / 3.0);
                size += a;
            }
            bend = 0.5 * curvature > bend ? 0.5 * curvature : bend;
            sizes = size > sizes ? size : sizes;
        }
        const double centre = p.centre[panel], scale = 1.0 / p.half[panel];
        const auto at = [&](auto x) {
            return greatest_at(coefficients, p.functions, stride, p.terms, x);
        };
        Lanes sum = {}, error = {};
        double last_sum = 0.0, last_error = 0.0, elements = 0.0;
        std::size_t i = p.begin[panel];
        for (; i + kLanes <= p.end[panel]; i += kLanes) {
            const Lanes count = load_lanes(p.count + i);
            add_cells((load_lanes(p.left + i) - centre) * scale,
                      (load_lanes(p.mean + i) - centre) * scale,
                      (load_lanes(p.right + i) - centre) * scale, count, bend, at, sum, error);
            elements += lane_sum(count);
        }
        for (; i < p.end[panel]; ++i) {
            add_cells((p.left[i] - centre) * scale, (p.mean[i] - centre) * scale,
                      (p.right[i] - centre) * scale, p.count[i], bend, at, last_sum, last_error);
            elements += p.count[i];
        }
        const double cells = static_cast<double>(static_cast<int>(p.end[panel] - p.begin[panel]));
        const double terms = static_cast<double>(static_cast<int>(2 * p.terms * p.terms));
        sums[panel] = lane_sum(sum) + last_sum;
        errors[panel] = lane_sum(error) + last_error +
                        kEpsilon * ((terms + 16.0) * sizes * elements + cells * sums[panel]);
    }
}

}  // namespace

extern const PanelKernels TIGHTNOISE_AT_LEVEL(panel_kernels) = {sum_max, excess};

}  // namespace tightnoise
