#include "cost/contour/grouped_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <queue>
#include <utility>

#include "cost/contour/complex_share.hpp"
#include "cost/contour/grouped_gaussian_line.hpp"
#include "cost/contour/sampled_gaussian_strip.hpp"
#include "cost/contour/sampled_pair.hpp"
#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"
#include "numeric/normal.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr double kMostNodes = 0x1p13;                // of one line
constexpr double kMomentError = -46.0;               // log: of moments for searches and images
constexpr double kBoundError = -30.0;                // log: of those that only bound
constexpr double kWidestShift = 1.0;                 // farther, weights lose digits to each other
constexpr double kMostTurned = 0.95 * kPi;           // of all records together
constexpr double kPruned = 1e-28;                    // of M: nodes that are left out, and counted
constexpr double kLogNothing = -150.0;               // of a weight: squares do not underflow
constexpr double kCounted = 0x1p53;                  // cells beyond could be halved for ever
constexpr double kLogRoot = 0.91893853320467274178;  // log sqrt(2 pi)
constexpr double kLargest = 300.0;                   // of an exponent: its sum is taken as it is
constexpr double kDepth = 80.0;                      // e^-kDepth of the rest: far nodes that go
constexpr double kShortest = 2.0;                    // of z: cells of far nodes
constexpr double kMargin = 1e-14;                    // relative: of bounds that are rounded up
constexpr double kFarFromCut = 13.0;                 // in its widths

double log_both(double a, double b) {
    const double most = std::max(a, b);
    return most == -kInfinite ? most : most + std::log1p(std::exp(std::min(a, b) - most));
}

}  // namespace

// --- one data set's records

GroupSide::GroupSide(double mu, double rate, int records, double way) : mu_(mu), way_(way) {
    const double n = records, log_rate = std::log(rate), log_rest = std::log1p(-rate);
    double log_choices = 0.0;
    for (int j = 0; j <= records; ++j) {
        if (j > 0) log_choices += std::log((n - j + 1.0) / j);
        log_weight_.push_back(log_choices + j * log_rate + (n - j) * log_rest);
        weight_.push_back(std::exp(log_weight_.back()));
    }
    weight_error_ = 8.0 + 8.0 * n * (1.0 - log_rate - log_rest);
}

GroupSide::Turns GroupSide::turns(double angle) const {
    Turns made{angle, {}, {}, {}};
    for (int j = 0; j <= records(); ++j) {
        const double half = std::sin(0.5 * j * angle);
        made.sine.push_back(std::sin(j * angle));
        made.cosine.push_back(std::cos(j * angle));
        made.versine.push_back(2.0 * half * half);
    }
    return made;
}

double GroupSide::exponent(double z, int j) const {
    return j * mu_ * (way_ * z - 0.5 * j * mu_);
}

double GroupSide::exponent_size(double z, int j) const {
    return 4.0 * j * mu_ * (std::fabs(z) + j * mu_);
}

double GroupSide::largest_exponent(double z) const {
    const double peak = std::round(way_ * z / mu_), n = records();
    return exponent(z, static_cast<int>(std::clamp(peak, 0.0, n)));
}

// sum_j p_j e^(j a - j^2 mu^2/2) (1 - e^(-2 j a)), a = way mu z + i b.
std::optional<GroupSide::Difference> GroupSide::less_opposite(double z, const Turns& turns,
                                                              const Turns& twice) const {
    if (largest_exponent(z) > kLargest) return std::nullopt;
    Difference made{0.0, 0.0};
    for (int j = 1; j <= records(); ++j) {
        const double less = expm1(-2.0 * j * mu_ * way_ * z), rest = 1.0 + less;
        const double grown = weight_[j] * exp(exponent(z, j));
        const Complex change(rest * twice.versine[j] - less, rest * twice.sine[j]);
        const Complex term = grown * Complex(turns.cosine[j], turns.sine[j]) * change;
        made.value += term;
        made.error += std::abs(term) * (exponent_size(z, j) + weight_error_ + 60.0 + records()) +
                      grown * rest * (exponent_size(z, j) + 12.0 * j * twice.angle);
    }
    return made;
}

// The density is 1 + sum_j p_j (e^.. - 1), which keeps the digits of its logarithm near 1.
GroupSide::Value GroupSide::at(double z, const Turns& turns) const {
    const int n = records();
    if (n == 0) return {0.0, 0.0, 0.0};
    if (largest_exponent(z) > kLargest) return direct(z, turns);
    double real = 0.0, imaginary = 0.0, size = 0.0;
    for (int j = 1; j <= n; ++j) {
        const double p = weight_[j], less = expm1(exponent(z, j)), grown = 1.0 + less;
        const double turned = j * turns.angle;
        real += p * (less * turns.cosine[j] - turns.versine[j]);
        imaginary += p * grown * turns.sine[j];
        size += p * (grown * (exponent_size(z, j) + 12.0 * turned) +
                     (std::fabs(less) + turns.versine[j] + grown * std::min(turned, 1.0)) *
                         (weight_error_ + 16.0 + n));
    }
    if (real < -0.5) return direct(z, turns);
    const double modulus = std::hypot(1.0 + real, imaginary);
    const double log_size = std::max(real, std::fabs(imaginary)) < 1e8
                                ? 0.5 * log1p(2.0 * real + real * real + imaginary * imaginary)
                                : std::log(modulus);
    const double angle = std::atan2(imaginary, 1.0 + real);
    return {log_size, angle, size / modulus + 8.0 * (std::fabs(log_size) + angle)};
}

// As a sum of all terms.
GroupSide::Value GroupSide::direct(double z, const Turns& turns) const {
    const int n = records();
    double largest = -kInfinite;
    for (int j = 0; j <= n; ++j) largest = std::max(largest, log_weight_[j] + exponent(z, j));
    double real = 0.0, imaginary = 0.0, size = 0.0;
    for (int j = 0; j <= n; ++j) {
        const double logarithm = log_weight_[j] + exponent(z, j) - largest;
        const double term = std::exp(logarithm);
        real += term * turns.cosine[j];
        imaginary += term * turns.sine[j];
        size += term * (exponent_size(z, j) + 12.0 * j * turns.angle + weight_error_ + 16.0 + n +
                        2.0 * (std::fabs(logarithm) + std::fabs(largest)));
    }
    const double modulus = std::hypot(real, imaginary);
    const double log_size = largest + std::log(modulus), angle = std::atan2(imaginary, real);
    return {log_size, angle, size / modulus + 8.0 * (std::fabs(log_size) + angle)};
}

void GroupSide::shares(double z, double* to) const {
    const int n = records();
    double largest = -kInfinite, total = 0.0;
    for (int j = 0; j <= n; ++j) {
        to[j] = log_weight_[j] + exponent(z, j);
        largest = std::max(largest, to[j]);
    }
    for (int j = 0; j <= n; ++j) total += to[j] = std::exp(to[j] - largest);
    for (int j = 0; j <= n; ++j) to[j] /= total;
}

double GroupSide::mean(double z) const {
    std::vector<double> share(weight_.size());
    shares(z, share.data());
    double sum = 0.0;
    for (int j = 1; j <= records(); ++j) sum += j * share[j];
    return sum;
}

// sum_j s_j (log p_j + exponent_j - log s_j) with the shares s_j there, or any that add up to 1.
GroupSide::Tangent GroupSide::tangent(double z) const {
    std::vector<double> share(weight_.size());
    shares(z, share.data());
    Tangent made{0.0, 0.0, 0.0};
    for (int j = 0; j <= records(); ++j) {
        const double s = share[j], shift = j * mu_;
        if (!(s > 0.0)) continue;
        made.intercept += s * (log_weight_[j] - std::log(s) - 0.5 * shift * shift);
        made.slope += s * way_ * shift;
        made.error += s * (weight_error_ + 16.0 * (1.0 + std::fabs(log_weight_[j]) +
                                                   std::fabs(std::log(s)) + shift * shift + shift));
    }
    made.error *= 4.0 + records();
    return made;
}

// Of N(j way mu, 1), with the probability of j.
double GroupSide::mean_above(double z, double width) const {
    double sum = 0.0;
    for (int j = 0; j <= records(); ++j) {
        sum += weight_[j] * ndtr((j * way_ * mu_ - z) / std::sqrt(1.0 + width * width));
    }
    return sum;
}

double GroupSide::log_some(double z) const {
    double largest = -kInfinite, total = 0.0;
    for (int j = 1; j <= records(); ++j) {
        add_exponential(log_weight_[j] + exponent(z, j), largest, total);
    }
    return records() > 0 ? largest + std::log(total) : -kInfinite;
}

double GroupSide::some_above(double z, double log_factor) const {
    double sum = 0.0;
    for (int j = 1; j <= records(); ++j) {
        sum += std::exp(log_weight_[j] + log_factor + log_ndtr(j * way_ * mu_ - z));
    }
    return sum;
}

// --- the law

GroupedGaussianLaw::GroupedGaussianLaw(double sigma, double rate, int ours, int theirs)
    : mu_(1.0 / sigma), q_(rate), ours_(mu_, rate, ours, 1.0), theirs_(mu_, rate, theirs, -1.0) {}

// z -> -z.
GroupedGaussianLaw GroupedGaussianLaw::swapped() const {
    return GroupedGaussianLaw(1.0 / mu_, q_, theirs_.records(), ours_.records());
}

double GroupedGaussianLaw::log_growth(double t, double d) const {
    return 0.5 * d * d - theirs_.records() * t * log_cos(0.5 * mu_ * d);
}

// B, turned by no more than pi/2, is still at least its first term, and B^-t has a mean of at least
// 1, or of almost that where only smaller losses count: section 10.2.
double GroupedGaussianLaw::log_growth_in_all(double t, double d, const Cut* cut) const {
    const double anywhere = log_growth(t, d);
    if (!(mu_ * d < 0.5 * kPi)) return anywhere;
    double lost = theirs_.most_loss();
    if (cut && cut->way < 0.0) {
        lost -= log_ndtr(cut->middle / std::sqrt(1.0 + cut->width * cut->width));
    }
    return std::min(anywhere, 0.5 * d * d + t * lost * (1.0 + 1e-9) + 1e-9);
}

GroupedGaussianLaw::Turns GroupedGaussianLaw::turns(double tau) const {
    return {ours_.turns(mu_ * tau), theirs_.turns(mu_ * tau), ours_.turns(2.0 * mu_ * tau)};
}

// The loss is the difference of two logarithms, of which next to no digit may be left where both
// data sets have as many records: there it is that of 1 and the difference of both by the one.
GroupedGaussianLaw::Place GroupedGaussianLaw::place(double z, const Turns& turns) const {
    constexpr double kNear = 0.5;
    const GroupSide::Value ours = ours_.at(z, turns.ours), theirs = theirs_.at(z, turns.theirs);
    const double turned = ours.angle + theirs.angle;
    Place made{ours, theirs, {ours.log_size - theirs.log_size, turned}, 0.0};
    made.error_of_loss = ours.error + theirs.error + 4.0 * std::abs(made.loss);
    if (ours_.records() != theirs_.records() || !(turned < kPi)) return made;
    // At -z the loss is that at z, but for the sign of its real part.
    const double way = z < 0.0 ? -1.0 : 1.0;
    const GroupSide::Value& below = z < 0.0 ? ours : theirs;
    const auto less = ours_.less_opposite(way * z, turns.ours, turns.twice);
    if (!less) return made;
    const Complex ratio = less->value * std::exp(Complex(-below.log_size, below.angle));
    if (!(std::abs(ratio) < kNear)) return made;
    const double real = ratio.real(), imaginary = ratio.imag();
    made.loss = {way * 0.5 * log1p(2.0 * real + real * real + imaginary * imaginary),
                 std::atan2(imaginary, 1.0 + real)};
    made.error_of_loss =
        2.0 * (less->error * std::exp(-below.log_size) + std::abs(ratio) * (below.error + 16.0)) +
        8.0 * std::abs(made.loss);
    return made;
}

double GroupedGaussianLaw::loss_at(double z) const {
    return place(z, turns(0.0)).loss.real();
}

// So narrow that e^(t L) does not bring back what it takes, as that of the sampled Gaussian.
std::optional<GroupedGaussianLaw::Cut> GroupedGaussianLaw::cut_at(const Split& split,
                                                                  double way) const {
    constexpr double kWidestCut = 0.7, kWidestByLoss = 0.25;
    double low = -1.0 - theirs_.records() * mu_, high = 1.0;
    while (high < 1e6 && loss_at(high) < split.cut) high *= 2.0;
    if (!(loss_at(high) >= split.cut)) return std::nullopt;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (loss_at(middle) < split.cut ? low : high) = middle;
    }
    const double t = split.steepness, p = ours_.mean(high) + theirs_.mean(high);
    const double beyond = std::max(std::sqrt(-std::log(std::min(p, 0.999)) / t), 1.0 / t);
    const double width = std::min({kWidestByLoss, beyond, 1.0 / (t * p)}) / mu_;
    return Cut{high, std::min(kWidestCut, width), way};
}

double GroupedGaussianLaw::step(double t, double log_error, const Cut* cut) const {
    const double top = std::min(kWidest, kStrip * kPi / mu_), spread = cut ? cut->spread() : 0.0;
    double best = 0.0;
    for (double d = top; d > 1e-4 * top; d *= 0.85) {
        const double growth = log_growth_in_all(t, d, cut) + 0.5 * spread * d * d;
        const double width = 2.0 * kPi * d / (growth + std::log(2.1) - log_error);
        if (width < 0.5 * best) break;
        best = std::max(best, width);
    }
    return best;
}

// At most the logarithm of the integrand of M, without a cut, on an interval: by its slopes, of
// which the mean number of ours rises, and that of theirs falls.
double GroupedGaussianLaw::log_most(double t, double low, double high) const {
    const double above = (1.0 + t) * mu_, below = t * mu_, length = high - low;
    const double rise = std::max(above * ours_.mean(high) + below * theirs_.mean(low) - low, 0.0);
    const double fall = std::max(high - above * ours_.mean(low) - below * theirs_.mean(high), 0.0);
    return std::min(log_integrand(low, t) + rise * length * (1.0 + kMargin),
                    log_integrand(high, t) + fall * length * (1.0 + kMargin)) +
           1e-9;
}

// Rounded up.
double GroupedGaussianLaw::log_integrand(double z, double t) const {
    const Place at = place(z, turns(0.0));
    const double ours = (1.0 + t) * at.ours.log_size, theirs = t * at.theirs.log_size;
    const double error = kUnit * ((1.0 + t) * at.ours.error + t * at.theirs.error);
    return ours - theirs - 0.5 * z * z - kLogRoot + error +
           kMargin * (std::fabs(ours) + std::fabs(theirs) + z * z + 1.0);
}

std::optional<GroupedGaussianLaw::Nodes> GroupedGaussianLaw::nodes(double t, double width,
                                                                   const Cut* cut) const {
    // Beyond `mode` the logarithm of the integrand falls by z - mode at least.
    const double mode = mu_ * ((1.0 + t) * ours_.records() + t * theirs_.mean(0.0));
    double low = -theirs_.records() * mu_, high = std::max(mode, 1.0);
    if (cut) {
        low = std::min(low, cut->middle - kFarFromCut * cut->width);
        high = std::max(high, cut->middle);
    }
    low -= kRange;
    high += kRange;
    if (cut && cut->way < 0.0) {  // the share of smaller losses falls faster than the rest rises
        const double last = cut->middle + cut->width * (cut->width * mode + kFarFromCut);
        high = std::min(high, std::max(last, 1.0));
    }
    int exponent;
    const double mantissa = std::frexp(width, &exponent);
    Nodes made;
    made.spacing = std::ldexp(std::floor(std::ldexp(mantissa, 24)), exponent - 24);
    const double first = std::floor(low / made.spacing), last = std::ceil(high / made.spacing);
    if (!(made.spacing > 0.0 && last < kCounted)) return std::nullopt;
    // Where P and Q are, all; farther on, what is not nothing next to that.
    const double near = std::max(ours_.records() * mu_, 1.0) + kRange;
    const double middle = std::min(last, std::ceil(near / made.spacing));
    if (!(middle - first < kMostNodes)) return std::nullopt;
    add_nodes(first, middle, t, cut, made);
    // Of far cells the one that may have most comes first.
    struct Cell {
        double most, first, last;
        bool operator<(const Cell& other) const { return most < other.most; }
    };
    std::priority_queue<Cell> open;
    const auto add_cell = [&](double from, double to) {
        const double count = to - from + 1.0;
        if (!(count > 0.0)) return;
        open.push(
            {log_most(t, from * made.spacing, to * made.spacing) + std::log(count), from, to});
    };
    double known = *std::max_element(made.tilted.begin(), made.tilted.end());
    double log_dropped = -kInfinite;
    add_cell(middle + 1.0, last);
    while (!open.empty()) {
        const auto [most, from, to] = open.top();
        open.pop();
        const double of_nodes = most + std::log(made.spacing);
        if (of_nodes < known - kDepth) {
            log_dropped = log_both(log_dropped, of_nodes);
        } else if ((to - from) * made.spacing > kShortest) {
            const double half = std::floor(0.5 * (from + to));
            add_cell(half + 1.0, to);
            add_cell(from, half);
        } else if (static_cast<double>(made.z.size()) + to - from < kMostNodes) {
            const auto old = static_cast<std::ptrdiff_t>(made.z.size());
            add_nodes(from, to, t, cut, made);
            known =
                std::max(known, *std::max_element(made.tilted.begin() + old, made.tilted.end()));
        } else {
            return std::nullopt;
        }
    }
    double largest = -kInfinite, error = 0.0;
    CompensatedSum sum;
    for (const double tilted : made.tilted) largest = std::max(largest, tilted);
    for (std::size_t j = 0; j < made.z.size(); ++j) {
        const double g = std::exp(made.tilted[j] - largest);
        add(sum, g);
        error += g * (made.error_of_tilted[j] + 4.0 * std::fabs(largest));
    }
    const double total = value(sum);
    made.log_sum = largest + std::log(total);
    made.error_of_sum = error / total + 8.0 + 4.0 * std::fabs(made.log_sum);
    // Sums over equal steps of what falls from an end on are at most integrals by the spacing.
    const double end = last * made.spacing;
    double fall = end - mode;
    if (cut && cut->way < 0.0) fall += (end - cut->middle) * cut->spread();
    if (!(fall > 0.0)) return std::nullopt;
    const double start = made.z.front();
    const double left =
        made.tilted.front() - std::log(made.spacing * std::fabs(start) * (1.0 - 1e-9));
    const double share = cut ? log_ndtr(cut->way * (end - cut->middle) / cut->width) : 0.0;
    const double right = log_integrand(end, t) + share - std::log(fall);
    made.log_outside = log_both(log_both(left, right), log_dropped) + 1e-9;
    return made;
}

// At multiples of the spacing, from one to another.
void GroupedGaussianLaw::add_nodes(double first, double last, double t, const Cut* cut,
                                   Nodes& to) const {
    const Turns none = turns(0.0);
    const double log_spacing = std::log(to.spacing) - kLogRoot;
    for (double k = first; k <= last; k += 1.0) {
        const double z = k * to.spacing;
        const Place at = place(z, none);
        double base = log_spacing - 0.5 * z * z, error = z * z + 8.0;
        if (cut) {
            const double beyond = cut->way * (z - cut->middle) / cut->width;
            base += log_ndtr(beyond);
            error += share_error(beyond, z, cut->middle, cut->width);
        }
        error += 4.0 * std::fabs(base);
        const double ours = at.ours.log_size, theirs = at.theirs.log_size;
        to.z.push_back(z);
        to.base.push_back(base);
        to.loss.push_back(at.loss.real());
        to.log_ours.push_back(ours);
        to.log_theirs.push_back(theirs);
        to.tilted.push_back(base + (1.0 + t) * ours - t * theirs);
        to.error_of_base.push_back(error);
        to.error_of_tilted.push_back(error + (1.0 + t) * (at.ours.error + 4.0 * std::fabs(ours)) +
                                     t * (at.theirs.error + 4.0 * std::fabs(theirs)) + 8.0);
        to.error_of_ours.push_back(at.ours.error);
        to.error_of_loss.push_back(at.error_of_loss);
    }
}

// By Jensen: a pair of Gaussians for each pair of numbers of records.
Moment GroupedGaussianLaw::crude_moment(double t) const {
    const double most = mu_ * (ours_.records() + theirs_.records());
    const double value = 0.5 * most * most * t * (t + 1.0) * (1.0 + 1e-14);
    return {value, kInfinite, most * most * (t + 0.5), most * most};
}

Moment GroupedGaussianLaw::moment_on(const Nodes& grid, double t, double log_error,
                                     const Cut* cut) const {
    double mean = 0.0, square = 0.0;
    for (std::size_t j = 0; j < grid.z.size(); ++j) {
        const double g = std::exp(grid.tilted[j] - grid.log_sum), loss = grid.loss[j];
        mean += g * loss;
        square += g * loss * loss;
    }
    const double value = grid.log_sum, rounding = kUnit * grid.error_of_sum;
    const double missed = std::exp(log_error) + std::exp(grid.log_outside - value);
    if (!(rounding + missed < 0.01)) return crude_moment(t);
    const Moment plain{value, 1.02 * (rounding + missed), mean,
                       std::max(square - mean * mean, 0.0)};
    if (!(value < 1.0)) return plain;
    return careful_moment(grid, t, plain, missed, cut ? masses_above(*cut) : Masses{});
}

// M - 1 is the mean of (e^(tL) - 1 - tL) + t (e^-L - 1 + L), that of e^-L being 1. Of smaller
// losses alone both probabilities are less by what larger ones have.
Moment GroupedGaussianLaw::careful_moment(const Nodes& grid, double t, const Moment& plain,
                                          double missed, const Masses& lacking) const {
    CompensatedSum terms;
    double error = 0.0;
    for (std::size_t j = 0; j < grid.z.size(); ++j) {
        const double loss = grid.loss[j], under_p = grid.base[j] + grid.log_ours[j];
        const double under_q = grid.base[j] + grid.log_theirs[j], tilted = under_p + t * loss;
        const double weight = std::exp(under_p), gain = t * loss;
        double term, slope;  // by the loss
        if (std::fabs(loss) < kLargest && gain < kLargest) {
            term = weight * (expm1mx(gain) + t * expm1mx(-loss));
            slope = t * weight * (std::fabs(expm1(gain)) + std::fabs(expm1(-loss)));
        } else if (loss > 0.0 && gain < kLargest) {  // e^-loss is nothing
            term = weight * (expm1mx(gain) + t * (loss - 1.0));
            slope = t * weight * (expm1(gain) + 1.0);
        } else {  // exponentials with the weight, so that none overflows
            const double grown = std::exp(tilted), swapped = t * std::exp(under_q);
            term = grown + swapped - (1.0 + t) * weight;
            slope = t * grown + swapped;
            error += (grown + swapped) * (4.0 * (1.0 + t) * std::fabs(loss) + 64.0);
        }
        add(terms, term);
        error += std::fabs(term) * (grid.error_of_base[j] + grid.error_of_ours[j] +
                                    4.0 * std::fabs(under_p) + 60.0) +
                 slope * (grid.error_of_loss[j] + 4.0 * std::fabs(loss));
    }
    double sum = value(terms);
    const double discrete = (2.0 + 2.0 * t) * (missed + 2.0 * kOutside) * (1.0 + sum);
    const auto [mass, swapped] = lacking;
    const double above = 0.5 * (mass.lower + mass.upper);
    const double above_swapped = 0.5 * (swapped.lower + swapped.upper);
    const double unknown = (1.0 + t) * (mass.upper - mass.lower) +
                           t * (swapped.upper - swapped.lower) +
                           8.0 * kUnit * ((1.0 + t) * above + t * above_swapped);
    const double absolute = 1.02 * (kUnit * (error + 8.0 * sum) + discrete + unknown);
    sum += t * above_swapped - (1.0 + t) * above;
    Moment moment = plain;
    moment.value = log1p(sum);
    moment.error = std::min(plain.error + std::fabs(plain.value - moment.value),
                            absolute / (1.0 + sum) + 4.0 * kUnit * std::fabs(moment.value));
    return moment;
}

Moment GroupedGaussianLaw::moment_within(double t, double log_error, const Cut* cut) const {
    const auto grid = nodes(t, step(t, log_error, cut), cut);
    return grid ? moment_on(*grid, t, log_error, cut) : crude_moment(t);
}

Moment GroupedGaussianLaw::moment(double t) const {
    return moment_within(t, kMomentError, address(top_));
}

// What is left out only lessens it.
double GroupedGaussianLaw::log_swapped_moment(double t) const {
    const Moment known = swapped().moment_within(t, kBoundError, nullptr);
    return known.value + (std::isfinite(known.error) ? known.error : 0.0);
}

double GroupedGaussianLaw::log_small_moment(double t, const Split& split) const {
    if (top_) return kInfinite;  // no part has parts
    const auto cut = cut_at(split, -1.0);
    const Moment moment = moment_within(t, kBoundError, address(cut));
    return moment.value + (std::isfinite(moment.error) ? moment.error : 0.0);
}

Masses GroupedGaussianLaw::masses_above(const Cut& cut) const {
    constexpr double kError = 1e-11;
    const double mass = ours_.mean_above(cut.middle, cut.width);
    const double swapped = theirs_.mean_above(cut.middle, cut.width);
    return {{mass * (1.0 - kError), mass * (1.0 + kError)},
            {swapped * (1.0 - kError), swapped * (1.0 + kError)}};
}

Masses GroupedGaussianLaw::larger(const Split& split) const {
    const auto cut = split.is_none() ? std::nullopt : cut_at(split, 1.0);
    return cut ? masses_above(*cut) : Masses{};
}

// That of the law without losses above the cut of a split: its P and Q are no probabilities.
std::shared_ptr<const Law> GroupedGaussianLaw::part_below(const Split& split) const {
    auto made = std::make_shared<GroupedGaussianLaw>(*this);
    made->lacking_ = larger(split);
    made->top_ = cut_at(split, -1.0);
    if (!made->top_ || !(made->lacking_.mass.upper < 0.5)) return nullptr;
    return made;
}

// Losses of records that Q alone has are bounded: none of them is rare and large.
std::shared_ptr<const Law> GroupedGaussianLaw::trimmed(const Split& split) const {
    return ours_.records() > 0 ? part_below(split) : nullptr;
}

// E_Q0[share B^(1+t) A^-t] by a tangent of log A, B falling: section 10.2.
double GroupedGaussianLaw::log_lacking_moment(double t) const {
    if (!top_) return -kInfinite;
    constexpr int kSteps = 3;
    const double c = top_->middle, deviation = std::sqrt(1.0 + top_->width * top_->width);
    const double start = c - kFarFromCut * top_->width;
    const GroupSide::Value most = theirs_.at(start, theirs_.turns(0.0));
    const double of_theirs = (1.0 + t) * (most.log_size + kUnit * most.error);
    double best = kInfinite, z = c;
    for (int i = 0; i < kSteps; ++i) {
        const GroupSide::Tangent line = ours_.tangent(z);
        const double slope = t * line.slope, at = (-slope - c) / deviation;
        const double above = log_ndtr(at), square = 0.5 * slope * slope;
        const double size =
            square + std::fabs(above) + std::fabs(of_theirs) +
            t * (line.error * (1.0 + slope + std::fabs(c)) + std::fabs(line.intercept));
        best =
            std::min(best, of_theirs - t * line.intercept + square + above + 16.0 * kUnit * size);
        z = -slope + hazard(-at) / deviation;  // the mean of what this counts
    }
    return log_both(best, log_swapped_moment(t) + log_ndtr(-kFarFromCut)) + 1e-12;
}

std::unique_ptr<Line> GroupedGaussianLaw::line(const LineRequest& request) const {
    const bool is_whole = request.split.is_none();
    if (top_ && !is_whole) return nullptr;
    const double t = request.tilt;
    const double log_error = std::clamp(std::log(request.error), -300.0, -30.0) - std::log1p(t);
    const Cut* top = address(top_);
    const Moment moment = moment_within(t, log_error, top);
    if (!std::isfinite(moment.error)) return nullptr;
    const double log_missing = std::clamp(request.log_missing, -300.0, -30.0);
    const auto cut = is_whole ? std::nullopt : cut_at(request.split, 1.0);
    const auto whole = shifted(t, log_missing, top, moment);
    const auto large = cut ? shifted(t, log_missing, &*cut, moment) : ShiftedNodes{};
    if (!whole || !large) return nullptr;
    const auto sum = [&](const ShiftedNodes& nodes) {
        return ShiftedSum(nodes, moment.slope, request.step);
    };
    std::optional<GroupedGaussianLine::Tail> tail;
    if (is_whole) {
        constexpr double kTailError = -36.0;
        const auto grid = nodes(t, step(t, kTailError, top), top);
        if (!grid) return nullptr;
        tail.emplace(*this, t, top ? top->spread() : 0.0, *grid, moment);
    }
    return std::make_unique<GroupedGaussianLine>(moment, request.step, sum(*whole), sum(*large),
                                                 std::move(tail));
}

// Relative to M, or that of smaller losses where a cut takes those; of larger losses, the part.
std::optional<ShiftedNodes> GroupedGaussianLaw::shifted(double t, double log_error, const Cut* cut,
                                                        const Moment& moment) const {
    const double log_moment = moment.value;
    const int records = std::max(ours_.records(), theirs_.records());
    const double spread = cut ? cut->spread() : 0.0;
    double farthest =
        std::min({0.5 * kStrip * kPi / mu_, kMostTurned / (records * mu_), kWidestShift});
    if (cut) farthest = std::min(farthest, kMostOfWidth * cut->width);
    double tau = 0.0, width = 0.0;
    for (double tried = farthest; tried > 1e-3 * farthest; tried *= 0.8) {
        const double growth = log_growth_in_all(t, 2.0 * tried, cut) + 2.0 * tried * tried * spread;
        const double most = 2.0 * kPi * tried / (growth + std::log(4.2) - log_error);
        if (most > width) {
            width = most;
            tau = tried;
        }
    }
    const bool is_large = cut && cut->way > 0.0;
    const auto grid = nodes(t, width, is_large ? nullptr : cut);  // relative to M of all
    if (!grid) return std::nullopt;
    const std::size_t n = grid->z.size();
    const double log_spacing = std::log(grid->spacing) - kLogRoot;
    const Turns turned = turns(tau);
    const double growth = log_growth(t, tau) + 0.5 * spread * tau * tau;
    const double outside = std::exp(grid->log_outside - log_moment + growth);
    const ComplexShare share{cut ? cut->middle : 0.0, cut ? cut->width : 1.0,
                             cut ? -cut->way : 1.0};
    ShiftedNodes made;
    double left_out = 0.0, moduli = 0.0;
    Complex total = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double z = grid->z[j];
        const Place at = place(z, turned);
        const GroupSide::Value &above = at.ours, &below = at.theirs;
        const Complex loss = at.loss;
        const double base = log_spacing - 0.5 * z * z;
        Complex exponent(
            base + 0.5 * tau * tau - log_moment + (1.0 + t) * above.log_size - t * below.log_size,
            -z * tau + (1.0 + t) * above.angle + t * below.angle);
        double error = z * z + 8.0 + 4.0 * std::fabs(base) + 4.0 * std::fabs(z * tau) +
                       (1.0 + t) * (above.error + 4.0 * (std::fabs(above.log_size) + above.angle)) +
                       t * (below.error + 4.0 * (std::fabs(below.log_size) + below.angle)) +
                       4.0 * std::fabs(log_moment) + moment.error / kUnit + 16.0;
        if (cut) {
            const double most = exponent.real() + share.log_most(z, tau);
            if (most < kLogNothing) {
                left_out += std::exp(most);
                continue;
            }
            exponent += share.log(z, tau);
            error += share.error(z);
        }
        error += 4.0 * std::abs(exponent);
        const double modulus = std::exp(exponent.real());
        if (!(modulus >= kPruned * (is_large ? moduli : 1.0))) {
            left_out += modulus;
            continue;
        }
        const Complex weight =
            modulus * Complex(std::cos(exponent.imag()), std::sin(exponent.imag()));
        total += weight;
        moduli += modulus;
        made.loss.push_back(loss.real());
        made.damping.push_back(std::max(loss.imag(), 0.0));
        made.real.push_back(weight.real());
        made.imaginary.push_back(weight.imag());
        made.error.push_back(error);
        made.loss_error = std::max(made.loss_error, at.error_of_loss / (std::abs(loss) + 1e-300));
    }
    const double whole = is_large ? 1.05 * std::abs(total) : 1.0;
    made.missing = 1.05 * (left_out + whole * std::exp(log_error) + outside);
    return made;
}

// One release: costs/_grouped_gaussian.py derives the formula, its error, and the names here.
std::optional<Interval> GroupedGaussianLaw::profile(double x) const {
    if (top_) return std::nullopt;
    constexpr double kFar = 37.0, kNothing = 1e-298, kUnderflow = 1e-318;
    constexpr int kHalvings = 120;
    const double log_rest = std::log1p(-q_), k = std::max(ours_.records(), theirs_.records());
    const double change = (theirs_.records() - ours_.records()) * log_rest, y = x + change;
    const double off = 8.0 * kUnit * (x + std::fabs(change));
    const double log_none = ours_.records() * log_rest;
    if (ours_.records() == 0 && !(y < -2.0 * off)) return Interval{0.0, y < off ? 4.0 * off : 0.0};
    const double log_c0 =
        log_none + (y < 1.0 ? std::log(std::fabs(expm1(y))) : y + std::log1p(-std::exp(-y)));
    const double ours_none = y < 0.0 ? log_c0 : -kInfinite;
    const double theirs_none = y < 0.0 ? -kInfinite : log_c0;
    const auto log_ratio = [&](double z) {
        const double above = log_both(ours_none, ours_.log_some(z));
        return above - log_both(theirs_none, x + theirs_.log_some(z));
    };
    double low = -k * mu_ - 1.0, high = 1.0;
    while (high < 1e9 && log_ratio(high) < 0.0) high *= 2.0;
    for (int i = 0; i < kHalvings && low < high; ++i) {
        const double middle = 0.5 * (low + high);
        (log_ratio(middle) < 0.0 ? low : high) = middle;
    }
    const double t = high;
    if (t > ours_.records() * mu_ + kFar) return Interval{0.0, kNothing};
    const double rest = log_ndtr(-t);
    const double above = ours_.some_above(t, 0.0) + std::exp(ours_none + rest);
    const double below = theirs_.some_above(t, x) + std::exp(theirs_none + rest);
    const double logs = k * (1.0 - std::log(q_) - log_rest), reach = std::fabs(t) + k * mu_;
    const double part = kUnit * (64.0 + 40.0 * k + 8.0 * (x + reach * reach + logs));
    const double hazard = std::max(t, 0.0) + 1.5;
    const double missed = std::fabs(log_ratio(t)) + part;
    const double lost = 2.0 * missed * missed * hazard / mu_ + 4.0 * kUnit * mu_ * k * hazard;
    const double of_none = std::exp(log_none + std::max(y, 0.0) + rest) * off;
    const double value = above - below,
                 error = (3.0 * part + lost) * above + 4.0 * of_none + kUnderflow;
    if (!(missed < 1e-6)) return Interval{0.0, 1.0};
    return Interval{std::max(value - error, 0.0), std::min(value + error, 1.0)};
}

}  // namespace tightnoise::contour
