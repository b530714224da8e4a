#include "cost/best_order.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "cost/curve_growth.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise {
namespace {

// The scan begins with alpha - 1 from 1 to 1000. It goes on below if the best of these is the
// first, and above unless the divergence, which does not decrease, excludes that larger orders do
// better: evaluating orders can take long, most of all those that nobody needs.
constexpr double kLow = 1e-3, kMiddle = 1.0, kHigh = 1e3, kHighest = 1e6;
constexpr std::size_t kScanned = 10;  // points a scan, with both ends
constexpr double kSameOrder = 1e-6;   // in x

// Successive parabolas converge in three or four rounds; corners take more, each round leaving at
// most half of the interval.
constexpr int kRounds = 60;

// Of epsilon, and of delta: half a decimal less than what is promised.
constexpr double kTolerance = 1e-11;

// Bounds can be rough by more than rounding, up to some 1e-9: then nothing more is gained by going
// on, once the interval is so small that nothing much can be. So many rounds without a gain end it.
constexpr int kIdleRounds = 3;
constexpr double kMuch = 1e4;  // in tolerances

// How far apart points are at least: relative to the interval that is left, and in x.
constexpr double kApart = 1e-4, kLeastApart = 1e-13;

struct Point {
    double x;  // log(alpha - 1): the best orders are as often below 1.1 as above 10
    double alpha;
    double rdp;
    double guide;  // the classic or canonne formula, neither clipped nor rounded upwards
    double value;  // what is minimised: the conversion itself
    bool known;    // whether value is that, or the guide in its place
};

double log_expm1(double k) {
    return k > 40.0 ? k : std::log(std::expm1(k));
}

// g of the header.
double entropy_term(Conversion conversion, double alpha) {
    if (conversion == Conversion::classic) return 0.0;
    return (alpha - 1.0) * std::log((alpha - 1.0) / alpha) - std::log(alpha);
}

bool guide_is_value(Conversion conversion) {
    return conversion == Conversion::classic || conversion == Conversion::canonne;
}

struct EpsilonGoal {
    Conversion conversion;
    double delta;

    double formula(double alpha, double k) const {
        return (k + entropy_term(conversion, alpha) - std::log(delta)) / (alpha - 1.0);
    }
    double upper(const Point& p) const { return epsilon_upper(conversion, p.alpha, p.rdp, delta); }
    double value(const Point& p) const { return upper(p); }
    bool certain(const Point& p) const { return p.alpha * delta >= 1.0; }
    // P = (1, 0) and Q = (e^-rdp, 1 - e^-rdp) have this divergence at all orders.
    double lowest_beyond(double rdp) const { return rdp + std::log1p(-delta); }
    double tolerance(const Point& p) const {
        const double terms = p.rdp - std::log(delta) / (p.alpha - 1.0);
        return kTolerance * std::abs(p.value) + 1e-15 * terms;
    }
};

struct DeltaGoal {
    Conversion conversion;
    double epsilon;

    double formula(double alpha, double k) const {
        if (!(k < kInfinity)) return kInfinity;
        return k + entropy_term(conversion, alpha) - (alpha - 1.0) * epsilon;
    }
    double upper(const Point& p) const { return delta_upper(conversion, p.alpha, p.rdp, epsilon); }
    // Where delta is clipped to 1, the way down is that of the guide.
    double value(const Point& p) const {
        const double delta = upper(p);
        return delta < 1.0 ? std::log(delta) : std::max(p.guide, 0.0);
    }
    bool certain(const Point& p) const { return p.guide + std::log(p.alpha) >= 0.0; }
    double lowest_beyond(double rdp) const {
        return rdp > epsilon ? std::log(-std::expm1(epsilon - rdp)) : -kInfinity;
    }
    double tolerance(const Point& p) const {
        return kTolerance + 1e-15 * (p.alpha - 1.0) * (p.rdp + epsilon);
    }
};

// The lowest point of the parabola through three points, as x and value.
struct Vertex {
    double x, value;
};

Vertex vertex(const Point& l, const Point& m, const Point& r) {
    const double left = m.x - l.x, right = r.x - m.x;
    const double slope_left = (m.value - l.value) / left, slope_right = (r.value - m.value) / right;
    const double curvature = (slope_right - slope_left) / (left + right);
    // The slope of the parabola at m.
    const double slope = (slope_left * right + slope_right * left) / (left + right);
    if (!(curvature > 0.0) || !std::isfinite(curvature)) {
        return {left > right ? m.x - 0.5 * left : m.x + 0.5 * right, kInfinity};
    }
    const double step = std::clamp(-slope / (2.0 * curvature), -0.5 * left, 0.5 * right);
    return {m.x + step, m.value + step * (slope + step * curvature)};
}

template <class Goal>
class Search {
  public:
    Search(const RdpFunction& function, const Goal& goal) : function_(function), goal_(goal) {}

    BestOrder best() {
        scan(kMiddle, kHigh, kScanned);
        std::size_t m = least();
        for (const double lower : {kLow, kLeastSearched}) {
            if (m == 0) scan(lower, points_.front().alpha - 1.0, kScanned);
            m = least();
        }
        for (const double higher : {kHighest, kGreatestSearched}) {
            const bool excluded = goal_.lowest_beyond(points_.back().rdp) > points_[m].value;
            const bool at_end = m + 1 == points_.size();
            if (at_end || (higher == kHighest && !excluded)) {
                scan(points_.back().alpha - 1.0, higher, kScanned);
            }
            m = least();
        }
        check_growth();
        m = least();
        const double first = points_.front().alpha, last = points_.back().alpha;
        zoom(m);
        const Point& best = points_[least()];
        const double value = goal_.upper(best);
        const bool at_end = best.alpha == first || best.alpha == last;
        return {value, best.alpha, at_end && value > 0.0 && value < kInfinity};
    }

  private:
    // Adds n points between the two, and both ends unless they are there.
    void scan(double from, double to, std::size_t n) {
        const double first = std::log(from), last = std::log(to);
        std::vector<double> x;
        for (std::size_t i = 0; i < n; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(n - 1);
            x.push_back(i + 1 == n ? last : first + share * (last - first));
        }
        const auto there = [this](double end) {
            return std::any_of(points_.begin(), points_.end(),
                               [end](const Point& p) { return std::abs(p.x - end) < kSameOrder; });
        };
        if (there(last)) x.pop_back();
        if (there(first)) x.erase(x.begin());
        add(x);
    }

    void add(const std::vector<double>& x) {
        const std::vector<Point> more = evaluated(x);
        points_.insert(points_.end(), more.begin(), more.end());
        std::sort(points_.begin(), points_.end(),
                  [](const Point& a, const Point& b) { return a.alpha < b.alpha; });
    }

    std::vector<Point> evaluated(const std::vector<double>& x) const {
        const std::size_t n = x.size();
        std::vector<double> alpha(n), rdp(n);
        for (std::size_t i = 0; i < n; ++i) alpha[i] = 1.0 + std::exp(x[i]);
        function_(alpha.data(), rdp.data(), n);
        std::vector<Point> points(n);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(rdp[i] >= 0.0)) {
                throw std::invalid_argument("a Renyi divergence must be at least 0; got " +
                                            std::to_string(rdp[i]));
            }
            const double guide = goal_.formula(alpha[i], (alpha[i] - 1.0) * rdp[i]);
            // x of the order as rounded, which near 1 is another.
            points[i] = {std::log(alpha[i] - 1.0),        alpha[i], rdp[i], guide, guide,
                         guide_is_value(goal_.conversion)};
        }
        return points;
    }

    void check_growth() const {
        std::vector<double> alpha, rdp;
        for (const Point& p : points_) {
            alpha.push_back(p.alpha);
            rdp.push_back(p.rdp);
        }
        const std::size_t where = first_decrease(alpha.data(), rdp.data(), rdp.size());
        if (where < rdp.size()) {
            throw std::invalid_argument(
                "a Renyi-DP curve is needed: (alpha - 1) times the bound never decreases, but does "
                "so before order " +
                std::to_string(alpha[where]));
        }
    }

    void learn(Point& p) const {
        if (p.known) return;
        p.value = goal_.value(p);
        p.known = true;
    }

    // The index of the best point; values are learned of all that could be it.
    std::size_t least() {
        const auto by_guide = [](const Point& a, const Point& b) { return a.guide < b.guide; };
        auto best = std::min_element(points_.begin(), points_.end(), by_guide);
        learn(*best);
        for (auto p = points_.begin(); p != points_.end(); ++p) {
            if (!p->known && (goal_.certain(*p) || lowest(*p) < best->value)) learn(*p);
            if (p->value < best->value) best = p;
        }
        return static_cast<std::size_t>(best - points_.begin());
    }

    // What closed_form and optimal cannot be below.
    double lowest(const Point& p) const {
        return goal_.formula(p.alpha, log_expm1((p.alpha - 1.0) * p.rdp));
    }

    // Narrows the interval between the neighbours of the best point, m.
    void zoom(std::size_t m) {
        int idle = 0;
        for (int round = 0; round < kRounds; ++round) {
            const std::size_t l = m > 0 ? m - 1 : m, r = std::min(m + 1, points_.size() - 1);
            const bool has_both = l < m && m < r;
            learn(points_[l]);
            learn(points_[r]);
            points_ = {points_.begin() + static_cast<std::ptrdiff_t>(l),
                       points_.begin() + static_cast<std::ptrdiff_t>(r) + 1};
            const Point best = points_[m - l];
            if (!std::isfinite(best.value)) return;
            const Vertex aim =
                has_both ? vertex(points_[0], points_[1], points_[2]) : Vertex{best.x, kInfinity};
            if (!insert_between(aim.x)) return;
            m = least();
            const double value = points_[m].value;
            // It is where it was predicted: the graph is a parabola here.
            if (std::abs(value - aim.value) <= goal_.tolerance(points_[m])) return;
            // The end of the range, or a graph as flat as the rounding.
            if (m == 0 || m + 1 == points_.size()) return;
            const double above = std::max(points_[m - 1].value, points_[m + 1].value);
            const double tolerance = goal_.tolerance(points_[m]);
            if (above - value <= tolerance) return;
            const bool gained = value < best.value - 10.0 * tolerance;
            idle = gained || above - value > kMuch * tolerance ? 0 : idle + 1;
            if (idle == kIdleRounds) return;
        }
    }

    // Adds points between the ends of the interval, ever closer to x and wide of it too; false if
    // there is no number between.
    bool insert_between(double x) {
        const double low = points_.front().x, high = points_.back().x, width = high - low;
        std::vector<double> candidates = {low + 0.25 * width, low + 0.5 * width, low + 0.75 * width,
                                          x};
        for (const double part : {6.0, 40.0, 256.0}) {
            candidates.push_back(x - width / part);
            candidates.push_back(x + width / part);
        }
        std::sort(candidates.begin(), candidates.end());
        // Points that nearly coincide differ in rounding alone, which must not decide between which
        // of them the search goes on.
        const double apart = std::max(kApart * width, kLeastApart);
        std::vector<double> chosen;
        double previous = points_.front().alpha;
        for (const double candidate : candidates) {
            const double alpha = 1.0 + std::exp(candidate);
            const bool is_new = std::all_of(points_.begin(), points_.end(), [&](const Point& p) {
                return std::abs(p.x - candidate) > apart;
            });
            const bool is_apart = chosen.empty() || candidate - chosen.back() > apart;
            if (!is_new || !is_apart) continue;
            if (!(alpha > previous && alpha < points_.back().alpha)) continue;
            chosen.push_back(candidate);
            previous = alpha;
        }
        if (chosen.empty()) return false;
        add(chosen);
        return true;
    }

    const RdpFunction& function_;
    Goal goal_;
    std::vector<Point> points_;  // by increasing order
};

}  // namespace

BestOrder best_epsilon(const RdpFunction& function, Conversion conversion, double delta) {
    return Search<EpsilonGoal>(function, {conversion, delta}).best();
}

BestOrder best_delta(const RdpFunction& function, Conversion conversion, double epsilon) {
    return Search<DeltaGoal>(function, {conversion, epsilon}).best();
}

}  // namespace tightnoise
