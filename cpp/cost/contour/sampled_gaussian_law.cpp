#include "cost/contour/sampled_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_line.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kPruned = 1e-28;         // of M: nodes that are left out, and counted
constexpr double kMostNodes = 0x1p17;     // of one line
constexpr std::size_t kFrequencies = 16;  // for a sine and a cosine a node
// log: of moments for searches and images, of all releases together, and of one.
constexpr double kMomentsError = -12.0, kFinestMoment = -32.0, kMomentError = -24.0;
}  // namespace

// On an exact grid.
struct SampledGaussianLaw::Nodes {
    std::vector<double> z, excess, loss, log_weight;  // excess = w - 1, loss = log w
};

double SampledGaussianLaw::share(double z) const {
    return share_of(q_, z / sigma_ - 0.5 / (sigma_ * sigma_));
}

double SampledGaussianLaw::loss(double z) const {
    return loss_of(q_, z / sigma_ - 0.5 / (sigma_ * sigma_));
}

SampledGrid SampledGaussianLaw::grid() const {
    return {q_, sigma_, 0.0, 0.0, 0.0, 0.0, top_.z, is_remove() ? top_.width : -top_.width};
}

std::optional<SampledGaussianLaw::ExactGrid> SampledGaussianLaw::exact_grid(const Interval& ends,
                                                                            double width) const {
    const auto [low, high] = ends;
    int exponent;
    const double mantissa = std::frexp(width / sigma_, &exponent);
    const double spacing = std::ldexp(std::floor(std::ldexp(mantissa, 24)), exponent - 24);
    const double middle = 0.5 / sigma_;
    const double first = std::floor((low - middle) / (sigma_ * spacing));
    const double count = std::ceil((high - middle) / (sigma_ * spacing)) - first + 1.0;
    if (!(count <= kMostNodes && std::fabs(first) < 0x1p28)) return std::nullopt;
    return ExactGrid{first, spacing, static_cast<std::size_t>(count)};
}

std::optional<SampledGaussianLaw::Nodes> SampledGaussianLaw::nodes(const Interval& ends,
                                                                   double width) const {
    const auto places = exact_grid(ends, width);
    if (!places) return std::nullopt;
    const std::size_t n = places->count;
    Nodes made;
    for (auto* column : {&made.z, &made.excess, &made.loss, &made.log_weight}) {
        column->resize(n);
    }
    SampledGrid grid = this->grid();
    grid.middle = 0.5 / sigma_;
    grid.first = places->first;
    grid.spacing = places->spacing;
    grid.log_step = std::log(sigma_ * places->spacing * 0.39894228040143267794);
    sampled_kernels().nodes(
        grid, n, {made.z.data(), made.excess.data(), made.loss.data(), made.log_weight.data()});
    return made;
}

namespace {

// Relative error of e^(log weight + order loss), in units u.
double weight_error(double z, double sigma, double order_times_loss) {
    return 3.0 * z * z + std::fabs(z) / sigma + 10.0 * std::fabs(order_times_loss) + 12.0;
}

}  // namespace

double SampledGaussianLaw::top_error(double z) const {
    const double t = (is_remove() ? top_.z - z : z - top_.z) / top_.width;
    return share_error(t, z, top_.z, top_.width);
}

// Jensen: w^u <= 1 - q + q e^(a u).
Moment SampledGaussianLaw::crude_moment(double t) const {
    const double u = order(t), exponent = 0.5 * u * (u - 1.0) / (sigma_ * sigma_);
    const double bound = exponent < kLogOverflow ? std::log1p(q_ * std::expm1(exponent))
                                                 : exponent + std::log(q_) + 1e-9;
    return {bound * (1.0 + 1e-14), kInfinity, t / (sigma_ * sigma_), 1.0 / (sigma_ * sigma_)};
}

Moment SampledGaussianLaw::moment_on(const Nodes& grid, double t, double log_error) const {
    const double u = order(t);
    const Tilted law = tilted(grid.log_weight, grid.loss, u);
    return plain_moment(grid, law.weight, law.log_sum, u, std::exp(log_error));
}

Moment SampledGaussianLaw::moment(double t) const {
    const double u = order(t);
    const auto grid = nodes(range(u), step(u, 0.0, kMomentError));
    return grid ? moment_on(*grid, t, kMomentError) : crude_moment(t);
}

// The nodes of the last tilt, which serve others of which the range is no wider, nor the step.
struct SampledGaussianLaw::Grid : Law::Memory {
    explicit Grid(double log_error_of_moment) : log_error(log_error_of_moment) {}
    double log_error;
    Interval ends{0.0, 0.0};
    double width = 0.0;
    std::optional<Nodes> nodes;
};

std::unique_ptr<Law::Memory> SampledGaussianLaw::memory(double count) const {
    return std::make_unique<Grid>(std::max(kMomentsError - std::log(count), kFinestMoment));
}

Moment SampledGaussianLaw::recalled_moment(double t, Memory* memory) const {
    constexpr double kRoom = 1.3;  // beside what is asked for
    auto& grid = static_cast<Grid&>(*memory);
    const double u = order(t), width = step(u, 0.0, grid.log_error);
    const Interval ends = range(u);
    const bool serves = grid.nodes && ends.lower >= grid.ends.lower &&
                        ends.upper <= grid.ends.upper && width >= grid.width;
    const double own = (ends.upper - ends.lower) / width;
    if (!serves || static_cast<double>(grid.nodes->z.size()) > 4.0 * own + 64.0) {
        grid.ends = {ends.lower * (ends.lower < 0.0 ? kRoom : 1.0),
                     ends.upper * (ends.upper > 0.0 ? kRoom : 1.0)};
        grid.width = width / kRoom;
        grid.nodes = nodes(grid.ends, grid.width);
        if (!grid.nodes) return moment(t);
    }
    return moment_on(*grid.nodes, t, grid.log_error);
}

// Of nodes with weights g_j and log M; what the rule misses is given relative to M.
Moment SampledGaussianLaw::plain_moment(const Nodes& grid, const std::vector<double>& weight,
                                        double log_sum, double u, double missed) const {
    const auto [mean, square, error] = sampled_kernels().sums(
        this->grid(), weight.size(), weight.data(), grid.z.data(), grid.loss.data(), u);
    const double rounding =
        kUnit * (error + static_cast<double>(weight.size()) + 4.0 * std::fabs(log_sum));
    return {log_sum, rounding + 3.0 * (missed + kOutside), is_remove() ? mean : -mean,
            std::max(square - mean * mean, 0.0)};
}

// As exactly as it is known.
Moment SampledGaussianLaw::exact_moment(const Nodes& grid, double t, double log_error) const {
    const double u = order(t);
    const Tilted law = tilted(grid.log_weight, grid.loss, u);
    const Moment plain = plain_moment(grid, law.weight, law.log_sum, u, 2.0 * std::exp(log_error));
    if (!(law.log_sum < 1.0)) return plain;
    return lacking_ > 0.0 ? trimmed_moment(grid, t, plain, log_error)
                          : careful_moment(grid, t, plain, log_error);
}

double SampledGaussianLaw::log_error(const LineRequest& request) {
    return std::clamp(std::log(request.error), -300.0, -30.0) - std::log1p(request.tilt);
}

std::optional<Moment> SampledGaussianLaw::moment_at(const LineRequest& request) const {
    const double u = order(request.tilt), error = log_error(request);
    const auto grid = nodes(range(u), step(u, 0.0, error));
    return grid ? std::optional(exact_moment(*grid, request.tilt, error)) : std::nullopt;
}

// K where it is small, from terms that are all of one sign: section 5.2.
Moment SampledGaussianLaw::careful_moment(const Nodes& grid, double t, const Moment& plain,
                                          double log_error) const {
    double sum = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double loss = grid.loss[j];
        const double term = careful_term(direction_, t, {grid.excess[j], loss}, grid.log_weight[j]);
        sum += term;
        error += term * (weight_error(grid.z[j], sigma_, 2.0 * t * loss) + 50.0);
    }
    const double discrete = (2.0 + 2.0 * t) * (std::exp(log_error) + 2.0 * kOutside);
    const double absolute = kUnit * (error + static_cast<double>(n) * sum) + discrete * (1.0 + sum);
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = absolute / (1.0 + sum) + 4.0 * kUnit * moment.value;
    return moment;
}

// The same of a trimmed law: M - 1 = E[e^(t L) - 1] over what is kept, less the mass that is not.
Moment SampledGaussianLaw::trimmed_moment(const Nodes& grid, double t, const Moment& plain,
                                          double log_error) const {
    const double sign = is_remove() ? 1.0 : -1.0;
    double sum = 0.0, size = 0.0, error = 0.0;
    const std::size_t n = grid.loss.size();
    for (std::size_t j = 0; j < n; ++j) {
        const double gain = sign * t * grid.loss[j];
        const double under_p = grid.log_weight[j] + (is_remove() ? grid.loss[j] : 0.0);
        const double term = gain > 300.0 ? exp(under_p + gain) : expm1(gain) * exp(under_p);
        sum += term;
        size += std::fabs(term);
        error += std::fabs(term) * (weight_error(grid.z[j], sigma_, 2.0 * t * grid.loss[j]) +
                                    top_error(grid.z[j]) + 50.0);
    }
    sum -= lacking_;
    const double discrete = 2.0 * (std::exp(log_error) + 2.0 * kOutside);
    const double absolute =
        kUnit * (error + static_cast<double>(n) * size) + discrete * (2.0 + sum) + 1e-11 * lacking_;
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = absolute / (1.0 + sum) + 4.0 * kUnit * std::fabs(moment.value);
    return moment;
}

std::unique_ptr<Line> SampledGaussianLaw::line(const LineRequest& request) const {
    constexpr double kMany = 500.0;  // nodes on the real axis, that others serve better
    const double u = order(request.tilt);
    const Interval ends = range(u);
    const bool is_plain =
        request.split.is_none() &&
        (ends.upper - ends.lower) / crude_step(u, request.reach, std::log(request.error)) < kMany;
    return is_plain ? plain_line(request) : shifted_line(request);
}

std::unique_ptr<Line> SampledGaussianLaw::plain_line(const LineRequest& request) const {
    const double u = order(request.tilt);
    const Interval ends = range(u);
    const double sign = is_remove() ? 1.0 : -1.0;
    const double log_error = SampledGaussianLaw::log_error(request);
    const double missed = 2.0 * std::exp(log_error) + kOutside;
    SampledGaussianLine::Details details;
    details.width = step(u, request.reach, log_error);
    details.spread = 1.0 + top_.spread();
    const auto grid = nodes(ends, details.width);
    if (!grid) return nullptr;
    const Tilted law = tilted(grid->log_weight, grid->loss, u);
    TiltedNodes kept{{}, {}, {}, 9.0, 0.0, request.step};
    kept.block = kFrequencies;
    for (std::size_t j = 0; j < grid->loss.size(); ++j) {
        const double g = law.weight[j], loss = grid->loss[j], z = grid->z[j];
        if (g < kPruned) {
            details.left_out += g;
            continue;
        }
        kept.loss.push_back(sign * loss);
        kept.weight.push_back(g);
        kept.error.push_back(weight_error(z, sigma_, u * loss) + top_error(z));
        details.share.push_back(share(z));
    }
    kept.missing = 2.0 * (missed + details.left_out);
    details.left_out += kOutside;
    return std::make_unique<SampledGaussianLine>(std::move(kept),
                                                 exact_moment(*grid, request.tilt, log_error),
                                                 sigma_, u, std::move(details));
}

// One release: the base profile in closed form, at an argument bounded from both sides.
std::optional<Interval> SampledGaussianLaw::profile(double x) const {
    if (lacking_ > 0.0) return std::nullopt;
    return sampled_profile(direction_, q_, x,
                           [&](double at) { return gaussian_profile_bounds(1.0 / sigma_, at); });
}

}  // namespace tightnoise::contour
