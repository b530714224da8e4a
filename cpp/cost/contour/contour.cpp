#include "cost/contour/contour.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "numeric/compensated_sum.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

constexpr double kMostWork = 3e6;         // nodes times frequencies of one contour
constexpr double kMostFrequencies = 2e4;  // of one contour
constexpr std::size_t kFewestFrequencies = 4;
constexpr double kWidestWindow = 1e15;
constexpr double kLargestSmoothing = 1.0;  // e^(mu^2/8) of section 3 stays small
constexpr double kLargestExponent = 600.0;
constexpr double kShareOfTolerance = 0.1;  // what discretisation may take of it

double clipped_exp(double x) {
    return std::exp(std::min(x, kLargestExponent));
}

}  // namespace

Contour::Contour(const Terms& terms, double tilt, double x, double log_value)
    : tilt_(tilt),
      deviation_(std::sqrt(std::max(total_moment(terms, tilt).curvature, 1e-300))),
      images_(terms, tilt, deviation_ * deviation_, kLogTolerance),
      window_(images_.window(x, kLogTolerance + log_value, 0.0)),
      step_(2.0 * kPi / window_) {}

std::optional<Contour> Contour::make(const Terms& terms, double tilt, double x, double log_value) {
    Contour contour(terms, tilt, x, log_value);
    const double lost = total_moment(terms, tilt).value - tilt * x - log_value;
    const double wanted = kLogTolerance - 3.0 - std::max(0.0, lost - 2.0 * std::log1p(tilt));
    if (!(contour.window_ < kWidestWindow) || !contour.sample(terms, wanted)) return std::nullopt;
    if (contour.is_smoothed()) {  // which widens the images
        const double window =
            contour.images_.window(x, kLogTolerance + log_value, contour.smoothing_);
        if (!(window < kWidestWindow)) return std::nullopt;
        if (window > contour.window_) {
            contour.window_ = window;
            contour.step_ = 2.0 * kPi / window;
            if (!contour.sample(terms, wanted)) return std::nullopt;
        }
    }
    return contour;
}

// Lines that hold up to `reach`, and what is known from them.
bool Contour::make_lines(const Terms& terms, double reach) {
    lines_.clear();
    moment_ = moment_error_ = centre_ = centre_size_ = 0.0;
    for (const Releases& term : terms) {
        const double error = kShareOfTolerance * std::exp(kLogTolerance) / term.count;
        lines_.push_back(term.law->line({tilt_, reach, error}));
        if (!lines_.back()) return false;
        const Moment moment = lines_.back()->moment();
        moment_ += term.count * moment.value;
        moment_error_ += term.count * (moment.error + 4.0 * kUnit * std::fabs(moment.value));
        centre_ += term.count * lines_.back()->centre();
        centre_size_ += term.count * std::fabs(lines_.back()->centre());
    }
    centre_size_ *= 4.0 + static_cast<double>(terms.size());
    return true;
}

// Takes frequencies until a bound of all that follow is below e^log_wanted; else smooths.
bool Contour::sample(const Terms& terms, double log_wanted) {
    smoothing_ = 0.0;
    frequencies_.clear();
    double reach = std::max(10.0 * step_, 11.0 / deviation_), next_test = 0.0;
    if (!make_lines(terms, reach)) return false;
    for (;;) {
        double work = 0.0;
        for (const auto& line : lines_) work += static_cast<double>(line->nodes());
        const double most = std::min(kMostWork / work, kMostFrequencies);
        if (static_cast<double>(frequencies_.size()) >= most) {
            smooth(log_wanted);
            break;
        }
        const double y = static_cast<double>(frequencies_.size()) * step_;
        if (y > reach) {
            frequencies_.clear();
            next_test = 0.0;
            reach *= 2.0;
            if (!make_lines(terms, reach)) return false;
            continue;
        }
        frequencies_.push_back(frequency(terms, y));
        const Frequency& last = frequencies_.back();
        if (frequencies_.size() < kFewestFrequencies || y < next_test ||
            std::log(std::hypot(last.real, last.imaginary)) > log_wanted + 1.0) {
            continue;
        }
        log_truncation_ = log_tail(terms, y);
        if (log_truncation_ <= log_wanted) break;
        next_test = 1.05 * y;
    }
    if (frequencies_.size() < kFewestFrequencies) return false;
    Frequency& first = frequencies_.front();  // counts half
    first.real *= 0.5;
    first.imaginary *= 0.5;
    first.error *= 0.5;
    return true;
}

// Multiplies by the characteristic function of N(0, smoothing^2): section 3.
void Contour::smooth(double log_wanted) {
    smoothing_ = std::min(std::sqrt(2.0 - 2.0 * log_wanted) / reach(), kLargestSmoothing);
    for (Frequency& at : frequencies_) {
        const double factor = std::exp(-0.5 * std::pow(smoothing_ * at.y, 2.0));
        at.real *= factor;
        at.imaginary *= factor;
        at.error = at.error * factor +
                   4.0 * kUnit * std::hypot(at.real, at.imaginary) * (1.0 - std::log(factor));
    }
    log_truncation_ = -0.5 * std::pow(smoothing_ * reach(), 2.0) * (1.0 - 1e-14);
}

double Contour::log_tail(const Terms& terms, double y) const {
    double total = 0.0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        total += terms[i].count * std::min(lines_[i]->log_tail(y), 0.0);
    }
    return total;
}

// F = prod phi_i^n_i and its error: section 6.
Contour::Frequency Contour::frequency(const Terms& terms, double y) const {
    double log_size = 0.0, log_most = 0.0, phase = 0.0, relative = 0.0, rounding = 8.0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const double n = terms[i].count;
        const Characteristic phi = lines_[i]->at(y);
        const double r = phi.real, s = phi.imaginary;
        const bool is_near = std::fabs(r) < 0.5 && std::fabs(s) < 0.5;
        const double size = std::hypot(1.0 + r, s);
        const double log_phi = is_near ? 0.5 * log1p(2.0 * r + r * r + s * s) : std::log(size);
        const double error = phi.error + 4.0 * kUnit * (std::fabs(r) + std::fabs(s));
        const double largest = std::min(size + error, 1.0 + error);
        log_size += n * log_phi;
        log_most += n * (is_near ? log_phi + log1p(error / size) : std::log(largest));
        phase += n * std::atan2(s, 1.0 + r);
        relative += n * error / largest;
        rounding += n * (20.0 * std::fabs(r) + 8.0 * std::fabs(s));
    }
    const double size = std::exp(log_size);
    const double of_phi = std::exp(std::min(log_most, 1.0)) * std::min(relative, 2.0);
    rounding += 4.0 * (std::fabs(log_size) + std::fabs(phase));
    return {y, size * std::cos(phase), size * std::sin(phase),
            1.0001 * of_phi + (kUnit * rounding) * size};
}

Contour::Sum Contour::sum(double x, Kernel kernel) const {
    using Complex = std::complex<double>;
    const double centre = centre_ + smoothing_ * smoothing_ * (tilt_ + 0.5);
    const double turn = centre - x;
    const double turn_error =
        kUnit * (centre_size_ + 4.0 * std::fabs(centre) + 4.0 * std::fabs(x) + std::fabs(turn));
    CompensatedSum total;
    double error = 0.0, size = 0.0;
    for (const Frequency& at : frequencies_) {
        const Complex s(tilt_, at.y);
        const Complex weight = kernel == Kernel::profile ? 1.0 / (s * (s + 1.0))
                               : kernel == Kernel::slope ? 1.0 / (s + 1.0)
                                                         : Complex(1.0);
        const double angle = at.y * turn;
        const Complex term =
            Complex(at.real, at.imaginary) * weight * Complex(std::cos(angle), std::sin(angle));
        const double modulus = std::hypot(at.real, at.imaginary) * std::abs(weight);
        add(total, term.real());
        size += modulus;
        error += std::abs(weight) * at.error +
                 modulus * (at.y * turn_error + kUnit * (20.0 + std::fabs(angle)));
    }
    const double unit = step_ / kPi;
    return {value(total) * unit, (error + 4.0 * kUnit * size) * unit * 1.0001, size * unit};
}

Bounds Contour::profile(double x, double log_unit) const {
    const Sum known = sum(x, Kernel::profile);
    const double cut = clipped_exp(log_truncation_) / (kPi * reach()) * 1.0001;
    double below = known.value - known.error - cut;
    const double above = known.value + known.error + cut;
    if (smoothing_ > 0.0) {  // D_mu - mu^2 e^(mu^2/8) f_mu <= D <= D_mu
        const double square = smoothing_ * smoothing_;
        const Sum density = sum(x, Kernel::density);
        const double rest = clipped_exp(log_truncation_) / (kPi * square * reach()) * 1.0001;
        below -=
            square * std::exp(0.125 * square) * (density.value + density.error + rest) * 1.0001;
    }
    const double log_scaled = log_scale(x) - log_unit;
    const double size = std::fabs(moment_) + std::fabs(tilt_ * x) + std::fabs(smoothed_moment()) +
                        std::fabs(log_unit);
    const double relative = std::expm1(std::min(moment_error_ + 6.0 * kUnit * (2.0 + size), 1.0));
    if (!(log_scaled < kLargestExponent)) return {0.0, kInfinity};
    const double scale = std::exp(log_scaled);
    const double images = clipped_exp(images_.log_bound(x, window_, smoothing_) - log_unit);
    const double lower = below * scale * (1.0 - relative) - images * 1.0001;
    return {std::max(lower, 0.0), above * scale * (1.0 + relative)};
}

Contour::Guess Contour::guess(double x) const {
    const Sum profile = sum(x, Kernel::profile), slope = sum(x, Kernel::slope);
    const bool is_lost = !(profile.value > 1e-13 * profile.size && slope.value > 0.0);
    if (is_lost) return {kNaN, kNaN};
    return {std::log(profile.value) + log_scale(x), slope.value / profile.value};
}

}  // namespace tightnoise::contour
