#include "cost/contour/replaced_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/replaced_gaussian_line.hpp"
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
constexpr double kFarOut = 300.0;       // of a: next to q e^a, 1 - q is nothing
constexpr double kLogNothing = -150.0;  // of a node's weight: squares do not underflow
constexpr double kLogPruned = -64.5;    // of it, relative to the largest
constexpr double kPrunedLess = 7.0;     // log of how much less than may be missed
constexpr double kMostFrequencies = 6.6e4;
constexpr double kFunctions = 16.0;  // units u of a few elementary functions of one place

// e^z - 1
Complex complex_expm1(Complex z) {
    const double half = std::sin(0.5 * z.imag());
    return {expm1(z.real()) * std::cos(z.imag()) - 2.0 * half * half,
            exp(z.real()) * std::sin(z.imag())};
}

// log(1 + z), which keeps the digits of small z; no more than half a turn.
Complex complex_log1p(Complex z) {
    const double r = z.real(), s = z.imag();
    const double size = std::fabs(r) < 1e8 && std::fabs(s) < 1e8 && r > -0.5
                            ? 0.5 * log1p(2.0 * r + r * r + s * s)
                            : std::log(std::hypot(1.0 + r, s));
    return {size, std::atan2(s, 1.0 + r)};
}

double log_sum(double a, double b) {
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

}  // namespace

ReplacedGaussianLaw::ReplacedGaussianLaw(double sigma, double rate, Sampling sampling)
    : mu_(1.0 / sigma),
      q_(rate),
      half_square_(0.5 * mu_ * mu_),
      start_(sampling == Sampling::fixed_size ? 0.5 * mu_ : 0.0),
      sampling_(sampling) {
    if (is_fixed()) at_zero_ = (1.0 - q_) * std::erf(0.5 * mu_ / std::sqrt(2.0));
}

// a of the record that is there is mu (z - mu/2), which is mu (z - z0) where the size is fixed.
double ReplacedGaussianLaw::share_above(double offset) const {
    return share_of(q_, mu_ * offset - (is_fixed() ? 0.0 : half_square_));
}

double ReplacedGaussianLaw::share_below(double offset) const {
    return is_fixed() ? 0.0 : share_of(q_, -mu_ * offset - half_square_);
}

ReplacedGaussianLaw::Place ReplacedGaussianLaw::place(Complex offset) const {
    const double a = mu_ * offset.real(), b = mu_ * offset.imag();
    const double size = std::hypot(a, b);
    if (is_fixed()) {
        const Ratio w = ratio_at(a, Shift(b), q_);
        const Complex loss(w.log_size, w.angle);
        const double share = std::exp(std::log(q_) + a - w.log_size);
        return {0.0, loss, 0.0, kFunctions + 4.0 * share * size / (std::abs(loss) + 1e-300)};
    }
    const double h = half_square_;
    const Ratio w = ratio_at(-a - h, Shift(-b), q_);
    const Complex other(w.log_size, w.angle), below = std::exp(other);
    const double lost = std::exp(std::log(q_) - a - h - w.log_size);  // |p| of the other
    const double of_other = kFunctions * std::abs(other) + lost * (4.0 * size + 4.0 * (size + h));
    if (a - h > kFarOut) {
        const Complex loss = Complex(std::log(q_) + a - h, b) - other;
        return {other, loss, of_other,
                kFunctions + (4.0 * size + 4.0 * (size + h) + of_other) / std::abs(loss)};
    }
    // w_+ - w_- = q e^(a - h) (1 - e^(-2a)), and the loss is log(1 + that/w_-).
    const Complex change =
        -q_ * exp(a - h) * Complex(std::cos(b), std::sin(b)) * complex_expm1({-2.0 * a, -2.0 * b});
    const Complex ratio = change / below, loss = complex_log1p(ratio);
    const double moved =
        std::abs(ratio / (1.0 + ratio)) * (kFunctions + of_other + 4.0 * (size + h));
    const double share = std::exp(std::log(q_) + a - h - loss.real() - w.log_size);
    return {other, loss, of_other,
            kFunctions + (moved + 4.0 * size * (share + lost)) / (std::abs(loss) + 1e-300)};
}

// log of w_+^above w_-^below times the normal density but for 1/sqrt(2 pi), at a real place.
double ReplacedGaussianLaw::log_density(double offset, double above, double below) const {
    const double z = start_ + offset, a = mu_ * offset - (is_fixed() ? 0.0 : half_square_);
    const double other = is_fixed() ? 0.0 : loss_of(q_, -mu_ * offset - half_square_);
    return -0.5 * z * z + above * loss_of(q_, a) + below * other;
}

double ReplacedGaussianLaw::Cut::error(double at) const {
    return share_error(way * (at - offset) / width, at, offset, width);
}

double ReplacedGaussianLaw::Cut::log_share(double at) const {
    return is_none() ? 0.0 : log_ndtr(way * (at - offset) / width);
}

// At infinity where no loss is so large. So narrow that e^(t L) does not bring back what it takes,
// as that of the sampled Gaussian.
ReplacedGaussianLaw::Cut ReplacedGaussianLaw::cut_at(const Split& split, double way) const {
    constexpr double kWidestCut = 0.7, kWidestByLoss = 0.25;
    double low = 0.0, high = 1.0;
    const auto loss_at = [&](double offset) { return place(offset).loss.real(); };
    while (high < 1e6 && loss_at(high) < split.cut) high *= 2.0;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (loss_at(middle) < split.cut ? low : high) = middle;
    }
    const double t = split.steepness, p = share_above(low) + share_below(low);
    const double beyond = std::max(std::sqrt(-std::log(std::min(p, 0.999)) / t), 1.0 / t);
    const double width = std::min({kWidestByLoss, beyond, 1.0 / (t * p)}) / mu_;
    return {low, std::min(kWidestCut, width), way};
}

// At most w_+^above w_-^below times the density from offset - least to offset + most, by slopes.
double ReplacedGaussianLaw::log_peak(double offset, double least, double most, double above,
                                     double below) const {
    const double p_low = above * share_above(offset - least), p = above * share_above(offset);
    const double p_high = above * share_above(offset + most);
    const double n_low = below * share_below(offset - least), n = below * share_below(offset);
    const double n_high = below * share_below(offset + most);
    const double rise = mu_ * (std::max(p, p_high) - std::min(n, n_high));
    const double fall = mu_ * (std::max(n, n_low) - std::min(p, p_low));
    const double z = start_ + offset;
    const double right = std::clamp(rise - z, 0.0, most), left = std::clamp(fall + z, 0.0, least);
    const double gain = std::max((rise - z - 0.5 * right) * right, (fall + z - 0.5 * left) * left);
    return log_density(offset, above, below) + std::max(gain, 0.0) + 1e-9;
}

// Of all integrands there, on the real axis.
double ReplacedGaussianLaw::log_largest(const Integrand& of, double offset, double least,
                                        double most) const {
    const double share =
        std::max(of.cut.log_share(offset - least), of.cut.log_share(offset + most));
    return log_sum(
        share + log_peak(offset, least, most, 1.0 + of.t, -of.t),
        (of.has_negative ? 0.0 : share) + log_peak(offset, least, most, -of.t, 1.0 + of.t));
}

// By how much more at Im z up to `top` an integrand may be.
double ReplacedGaussianLaw::log_growth(const Integrand& of, double top) const {
    const double spread = 1.0 + 1.0 / (of.cut.width * of.cut.width);
    return 0.5 * spread * top * top - of.t * log_cos(0.5 * mu_ * top);
}

// Of the rule's error on a panel, at all frequencies, next to the real axis up to most_y.
double ReplacedGaussianLaw::log_error(const Integrand& of, const Panel& panel) const {
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
            growth += of.most_y * (turned(share_above(centre + along), sine, cosine) +
                                   turned(share_below(centre - along), sine, cosine));
        }
        best = std::min(best, growth + log_largest(of, centre, along, along) -
                                  2.0 * (kPoints - 1) * std::log(rho) -
                                  std::log1p(-1.0 / (rho * rho)));
    }
    return best + std::log(half * 2.0 * 64.0 / 15.0) - kLogRoot + 1e-9;
}

// Of all that integrands have on a panel.
double ReplacedGaussianLaw::log_most(const Integrand& of, const Panel& panel) const {
    const double half = panel.is_upright ? 0.0 : 0.5 * panel.length;
    const double centre = panel.is_upright ? 0.0 : panel.start + half;
    const double top = panel.is_upright ? panel.start + panel.length : panel.height;
    return log_largest(of, centre, half, half) + log_growth(of, top) +
           std::log(2.0 * panel.length) - kLogRoot + 1e-9;
}

double ReplacedGaussianLaw::end(double t) const {
    const double mode = mu_ * (1.0 + t + t * share_below(0.0)) - start_;
    return std::max(mode, 1.0) + kRange;
}

double ReplacedGaussianLaw::log_height(const Integrand& of) const {
    constexpr double kSteps = 100.0;
    const double last = end(of.t);
    double largest = of.cut.is_none() ? 0.0 : -kInfinite;
    for (double offset = 0.0; offset <= last; offset += last / kSteps) {
        largest =
            std::max(largest, log_density(offset, 1.0 + of.t, -of.t) + of.cut.log_share(offset));
    }
    return largest;
}

// Halves panels until the errors of all are below e^log_wanted; what has less in all goes.
std::optional<ReplacedGaussianLaw::Panels> ReplacedGaussianLaw::panels(const Integrand& of,
                                                                       std::vector<Panel> open,
                                                                       double log_wanted) const {
    double whole = 0.0;
    for (const Panel& panel : open) whole += panel.length;
    Panels made;
    while (!open.empty()) {
        const Panel panel = open.back();
        open.pop_back();
        const double wanted = log_wanted + std::log(panel.length / whole);
        const double error = log_error(of, panel), most = log_most(of, panel);
        if (std::min(error, most) <= wanted) {
            made.missing += std::exp(std::min(error, most));
            if (!(most <= wanted)) made.panels.push_back(panel);
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
Moment ReplacedGaussianLaw::moment_within(const Integrand& of, double log_wanted) const {
    const double t = of.t;
    const Moment crude{mu_ * mu_ * t * (t + 1.0) * 2.0, kInfinite, mu_ * mu_ * t, mu_ * mu_};
    const double unit = std::max(log_height(of), 0.0);
    const auto made = panels(of, {{0.0, end(t), 0.0, false}}, log_wanted + unit);
    if (!made) return crude;
    const double missing = made->missing;
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
                                at.log_other.real() + of.cut.log_share(offset);
            const double up = (1.0 + t) * loss, down = t * loss;
            const double log_up = up > 40.0 ? up : std::log(expm1(up));
            const double log_down = std::log(-expm1(-down));
            if (!(loss > 0.0) || !(down > 0.0)) continue;  // t = 0: M = 1
            const double error = 6.0 * z * z + 4.0 * offset * z + at.error_of_other +
                                 (2.0 + up + down) * (at.error_of_loss + 2.0) + 24.0 +
                                 of.cut.error(offset);
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
                                    (missing + lacking.upper - middle) * less) +
                            outside * whole;
    const double value = scale > 0.0 ? scale + std::log(whole) : log1p(above_one);
    const double slope = first / whole;
    return {value, absolute / whole + 8.0 * kUnit * std::fabs(value), slope,
            std::max(second / whole - slope * slope, 0.0)};
}

Moment ReplacedGaussianLaw::moment(double t) const {
    return moment_within({t, top_, 0.0, false, !top_.is_none()}, kMomentError);
}

// M_a - 1 is at most the same mean over the share of smaller losses: what the others lack, as much
// of r^-t - r - 1, is below 0.
double ReplacedGaussianLaw::log_small_moment(double t, const Split& split) const {
    if (!top_.is_none()) return kInfinite;  // no part has parts
    const Moment moment = moment_within({t, cut_at(split, -1.0)}, kMomentError);
    return moment.value + (moment.error < kInfinite ? moment.error : 0.0);
}

// The means of functions of the loss over the share that a cut takes.
template <class Function>
std::optional<Interval> ReplacedGaussianLaw::mean_above(const Integrand& of, double log_wanted,
                                                        Function function) const {
    // Nodes' places are wrong by 2u of themselves, which counts their hazard, less than 10, by the
    // width of the cut.
    const double off = 1e-12 + 40.0 * kUnit * (of.cut.offset + 1.0) / of.cut.width;
    const auto made = panels(of, {{0.0, end(of.t), 0.0, false}}, log_wanted);
    if (!made) return std::nullopt;
    double sum = 0.0;
    for (const Panel& panel : made->panels) {
        for (int k = 0; k < kPoints; ++k) {
            const double offset = panel.start + panel.length * Rule::nodes[k];
            const Place at = place(offset);
            const double z = start_ + offset;
            sum +=
                panel.length * Rule::weights[k] *
                std::exp(at.log_other.real() - 0.5 * z * z - kLogRoot + of.cut.log_share(offset)) *
                function(at.loss.real());
        }
    }
    const double missing = made->missing + kOutside;
    return Interval{std::max(sum * (1.0 - off) - missing, 0.0), sum * (1.0 + off) + missing};
}

Masses ReplacedGaussianLaw::larger(const Split& split) const {
    if (split.is_none()) return {};
    const Integrand of{0.0, cut_at(split, 1.0)};
    const double log_wanted = log_height(of) + kMomentError;
    const auto mass = mean_above(of, log_wanted, [](double loss) { return std::exp(loss); });
    const auto swapped = mean_above(of, log_wanted, [](double) { return 1.0; });
    const Interval unknown{0.0, 1.0};
    return {mass.value_or(unknown), swapped.value_or(unknown)};
}

// That of the law without losses above the cut of a split: its P and Q are no probabilities.
std::shared_ptr<const Law> ReplacedGaussianLaw::part_below(const Split& split) const {
    auto made = std::make_shared<ReplacedGaussianLaw>(*this);
    made->lacking_ = larger(split);
    made->top_ = cut_at(split, -1.0);
    if (!(made->lacking_.mass.upper < 0.5)) return nullptr;
    return made;
}

// What M(t) lacks of 1 and of the mean over smaller losses: that of r + 1 - r^-t over larger ones.
Interval ReplacedGaussianLaw::lacking_moment(double t, double log_wanted) const {
    if (top_.is_none()) return {0.0, 0.0};
    const Integrand of{t, {top_.offset, top_.width, 1.0}};
    const auto rest = mean_above(of, std::log(lacking_.swapped.upper) + log_wanted,
                                 [&](double loss) { return -expm1(-t * loss); });
    const Interval between = rest.value_or(Interval{0.0, lacking_.swapped.upper});
    return {lacking_.mass.lower + between.lower, lacking_.mass.upper + between.upper};
}

// The pair is symmetric; what is left out only lessens it.
double ReplacedGaussianLaw::log_swapped_moment(double t) const {
    const Moment known = moment_within({t}, kMomentError);
    return known.value + (known.error < kInfinite ? known.error : 0.0);
}

double ReplacedGaussianLaw::spread_within(double window, double t, double log_moment) const {
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
    std::vector<Cell> cells;
    if (is_fixed()) cells.push_back({0.0, 0.0, at_zero_ * std::exp(-log_moment)});
    for (int k = 0; k < kCells; ++k) {
        const double left = high * k / kCells, right = high * (k + 1) / kCells;
        const double z_left = start_ + left, z_right = start_ + right;
        const double fall = 0.5 * (z_left - z_right) * (z_left + z_right);
        const double factor = std::log(right - left) - kLogRoot - log_moment;
        const double loss_left = loss_at(left), loss_right = loss_at(right);
        const double above = log_density(left, 1.0 + t, -t) + fall + factor + top_.log_share(right);
        const double below = log_density(right, -t, 1.0 + t) + factor;
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
std::optional<ReplacedGaussianLaw::Path> ReplacedGaussianLaw::path(const Integrand& of,
                                                                   double log_moment,
                                                                   double log_wanted) const {
    constexpr double kHighest = 0.8, kMostTurned = 0.4 * kPi, kMostGrown = 2.5;
    const double t = of.t;
    const bool has_cut = !of.cut.is_none(), is_large = has_cut && !of.has_negative;
    double height = std::min({kHighest, kMostTurned / mu_, kMostGrown / (mu_ * std::sqrt(t))});
    if (has_cut) height = std::min(height, kMostOfWidth * of.cut.width);
    std::vector<Panel> open{{0.0, end(t), height, false}};
    // From the real axis on, so close to it that nothing turns much, twice as long each.
    const double turning = mu_ * (share_above(0.0) + share_below(0.0)) * of.most_y;
    double length = height;
    while (length * turning > 4.0) length *= 0.5;
    open.push_back({0.0, length, 0.0, true});
    for (double from = length; from < 0.9 * height; from *= 2.0) {
        open.push_back({from, from, 0.0, true});
    }
    const double unit = is_large ? log_height(of) : log_moment;
    const auto all = panels(of, std::move(open), log_wanted + unit);
    if (!all) return std::nullopt;
    Path made;
    for (const Panel& panel : all->panels) {
        if (panel.is_upright && panel.start == 0.0) {
            made.bottom = std::exp(log_most(of, panel) - log_moment);
        }
    }
    const ComplexShare share{of.cut.offset, has_cut ? of.cut.width : 1.0, -of.cut.way};
    struct Node {
        Complex loss, above, below;  // logarithms of weights
        double error;
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
            base += at.log_other;
            Complex above = base + (1.0 + t) * at.loss;
            const Complex below = base - t * at.loss;
            double error = 0.0;
            if (has_cut) {
                above += share.log(offset.real(), y);
                error = share.error(offset.real());
            }
            const double size = std::abs(at.loss), z = std::hypot(x, y);
            error += 6.0 * z * z + 4.0 * std::abs(offset) * z + at.error_of_other +
                     (1.0 + t) * size * (at.error_of_loss + 4.0) + 4.0 * std::fabs(log_moment) +
                     2.0 * std::max(std::abs(above), std::abs(below)) + 40.0;
            nodes.push_back({at.loss, above, below, error});
            highest =
                std::max(highest, is_large ? above.real() : std::max(above.real(), below.real()));
            of_loss = std::max(of_loss, at.error_of_loss);
        }
    }
    const double least =
        std::max(highest + std::max(log_wanted - kPrunedLess, kLogPruned), kLogNothing);
    double left_out = 0.0;
    const auto keep = [&](ShiftedNodes& to, const Node& node, Complex exponent) {
        const double modulus = std::exp(std::max(exponent.real(), -700.0));
        if (!(exponent.real() >= least)) {
            left_out += modulus;
            return;
        }
        to.loss.push_back(node.loss.real());
        to.damping.push_back(std::max(node.loss.imag(), 0.0));
        to.real.push_back(modulus * std::cos(exponent.imag()));
        to.imaginary.push_back(modulus * std::sin(exponent.imag()));
        to.error.push_back(node.error);
    };
    for (const Node& node : nodes) {
        keep(made.above, node, node.above);
        if (!is_large) keep(made.below, node, node.below);
    }
    const double outside = 2.0 * kOutside * std::exp(log_growth(of, height));
    const double missed = 1.01 * (all->missing * std::exp(-log_moment) + left_out) + outside;
    for (ShiftedNodes* part : {&made.above, &made.below}) {
        part->loss_error = of_loss;
        part->missing = is_large ? missed : 0.5 * missed;
    }
    return made;
}

std::unique_ptr<Line> ReplacedGaussianLaw::line(const LineRequest& request) const {
    if (!top_.is_none() && !request.split.is_none()) return nullptr;
    const double t = request.tilt;
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0);
    const Moment moment =
        moment_within({t, top_, 0.0, false, !top_.is_none()}, log_error - std::log1p(t));
    if (!(moment.error < kInfinite)) return nullptr;
    const double log_wanted = std::clamp(request.log_missing, -300.0, -30.0);
    const double most_y = std::max(request.reach, kMostFrequencies * request.step);
    const auto whole = path({t, top_, most_y, true}, moment.value, log_wanted);
    const auto large = request.split.is_none() ? Path{}
                                               : path({t, cut_at(request.split, 1.0), most_y},
                                                      moment.value, log_wanted);
    if (!whole || !large) return nullptr;
    const auto sum = [&](const ShiftedNodes& nodes, double centre) {
        return ShiftedSum(nodes, centre, request.step);
    };
    return std::make_unique<ReplacedGaussianLine>(
        *this, request, moment,
        ReplacedGaussianLine::Parts{
            sum(whole->above, moment.slope), sum(whole->below, -moment.slope),
            sum(large->above, moment.slope), at_zero_ * std::exp(-moment.value), whole->bottom,
            large->bottom, most_y});
}

// One release: of a fixed size in closed form by the base profile; the other by
// costs/_grouped_gaussian.py, where the error is derived.
std::optional<Interval> ReplacedGaussianLaw::profile(double x) const {
    if (!top_.is_none()) return std::nullopt;
    if (is_fixed()) {
        return sampled_profile(Direction::remove, q_, x, [&](double at) {
            constexpr double kRounded = 2.0 * kUnit;  // of mu
            return Interval{gaussian_profile_bounds(mu_ * (1.0 - kRounded), at).lower,
                            gaussian_profile_bounds(mu_ * (1.0 + kRounded), at).upper};
        });
    }
    constexpr double kFar = 37.0, kLarge = 300.0;
    const double log_growth = x > 0.0 ? std::log(-expm1(-x)) + x : -kInfinite;
    const double log_b = std::log1p(-q_) + log_growth;
    const double log_sinh = log_b - 0.5 * x - std::log(2.0 * q_) + half_square_;
    const double arc =
        log_sinh > kLarge ? log_sinh + std::log(2.0) : std::asinh(std::exp(log_sinh));
    const double at = (0.5 * x + arc) / mu_;
    if (at > mu_ + kFar) return Interval{0.0, 1e-298};
    const double first = q_ * std::exp(log_ndtr(mu_ - at));
    const double rest = std::exp(log_b + log_ndtr(-at));
    const double swapped = std::exp(std::log(q_) + x + log_ndtr(-mu_ - at));
    const double part = kUnit * (64.0 + 8.0 * (x + (at + mu_) * (at + mu_) - std::log(q_)));
    const double value = first - rest - swapped, error = 3.0 * part * first;
    return Interval{std::max(value - error, 0.0), std::min(value + error, 1.0)};
}

}  // namespace tightnoise::contour
