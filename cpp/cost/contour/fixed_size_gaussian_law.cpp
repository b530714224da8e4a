#include "cost/contour/fixed_size_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/fixed_size_gaussian_line.hpp"
#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/elementary.hpp"
#include "numeric/gauss_legendre.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;
using Rule = GaussLegendre<16>;

constexpr int kPoints = 16;
constexpr std::size_t kMostPanels = 4096;
constexpr double kMomentError = -28.0;               // log: of moments for searches and images
constexpr double kLogRoot = 0.91893853320467274178;  // log sqrt(2 pi)
constexpr double kLargestExponent = 600.0;
constexpr double kLogNothing = -150.0;  // of a node's weight: squares do not underflow
constexpr double kLogPruned = -64.5;    // of it, relative to the largest
constexpr double kPrunedLess = 7.0;     // log of how much less than may be missed
constexpr double kMostFrequencies = 6.6e5;
constexpr double kFunctions = 16.0;  // units u of a few elementary functions of one place

double log_sum(double a, double b) {
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

}  // namespace

FixedSizeGaussianLaw::FixedSizeGaussianLaw(double sigma, double rate)
    : mu_(1.0 / sigma),
      q_(rate),
      start_(0.5 * mu_),
      at_zero_((1.0 - q_) * std::erf(0.5 * mu_ / std::sqrt(2.0))) {}

// a is mu (z - z0).
double FixedSizeGaussianLaw::share(double offset) const {
    return share_of(q_, mu_ * offset);
}

FixedSizeGaussianLaw::Place FixedSizeGaussianLaw::place(Complex offset) const {
    const double a = mu_ * offset.real(), b = mu_ * offset.imag();
    const Ratio w = ratio_at(a, Shift(b), q_);
    const Complex loss(w.log_size, w.angle);
    const double share = std::exp(std::log(q_) + a - w.log_size);
    return {loss, kFunctions + 4.0 * share * std::hypot(a, b) / (std::abs(loss) + 1e-300)};
}

// log of w^power times the normal density but for 1/sqrt(2 pi), at a real place.
double FixedSizeGaussianLaw::log_density(double offset, double power) const {
    const double z = start_ + offset;
    return -0.5 * z * z + power * loss_of(q_, mu_ * offset);
}

double FixedSizeGaussianLaw::Cut::error(double at) const {
    return share_error(way * (at - offset) / width, at, offset, width);
}

double FixedSizeGaussianLaw::Cut::log_share(double at) const {
    return is_none() ? 0.0 : log_ndtr(way * (at - offset) / width);
}

// At infinity where no loss is so large. So narrow that e^(t L) does not bring back what it takes,
// as that of the sampled Gaussian.
FixedSizeGaussianLaw::Cut FixedSizeGaussianLaw::cut_at(const Split& split, double way) const {
    constexpr double kWidestCut = 0.7, kWidestByLoss = 0.25;
    double low = 0.0, high = 1.0;
    const auto loss_at = [&](double offset) { return place(offset).loss.real(); };
    while (high < 1e6 && loss_at(high) < split.cut) high *= 2.0;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (loss_at(middle) < split.cut ? low : high) = middle;
    }
    const double t = split.steepness, p = share(low);
    const double beyond = std::max(std::sqrt(-std::log(std::min(p, 0.999)) / t), 1.0 / t);
    const double width = std::min({kWidestByLoss, beyond, 1.0 / (t * p)}) / mu_;
    return {low, std::min(kWidestCut, width), way};
}

// At most w^power times the density from offset - least to offset + most, by slopes.
double FixedSizeGaussianLaw::log_peak(double offset, double least, double most,
                                      double power) const {
    const double p = power * share(offset), z = start_ + offset;
    const double rise = mu_ * std::max(p, power * share(offset + most));
    const double fall = -mu_ * std::min(p, power * share(offset - least));
    const double right = std::clamp(rise - z, 0.0, most), left = std::clamp(fall + z, 0.0, least);
    const double gain = std::max((rise - z - 0.5 * right) * right, (fall + z - 0.5 * left) * left);
    return log_density(offset, power) + std::max(gain, 0.0) + 1e-9;
}

// Of all integrands there, on the real axis.
double FixedSizeGaussianLaw::log_largest(const Integrand& of, double offset, double least,
                                         double most) const {
    const double share =
        std::max(of.cut.log_share(offset - least), of.cut.log_share(offset + most));
    return log_sum(share + log_peak(offset, least, most, of.is_falling ? 0.0 : 1.0 + of.t),
                   (of.has_negative ? 0.0 : share) + log_peak(offset, least, most, -of.t));
}

// By how much more at Im z up to `top` an integrand may be.
double FixedSizeGaussianLaw::log_growth(const Integrand& of, double top) const {
    const double spread = 1.0 + 1.0 / (of.cut.width * of.cut.width);
    return 0.5 * spread * top * top - of.t * log_cos(0.5 * mu_ * top);
}

// Of the rule's error on a panel, at all frequencies, next to the real axis up to most_y.
double FixedSizeGaussianLaw::log_error(const Integrand& of, const Panel& panel) const {
    const double half = 0.5 * panel.length, middle = panel.start + half;
    double best = kInfinite;
    for (const double rho : {1.4, 2.0, 2.8, 4.0, 5.8, 8.5}) {
        const double longer = 0.5 * half * (rho + 1.0 / rho),
                     wider = 0.5 * half * (rho - 1.0 / rho);
        const double along = panel.is_upright ? wider : longer;  // of the real axis
        const double centre = panel.is_upright ? 0.0 : middle;
        const double top = panel.is_upright ? middle + longer : panel.height + wider;
        const double beneath = panel.is_upright ? longer - middle : wider - panel.height;
        if (!(mu_ * top < kStrip * kPi)) break;
        double growth = log_growth(of, top);
        if (beneath > 0.0 && of.most_y > 0.0) {
            if (!(panel.is_upright && panel.start == 0.0)) break;  // others hold for any y
            const double b = mu_ * beneath, sine = std::sin(b), cosine = std::cos(b);
            if (!(b < 0.4 * kPi)) break;
            growth += of.most_y * turned(share(centre + along), sine, cosine);
        }
        best = std::min(best, growth + log_largest(of, centre, along, along) -
                                  2.0 * (kPoints - 1) * std::log(rho) -
                                  std::log1p(-1.0 / (rho * rho)));
    }
    return best + std::log(half * 2.0 * 64.0 / 15.0) - kLogRoot + 1e-9;
}

// Of all that integrands have on a panel.
double FixedSizeGaussianLaw::log_most(const Integrand& of, const Panel& panel) const {
    const double half = panel.is_upright ? 0.0 : 0.5 * panel.length;
    const double centre = panel.is_upright ? 0.0 : panel.start + half;
    const double top = panel.is_upright ? panel.start + panel.length : panel.height;
    return log_largest(of, centre, half, half) + log_growth(of, top) +
           std::log(2.0 * panel.length) - kLogRoot + 1e-9;
}

// Of both parts together on the first upright panel: section 9.2.
double FixedSizeGaussianLaw::log_most_of_bottom(const Integrand& of, double length) const {
    const double t = of.t, turn = mu_ * length;
    const double lost = 2.0 * q_ * (1.0 - q_) * (1.0 - std::cos(turn));  // 1 - |w|^2
    const double shrunk = -0.5 * std::log1p(-lost);                      // -Re l
    const double ratio = 0.5 * turn * turn / ((1.0 - lost) * std::sin(turn));
    double most = (1.0 + 2.0 * t) * shrunk + turn + 2.0 * ratio / std::exp(1.0);
    if (!of.cut.is_none()) {
        const ComplexShare taken{of.cut.offset, of.cut.width, of.cut.way};
        most += std::exp(taken.log_most(0.0, length)) * (1.0 + ratio);
    }
    return std::log(length * most) + t * shrunk + 0.5 * (length - start_) * (length + start_) -
           kLogRoot + 1e-9;
}

double FixedSizeGaussianLaw::end(double t) const {
    const double mode = mu_ * (1.0 + t) - start_;
    return std::max(mode, 1.0) + kRange;
}

double FixedSizeGaussianLaw::log_height(const Integrand& of) const {
    constexpr double kSteps = 100.0;
    const double last = end(of.t);
    double largest = of.cut.is_none() ? 0.0 : -kInfinite;
    for (double offset = 0.0; offset <= last; offset += last / kSteps) {
        largest = std::max(largest, log_density(offset, 1.0 + of.t) + of.cut.log_share(offset));
    }
    return largest;
}

// Halves panels until the errors of all are below e^log_wanted; what has less in all goes.
std::optional<FixedSizeGaussianLaw::Panels> FixedSizeGaussianLaw::panels(const Integrand& of,
                                                                         std::vector<Panel> open,
                                                                         double log_wanted) const {
    double whole = 0.0;
    for (const Panel& panel : open) whole += panel.length;
    Panels made{{}, log_wanted, 0.0};
    while (!open.empty()) {
        const Panel panel = open.back();
        open.pop_back();
        const double wanted = log_wanted + std::log(panel.length / whole);
        const double error = log_error(of, panel), most = log_most(of, panel);
        const bool goes = most <= wanted;
        if (goes || error <= wanted) {
            made.missing += std::exp((goes ? most : error) - log_wanted);
            if (!goes) made.panels.push_back(panel);
            continue;
        }
        if (made.panels.size() + open.size() > kMostPanels || !(panel.length > 1e-12 * whole)) {
            return std::nullopt;
        }
        const double half = 0.5 * panel.length;
        open.push_back({panel.start + half, half, panel.height, panel.is_upright});
        open.push_back({panel.start, half, panel.height, panel.is_upright});
    }
    return made;
}

// M - 1 is the mean of (r^(1 + t) - 1)(1 - r^-t), r = e^loss: terms of one sign.
Moment FixedSizeGaussianLaw::moment_within(const Integrand& of, double log_wanted) const {
    const double t = of.t;
    const Moment crude{mu_ * mu_ * t * (t + 1.0) * 2.0, kInfinite, mu_ * mu_ * t, mu_ * mu_};
    const double unit = std::max(log_height(of), 0.0);
    const auto made = panels(of, {{0.0, end(t), 0.0, false}}, log_wanted + unit);
    if (!made) return crude;
    struct Term {
        double logarithm, log_above, log_below, loss, error;
    };
    std::vector<Term> terms;
    double largest = -kInfinite;
    for (const Panel& panel : made->panels) {
        for (int k = 0; k < kPoints; ++k) {
            const double offset = panel.start + panel.length * Rule::nodes[k];
            const Place at = place(offset);
            const double z = start_ + offset, loss = at.loss.real();
            const double base = std::log(panel.length * Rule::weights[k]) - kLogRoot - 0.5 * z * z +
                                of.cut.log_share(offset);
            const double up = (1.0 + t) * loss, down = t * loss;
            const double log_up = up > 40.0 ? up : std::log(expm1(up));
            const double log_down = std::log(-expm1(-down));
            if (!(loss > 0.0) || !(down > 0.0)) continue;  // t = 0: M = 1
            const double error = 6.0 * z * z + 4.0 * offset * z +
                                 (2.0 + up + down) * (at.error + 2.0) + 24.0 + of.cut.error(offset);
            const double logarithm = base + log_up + log_down;
            terms.push_back(
                {logarithm, base + up, base - down, loss, error + 4.0 * std::fabs(logarithm)});
            largest = std::max(largest, base + up);
        }
    }
    const double scale = std::max(0.0, largest - kLargestExponent);
    double sum = 0.0, error = 0.0, first = 0.0, second = 0.0;
    for (const Term& term : terms) {
        const double value = exp(term.logarithm - scale);
        const double above = exp(term.log_above - scale), below = exp(term.log_below - scale);
        sum += value;
        error += value * term.error;
        first += term.loss * (above - below);
        second += term.loss * term.loss * (above + below);
    }
    const double outside = 2.0 * kOutside;  // of M
    const Interval lacking = of.is_part ? lacking_moment(t, log_wanted) : Interval{0.0, 0.0};
    const double middle = 0.5 * (lacking.lower + lacking.upper);
    const double less = std::exp(-scale), above_one = sum - middle * less;
    const double whole = above_one + less, n = static_cast<double>(terms.size());
    const double absolute = 1.01 * (kUnit * (error + n * sum + 2.0 * middle * less) +
                                    made->missed(scale) + (lacking.upper - middle) * less) +
                            outside * whole;
    const double value = scale > 0.0 ? scale + std::log(whole) : log1p(above_one);
    const double slope = first / whole;
    return {value, absolute / whole + 8.0 * kUnit * std::fabs(value), slope,
            std::max(second / whole - slope * slope, 0.0)};
}

Moment FixedSizeGaussianLaw::moment(double t) const {
    return moment_within({t, top_, 0.0, false, !top_.is_none()}, kMomentError);
}

// M_a - 1 is at most the same mean over the share of smaller losses: what the others lack, as much
// of r^-t - r - 1, is below 0.
double FixedSizeGaussianLaw::log_small_moment(double t, const Split& split) const {
    if (!top_.is_none()) return kInfinite;  // no part has parts
    const Moment moment = moment_within({t, cut_at(split, -1.0)}, kMomentError);
    return moment.value + (moment.error < kInfinite ? moment.error : 0.0);
}

// The means of functions of the loss over the share that a cut takes.
template <class Function>
std::optional<Interval> FixedSizeGaussianLaw::mean_above(const Integrand& of, double log_wanted,
                                                         Function function) const {
    // Nodes' places are wrong by 2u of themselves, which counts their hazard, less than 10, by the
    // width of the cut.
    const double off = 1e-12 + 40.0 * kUnit * (of.cut.offset + 1.0) / of.cut.width;
    const double last = end(of.is_falling ? 0.0 : of.t);
    const auto made = panels(of, {{0.0, last, 0.0, false}}, log_wanted);
    if (!made) return std::nullopt;
    double sum = 0.0;
    for (const Panel& panel : made->panels) {
        for (int k = 0; k < kPoints; ++k) {
            const double offset = panel.start + panel.length * Rule::nodes[k];
            const Place at = place(offset);
            const double z = start_ + offset;
            sum += panel.length * Rule::weights[k] *
                   std::exp(-0.5 * z * z - kLogRoot + of.cut.log_share(offset)) *
                   function(at.loss.real());
        }
    }
    const double missing = made->missed(0.0) + kOutside;
    return Interval{std::max(sum * (1.0 - off) - missing, 0.0), sum * (1.0 + off) + missing};
}

Masses FixedSizeGaussianLaw::larger(const Split& split) const {
    if (split.is_none()) return {};
    if (split.is_zero()) {
        const Interval moved{1.0 - at_zero_ - 8.0 * kUnit, 1.0 - at_zero_ + 8.0 * kUnit};
        return {moved, moved};
    }
    const Integrand of{0.0, cut_at(split, 1.0)};
    const double log_wanted = log_height(of) + kMomentError;
    const auto mass = mean_above(of, log_wanted, [](double loss) { return std::exp(loss); });
    const auto swapped = mean_above(of, log_wanted, [](double) { return 1.0; });
    const Interval unknown{0.0, 1.0};
    return {mass.value_or(unknown), swapped.value_or(unknown)};
}

// That of the law without losses above the cut of a split: its P and Q are no probabilities.
std::shared_ptr<const Law> FixedSizeGaussianLaw::part_below(const Split& split) const {
    auto made = std::make_shared<FixedSizeGaussianLaw>(*this);
    made->lacking_ = larger(split);
    made->top_ = cut_at(split, -1.0);
    if (!(made->lacking_.mass.upper < 0.5)) return nullptr;
    return made;
}

// What M(t) lacks of 1 and of the mean over smaller losses: that of r + 1 - r^-t over larger ones.
Interval FixedSizeGaussianLaw::lacking_moment(double t, double log_wanted) const {
    if (top_.is_none()) return {0.0, 0.0};
    Integrand of{t, {top_.offset, top_.width, 1.0}};
    of.is_falling = true;
    const auto rest = mean_above(of, std::log(lacking_.swapped.upper) + log_wanted,
                                 [&](double loss) { return -expm1(-t * loss); });
    const Interval between = rest.value_or(Interval{0.0, lacking_.swapped.upper});
    return {lacking_.mass.lower + between.lower, lacking_.mass.upper + between.upper};
}

// The pair is symmetric; what is left out only lessens it.
double FixedSizeGaussianLaw::log_swapped_moment(double t) const {
    const Moment known = moment_within({t}, kMomentError);
    return known.value + (known.error < kInfinite ? known.error : 0.0);
}

double FixedSizeGaussianLaw::spread_within(double window, double t, double log_moment) const {
    constexpr int kCells = 16;
    const auto loss_at = [&](double offset) { return place(offset).loss.real(); };
    double low = 0.0, high = end(0.0);
    if (loss_at(high) > 0.5 * window) {
        for (int i = 0; i < 50; ++i) {
            const double middle = 0.5 * (low + high);
            (loss_at(middle) < 0.5 * window ? low : high) = middle;
        }
        high = low;
    }
    struct Cell {
        double low, high, weight;
    };
    std::vector<Cell> cells{{0.0, 0.0, at_zero_ * std::exp(-log_moment)}};
    for (int k = 0; k < kCells; ++k) {
        const double left = high * k / kCells, right = high * (k + 1) / kCells;
        const double z_left = start_ + left, z_right = start_ + right;
        const double fall = 0.5 * (z_left - z_right) * (z_left + z_right);
        const double factor = std::log(right - left) - kLogRoot - log_moment;
        const double loss_left = loss_at(left), loss_right = loss_at(right);
        const double above = log_density(left, 1.0 + t) + fall + factor + top_.log_share(right);
        const double below = log_density(right, -t) + factor;
        cells.push_back({loss_left, loss_right, std::exp(above)});
        cells.push_back({-loss_right, -loss_left, std::exp(below)});
    }
    double sum = 0.0;
    for (const Cell& one : cells) {
        for (const Cell& other : cells) {
            const double gap = std::max(one.low - other.high, 0.0);
            sum += 2.0 * one.weight * other.weight * gap * gap;
        }
    }
    return sum * (1.0 - 1e-6);
}

// Relative to e^log_moment; with a cut, positive losses above it only.
std::optional<FixedSizeGaussianLaw::Path> FixedSizeGaussianLaw::path(const Integrand& of,
                                                                     double log_moment,
                                                                     double log_wanted) const {
    constexpr double kHighest = 0.8, kMostTurned = 0.4 * kPi, kMostGrown = 2.5;
    const double t = of.t;
    const bool has_cut = !of.cut.is_none(), is_large = has_cut && !of.has_negative;
    double height = std::min({kHighest, kMostTurned / mu_, kMostGrown / (mu_ * std::sqrt(t))});
    if (has_cut) height = std::min(height, kMostOfWidth * of.cut.width);
    std::vector<Panel> open{{0.0, end(t), height, false}};
    // From the real axis on, so close to it that nothing turns much, twice as long each.
    const double turning = mu_ * share(0.0) * of.most_y;
    double length = height;
    while (length * turning > 4.0) length *= 0.5;
    open.push_back({0.0, length, 0.0, true});
    for (double from = length; from < 0.9 * height; from *= 2.0) {
        open.push_back({from, from, 0.0, true});
    }
    const double unit = is_large ? log_height(of) : log_moment;
    const auto all = panels(of, std::move(open), log_wanted + unit);
    if (!all) return std::nullopt;
    const ComplexShare share{of.cut.offset, has_cut ? of.cut.width : 1.0, -of.cut.way};
    struct Node {
        Complex loss, above, below;  // logarithms of weights
        double error;
        bool is_upright;
    };
    std::vector<Node> nodes;
    double highest = -kInfinite, of_loss = 0.0;
    for (const Panel& panel : all->panels) {
        for (int k = 0; k < kPoints; ++k) {
            const double along = panel.start + panel.length * Rule::nodes[k];
            const Complex offset =
                panel.is_upright ? Complex(0.0, along) : Complex(along, panel.height);
            const Place at = place(offset);
            const double x = start_ + offset.real(), y = offset.imag();
            Complex base(std::log(panel.length * Rule::weights[k]) - kLogRoot - log_moment -
                             0.5 * (x - y) * (x + y),
                         (panel.is_upright ? 0.5 * kPi : 0.0) - x * y);
            Complex above = base + (1.0 + t) * at.loss;
            const Complex below = base - t * at.loss;
            double error = 0.0;
            if (has_cut) {
                above += share.log(offset.real(), y);
                error = share.error(offset.real());
            }
            const double size = std::abs(at.loss), z = std::hypot(x, y);
            error += 6.0 * z * z + 4.0 * std::abs(offset) * z +
                     (1.0 + t) * size * (at.error + 4.0) + 4.0 * std::fabs(log_moment) +
                     2.0 * std::max(std::abs(above), std::abs(below)) + 40.0;
            nodes.push_back({at.loss, above, below, error, panel.is_upright});
            highest =
                std::max(highest, is_large ? above.real() : std::max(above.real(), below.real()));
            of_loss = std::max(of_loss, at.error);
        }
    }
    const double least =
        std::max(highest + std::max(log_wanted - kPrunedLess, kLogPruned), kLogNothing);
    Path made;
    double left_out = 0.0;
    const auto keep = [&](ShiftedNodes& to, const Node& node, Complex exponent) {
        const double modulus = std::exp(std::max(exponent.real(), -700.0));
        if (!(exponent.real() >= least)) {
            left_out += modulus;
            return Complex(0.0);
        }
        const Complex weight(modulus * std::cos(exponent.imag()),
                             modulus * std::sin(exponent.imag()));
        to.loss.push_back(node.loss.real());
        to.damping.push_back(std::max(node.loss.imag(), 0.0));
        to.real.push_back(weight.real());
        to.imaginary.push_back(weight.imag());
        to.error.push_back(node.error);
        return weight;
    };
    for (const Node& node : nodes) {
        const Complex above = keep(made.above, node, node.above);
        const Complex below = is_large ? 0.0 : keep(made.below, node, node.below);
        if (node.is_upright && !is_large) {
            made.tail.add_pair(node.loss, above, below);
        } else {
            made.tail.add(node.loss, std::abs(above) + std::abs(below));
        }
    }
    for (const Panel& panel : all->panels) {
        if (!panel.is_upright || panel.start > 0.0) continue;
        const double bottom =
            is_large ? log_most(of, panel)
                     : std::min(log_most(of, panel), log_most_of_bottom(of, panel.length));
        made.tail.add_constant(std::exp(bottom - log_moment));
    }
    const double outside = 2.0 * kOutside * std::exp(log_growth(of, height));
    const double missed = 1.01 * (all->missed(log_moment) + left_out) + outside;
    for (ShiftedNodes* part : {&made.above, &made.below}) {
        part->loss_error = of_loss;
        part->missing = is_large ? missed : 0.5 * missed;
    }
    made.tail.add_constant(missed);
    return made;
}

std::unique_ptr<Line> FixedSizeGaussianLaw::line(const LineRequest& request) const {
    const bool is_all = request.split.is_zero();
    if (!top_.is_none() && !request.split.is_none() && !is_all) return nullptr;
    const double t = request.tilt;
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    const Moment moment =
        moment_within({t, top_, 0.0, false, !top_.is_none()}, log_error - std::log1p(t));
    if (!(moment.error < kInfinite)) return nullptr;
    const double log_wanted = std::clamp(request.log_missing, -300.0, -30.0);
    const double most_y = std::max(request.reach, kMostFrequencies * request.step);
    const auto whole = path({t, top_, most_y, true}, moment.value, log_wanted);
    const auto large =
        request.split.is_none() || is_all
            ? Path{}
            : path({t, cut_at(request.split, 1.0), most_y}, moment.value, log_wanted);
    if (!whole || !large) return nullptr;
    const auto sum = [&](const ShiftedNodes& nodes, double centre) {
        return ShiftedSum(nodes, centre, request.step);
    };
    return std::make_unique<FixedSizeGaussianLine>(
        *this, request, moment,
        FixedSizeGaussianLine::Parts{sum(whole->above, moment.slope),
                                     sum(whole->below, -moment.slope),
                                     sum(large->above, moment.slope), whole->tail, large->tail,
                                     at_zero_ * std::exp(-moment.value), most_y, is_all});
}

// One release: in closed form by the base profile.
std::optional<Interval> FixedSizeGaussianLaw::profile(double x) const {
    if (!top_.is_none()) return std::nullopt;
    return sampled_profile(Direction::remove, q_, x, [&](double at) {
        constexpr double kRounded = 2.0 * kUnit;  // of mu
        return Interval{gaussian_profile_bounds(mu_ * (1.0 - kRounded), at).lower,
                        gaussian_profile_bounds(mu_ * (1.0 + kRounded), at).upper};
    });
}

}  // namespace tightnoise::contour
