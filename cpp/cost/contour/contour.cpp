#include "cost/contour/contour.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise::contour {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t kFewestFrequencies = 4;
constexpr double kLogMostKnown = 9.0;  // of images in closed form, relative: 4 digits
constexpr double kWidestWindow = 1e15;
constexpr double kLargestTilt = 1e70;  // c^2 (c + 1)^2 is finite
constexpr int kMostCuts = 24;
constexpr double kNearer = 0.0625;         // as far lines reach that are not to be had otherwise
constexpr double kLargestSmoothing = 1.0;  // e^(mu^2/8) of section 3 stays small
constexpr double kShareOfTolerance = 0.1;  // what discretisation may take of it
constexpr double kLogMissingLess = 3.0;    // of what a line may miss: several errors add
constexpr double kWider = 1.05;            // a window for which frequencies are taken again
constexpr double kLogParted = -23.0;       // log 1e-10: the tolerance of a split, at the least
constexpr double kLeastFall = 0.3;         // of what is to fall, from y to 2y
constexpr double kMostFrequencies = 6e5, kMostIfRough = 6e4;
constexpr double kCheap = 5e4;  // work: before it is done, nothing is smoothed
// What two contours may take in turns.
constexpr double kFirstWork = 5e5, kMoreWork = 3.0, kMostWorkIfRough = 1.3e8,
                 kMostWorkOfSketch = 3e6;
constexpr double kMostOfParts = 2e5, kMostWorkOfParts = 3e8;  // of each of two parts
constexpr double kLogCoarser = 9.2;  // log 1e4: of truncation, where work is at its end
constexpr double kLeastAdded = 1e-9, kMostAdded = 3e-7;  // of D, by smoothing from far out

}  // namespace

Contour::Contour(const Images& images, double x, double log_value, Tolerance tolerance,
                 double log_lost)
    : tilt_(images.tilt()),
      deviation_(std::sqrt(std::max(images.moment().curvature, 1e-300))),
      images_(images),
      work_(tolerance.work),
      log_tolerance_(tolerance.logarithm),
      log_lost_(log_lost),
      bend_(std::max(tilt_, tolerance.rate) * (1.0 + std::max(tilt_, tolerance.rate))),
      most_smoothing_(std::min(std::sqrt(tolerance.smoothing / bend_), kLargestSmoothing)),
      window_(images_.window(x, tolerance.logarithm + log_value, 0.0)),
      step_(2.0 * kPi / window_) {}

std::optional<Contour> Contour::make(const Terms& terms, const Images& images, double x,
                                     double log_value, Effort effort, Tolerance tolerance,
                                     bool may_part) {
    constexpr Limit kBrief{4096.0, 3e5, 4.0, 60.0, 2000.0, kLogCoarser};
    constexpr Limit kQuick{4096.0, 4e6, 4.0, kInfinite, kInfinite, kLogCoarser};
    constexpr Limit kBriefly{4096.0, 3e5, 1.0, 60.0, 2000.0, 0.0};
    constexpr Limit kSketch{4096.0, 1e5, 1.0, 60.0, 2000.0, 0.0};
    constexpr double kFew = 600.0, kGaussianReach = 11.0;  // in deviations
    if (!(tolerance.work->left > 0.0)) return std::nullopt;
    const bool is_quick = effort == Effort::brief || effort == Effort::quick;
    const double lost = images.moment().value - images.tilt() * x - log_value;
    Contour plain(images, x, log_value, tolerance, lost);
    if (!(plain.window_ < kWidestWindow && plain.tilt_ < kLargestTilt)) return std::nullopt;
    const double expected = kGaussianReach / (plain.deviation_ * plain.step_);
    if (effort == Effort::brief && expected > kFew) return std::nullopt;
    if (effort == Effort::quick && expected > kQuick.where_falling * kQuick.frequencies) {
        return std::nullopt;
    }
    const auto made = [](Contour& contour) {
        contour.tabulate();
        return std::optional<Contour>(std::move(contour));
    };
    const Limit& first = effort == Effort::brief    ? kBrief
                         : effort == Effort::quick  ? kQuick
                         : effort == Effort::sketch ? kSketch
                                                    : kBriefly;
    if ((is_quick || !may_part) && plain.sample(terms, first) == Sampled::enough) {
        return made(plain);
    }
    if (is_quick) return std::nullopt;
    const bool is_full = effort == Effort::full;
    Tolerance of_parted = tolerance;
    of_parted.logarithm = std::max(tolerance.logarithm, kLogParted);
    Contour parted(images, x, log_value, of_parted, lost);
    parted.split(terms, x, log_value + parted.log_tolerance_);
    parted.take_known_images(terms, x, log_value);
    // Either may fall far sooner than the other; of the same law the narrower window serves.
    const bool has_parted = parted.is_parted();
    const bool has_plain = !parted.split_.is_none() || !parted.known_;
    const bool is_limited = tolerance.work->most < kMostWork;
    const double frequencies = is_full && !is_limited ? kMostFrequencies : kMostIfRough;
    const double most =
        std::min(tolerance.work->left, is_full                    ? kMostWork
                                       : effort == Effort::sketch ? kMostWorkOfSketch
                                                                  : kMostWorkIfRough);
    Limit limit{frequencies, kFirstWork, 1.0, kInfinite, kInfinite, 0.0};
    if (may_part && has_parted) {  // lines for another contour cost as much as this
        limit.work *= kMoreWork;
        if (parted.sample(terms, limit) == Sampled::enough) return made(parted);
    }
    for (; limit.work <= most; limit.work *= kMoreWork) {
        if (is_full && limit.work * kMoreWork > most) limit.log_coarser = kLogCoarser;
        for (Contour* contour : {has_parted ? &parted : nullptr, has_plain ? &plain : nullptr}) {
            if (contour && contour->sample(terms, limit) == Sampled::enough) return made(*contour);
        }
    }
    const bool is_plain =
        !has_parted || (has_plain && plain.reach() > parted.reach());  // smoothed by less
    Contour& best = is_plain ? plain : parted;
    if (!best.cut_short()) return std::nullopt;
    if (is_full) {  // smoothing widens the images
        const double window = best.least_window(x, log_value);
        if (!(window < kWidestWindow)) return std::nullopt;
        if (window > kWider * best.window_) {
            best.take_window(window);
            if (best.sample(terms, limit) != Sampled::enough && !best.cut_short()) {
                return std::nullopt;
            }
        }
    }
    return made(best);
}

std::optional<Contour> Contour::make_large(const Terms& terms, const Images& images, double x,
                                           double log_value, const Split& split,
                                           Tolerance tolerance) {
    const double lost = images.moment().value - images.tilt() * x - log_value;
    Contour made(images, x, log_value, tolerance, lost);
    made.split_ = split;
    made.left_out_ = {0.0, -kInfinite};  // it is told elsewhere
    if (!split.is_zero()) made.take_known_images(terms, x, log_value);
    if (!(made.window_ < kWidestWindow && made.tilt_ < kLargestTilt)) return std::nullopt;
    if (!(tolerance.work->left > 0.0)) return std::nullopt;
    const Limit limit{kMostOfParts, kMostWorkOfParts, 1.0, kInfinite, kInfinite, kLogCoarser};
    if (made.sample(terms, limit) != Sampled::enough && !made.cut_short()) return std::nullopt;
    made.tabulate();
    return made;
}

// Frequencies are taken anew.
void Contour::take_window(double window) {
    window_ = window;
    step_ = 2.0 * kPi / window;
    smoothing_ = 0.0;
    is_cut_short_ = are_no_lines_ = false;
    lines_.clear();
    frequencies_.clear();
}

// Where they allow a smaller window.
void Contour::take_known_images(const Terms& terms, double x, double log_value) {
    known_ =
        KnownImages::make(terms, split_, std::max(std::fabs(x), deviation_), images_.swapped());
    if (!known_) return;
    double window = known_->window(x, tilt_, log_tolerance_ + log_value, log_value + kLogMostKnown);
    if (window < window_) {
        images_.extend_above(terms);
        window = least_window(x, log_value);
    }
    if (window < window_) {
        take_window(window);
    } else {
        known_.reset();
    }
}

double Contour::least_window(double x, double log_value) const {
    const double log_want = log_tolerance_ + log_value;
    if (!known_) return images_.window(x, log_want, smoothing_);
    return std::max(images_.window_above(x, log_want, smoothing_),
                    known_->window(x, tilt_, log_want, log_value + kLogMostKnown));
}

// Lines that hold up to `reach`, and what is known from them.
bool Contour::make_lines(const Terms& terms, double reach) {
    std::vector<std::shared_ptr<Line>> lines;
    for (const Releases& term : terms) {
        if (lines.size() < lines_.size() && lines_[lines.size()]->holds_beyond_reach()) {
            lines.push_back(lines_[lines.size()]);
            continue;
        }
        const double log_error =
            std::log(kShareOfTolerance) + log_tolerance_ - std::log(term.count);
        // Relative to D, of which F/(s(s + 1)) has not lost more digits; tails, too.
        const double log_missing =
            std::clamp(log_error - kLogMissingLess - std::max(log_lost_ - std::log1p(tilt_), 0.0),
                       std::min(log_error, -30.0) - 15.0, -25.0);
        lines.push_back(
            term.law->line({tilt_, reach, std::exp(log_error), step_, split_, log_missing}));
        if (!lines.back()) return false;
    }
    lines_ = std::move(lines);
    reach_of_lines_ = reach;
    frequencies_.clear();
    next_test_ = log_size_ = last_size_ = 0.0;
    next_look_ = kFewestFrequencies;
    block_ = kBlock;
    has_far_tail_ = false;
    for (const auto& line : lines_) {
        block_ = std::max(block_, line->block());
        has_far_tail_ = has_far_tail_ || line->has_far_tail();
    }
    moment_ = moment_error_ = centre_ = centre_size_ = 0.0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const double n = terms[i].count, centre = lines_[i]->centre();
        const Moment moment = lines_[i]->moment();
        moment_ += n * moment.value;
        moment_error_ += n * (moment.error + 4.0 * kUnit * std::fabs(moment.value));
        centre_ += n * centre;
        centre_size_ += n * std::fabs(centre);
    }
    centre_size_ *= 4.0 + static_cast<double>(terms.size());
    return true;
}

// Of one frequency.
double Contour::work() const {
    double work = 0.0;
    for (const auto& line : lines_) work += static_cast<double>(line->work());
    return work;
}

// Of |F|, e^log_lost times 1/(pi y) of which is what truncation at y costs relative to D.
double Contour::log_wanted(double y) const {
    const double gained = std::max(2.0 * std::log1p(tilt_), std::log(kPi * y));
    return log_tolerance_ - 3.0 - std::max(0.0, log_lost_ - gained);
}

bool Contour::make_first_lines(const Terms& terms, double reach) {
    while (!make_lines(terms, reach)) {
        reach *= kNearer;
        if (reach < step_ * kFewestFrequencies) return false;
    }
    return true;
}

// Takes frequencies until a bound of all that follow is small enough, or smoothing serves; goes on
// where it was left when the limit was reached.
Contour::Sampled Contour::sample(const Terms& terms, const Limit& limit) {
    if (frequencies_.empty()) {
        const double reach = std::max(10.0 * step_, 11.0 / deviation_);
        if (are_no_lines_ || !make_first_lines(terms, std::min(reach, limit.frequencies * step_))) {
            are_no_lines_ = true;  // nor with more work
            return Sampled::none;
        }
    }
    for (;;) {
        poll();
        const double work = this->work();
        // More is allowed where phi has fallen by a part of what is wanted.
        const double wanted = log_wanted(y_next());
        const bool falls = log_size_ < 0.2 * wanted;
        const double most =
            std::min(limit.work / work, limit.frequencies) * (falls ? limit.where_falling : 1.0);
        const bool are_few = frequencies_.size() < kFewestFrequencies;
        if (!are_few && most_smoothing_ * reach() >= std::sqrt(2.0 - 2.0 * wanted)) {
            smooth(wanted);
            return Sampled::enough;
        }
        bool is_hopeless = false;
        if (frequencies_.size() >= next_look_) {  // it would have to double many times
            const double y = reach() * deviation_;
            is_hopeless = y > limit.most_deviations ||
                          (y > limit.deviations &&
                           last_size_ - log_size_ < kLeastFall * (log_size_ - wanted));
            last_size_ = log_size_;
            next_look_ = 2 * frequencies_.size();
        }
        const bool is_spent = work_->left < work * static_cast<double>(block_);
        if (!are_few &&
            (is_hopeless || is_spent || static_cast<double>(frequencies_.size()) >= most)) {
            const bool may_do = has_far_tail_ || limit.log_coarser > 0.0;
            const bool serves = may_do && smooth_far(terms, reach(), wanted + limit.log_coarser);
            return serves ? Sampled::enough : Sampled::in_part;
        }
        const double y = y_next();
        const auto holds = [](const auto& line) { return line->holds_beyond_reach(); };
        if (y > reach_of_lines_ && !std::all_of(lines_.begin(), lines_.end(), holds)) {
            double farther = kFarther;
            for (const Releases& term : terms) farther = std::min(farther, term.law->farther());
            if (make_lines(terms, farther * reach_of_lines_)) continue;
            return are_few ? Sampled::none : Sampled::in_part;
        }
        take_block(terms);
        work_->left -= work * static_cast<double>(block_);
        const Frequency& last = frequencies_.back();
        log_size_ = std::log(std::hypot(last.real, last.imaginary));
        if (frequencies_.size() < kFewestFrequencies || y < next_test_ ||
            (split_.is_none() && log_size_ > wanted + 1.0)) {
            continue;
        }
        const double log_most = log_tail(terms, y);
        if (log_most <= wanted) {
            truncated_ = {clipped_exp(log_most) / y, 0.0};
            return Sampled::enough;
        }
        const bool is_cheap = work * static_cast<double>(frequencies_.size()) < kCheap;
        if (has_far_tail_ && !is_cheap && smooth_far(terms, y, wanted)) return Sampled::enough;
        next_test_ = 1.2 * y;
    }
}

// Smooths for want of more frequencies.
bool Contour::cut_short() {
    if (frequencies_.size() < kFewestFrequencies) return false;
    smooth(log_wanted(reach()));
    is_cut_short_ = true;
    return true;
}

// Multiplies by the characteristic function of N(0, smoothing^2): section 3.
void Contour::smooth(double log_wanted) {
    smoothing_ = std::min(std::sqrt(2.0 - 2.0 * log_wanted) / reach(), kLargestSmoothing);
    multiply_smoothing();
    const double square = smoothing_ * smoothing_, y = reach();
    const double most = clipped_exp(-0.5 * square * y * y * (1.0 - 1e-14));
    truncated_ = {most / y, most / (square * y)};
}

// The same by next to nothing, where |F| stays small from y up to where that takes over.
bool Contour::smooth_far(const Terms& terms, double y, double log_wanted) {
    const double most = std::max(most_smoothing_ * most_smoothing_ * bend_, kMostAdded);
    // The nearer the end, the more atoms lie close enough to each other, and the fewer steps lead
    // there: none is taken to the first one.
    for (const double added : {kLeastAdded, most / 16.0, most / 4.0, most}) {
        const double square = added / bend_;
        const double end = std::sqrt((2.0 - 2.0 * log_wanted) / square);
        if (!(square < 1.0) || !(end > 4.0 * y)) return false;
        const double log_end = -0.5 * square * end * end * (1.0 - 1e-14);
        const auto truncated =
            truncated_until(terms, y, end, log_end, log_wanted, added > kLeastAdded);
        if (!truncated) {
            if (!has_far_tail_) return false;  // nor is it at another end
            continue;
        }
        truncated_ = *truncated;
        smoothing_ = std::sqrt(square);
        multiply_smoothing();
        return true;
    }
    return false;
}

void Contour::multiply_smoothing() {
    for (Frequency& at : frequencies_) {
        const double factor = std::exp(-0.5 * std::pow(smoothing_ * at.y, 2.0));
        at.real *= factor;
        at.imaginary *= factor;
        at.error = at.error * factor +
                   4.0 * kUnit * std::hypot(at.real, at.imaginary) * (1.0 - std::log(factor));
    }
}

// Looks for the largest cut such that outcomes without any loss above it add next to nothing.
void Contour::split(const Terms& terms, double x, double log_wanted) {
    if (!(x > 0.0)) return;
    for (const double factor : {1.1, 1.5, 2.2, 3.5}) {
        const double t = -factor * log_wanted / x;
        int least = 0, most = kMostCuts;  // cuts are 0.8^i x: `most` will do, if any is tried
        while (least < most) {
            const int i = (least + most) / 2;
            const Split tried{x * std::pow(0.8, i), t};
            double log_weight = log_kappa(t);
            for (const Releases& term : terms) {
                log_weight += term.count * term.law->log_small_moment(t, tried);
            }
            if (log_weight - t * x <= log_wanted) {
                split_ = tried;
                left_out_ = {t, log_weight};
                most = i;
            } else {
                least = i + 1;
            }
        }
        if (!split_.is_none()) return;
    }
}

double Contour::log_left_out(double x) const {
    if (split_.is_none() || left_out_.log_weight == -kInfinity) return -kInfinity;
    const double size = std::fabs(left_out_.log_weight) + std::fabs(left_out_.at * x);
    return left_out_.log_weight - left_out_.at * x + 8.0 * kUnit * size;
}

namespace {

// prod phi_i^n_i and its error: section 6.
class Product {
  public:
    // By phi^n, phi as 1 + real + i imaginary.
    void multiply(const Characteristic& phi, double n) {
        const double r = phi.real, s = phi.imaginary;
        const bool is_near = std::fabs(r) < 0.5 && std::fabs(s) < 0.5;
        const double size = std::sqrt((1.0 + r) * (1.0 + r) + s * s);
        const double log_phi = is_near ? 0.5 * log1p(2.0 * r + r * r + s * s) : std::log(size);
        const double error = phi.error + 4.0 * kUnit * (std::fabs(r) + std::fabs(s));
        const double largest = std::min(size + error, 1.0 + error);
        log_size_ += n * log_phi;
        log_most_ += n * (is_near ? log_phi + error / size : std::log(largest));
        phase_ += n * std::atan2(s, 1.0 + r);
        relative_ += n * error / largest;
        rounding_ += n * (20.0 * std::fabs(r) + 8.0 * std::fabs(s));
    }
    Complex value() const { return std::polar(std::exp(log_size_), phase_); }
    double error() const {
        const double of_phi = std::exp(std::min(log_most_, 1.0)) * std::min(relative_, 2.0);
        const double size = std::exp(log_size_);
        if (!(size > 0.0)) return 1.0001 * of_phi;  // underflow
        const double rounding = rounding_ + 4.0 * (std::fabs(log_size_) + std::fabs(phase_));
        return 1.0001 * of_phi + kUnit * rounding * size;
    }

  private:
    double log_size_ = 0.0, log_most_ = 0.0, phase_ = 0.0, relative_ = 0.0, rounding_ = 8.0;
};

// 1 - prod (1 - b_i/phi_i)^n_i, which is the part of the outcomes with a large loss in the product,
// without cancellation: section 4.
class LargePart {
  public:
    void multiply(const Characteristics& phi, double n) {
        const Complex whole(1.0 + phi.whole.real, phi.whole.imaginary);
        const Complex large(phi.large.real, phi.large.imaginary);
        if (large == 0.0 && phi.large.error == 0.0) return;
        const double square = std::norm(whole);
        const double least = std::sqrt(square) - phi.whole.error;
        const Complex ratio((large.real() * whole.real() + large.imag() * whole.imag()) / square,
                            (large.imag() * whole.real() - large.real() * whole.imag()) / square);
        const double size = std::sqrt(std::norm(ratio));
        const double error =
            (phi.large.error + size * phi.whole.error) / least + 16.0 * kUnit * size;
        if (!(least > 0.0) || !(size + error < 0.5)) {
            error_ = kInfinity;
            return;
        }
        const double r = ratio.real(), s = ratio.imag();
        log_ += n * Complex(0.5 * log1p(r * r + s * s - 2.0 * r), std::atan2(-s, 1.0 - r));
        error_ += n * (2.0 * error + 8.0 * kUnit * size);
    }
    Complex value() const {  // -expm1(log)
        const double half = std::sin(0.5 * log_.imag());
        const double growth = std::exp(log_.real());
        return {2.0 * half * half * growth - expm1(log_.real()), -growth * std::sin(log_.imag())};
    }
    double error() const {
        if (!(error_ < 1.0)) return kInfinity;
        return std::exp(log_.real()) * 2.0 * error_ + 16.0 * kUnit * std::abs(log_);
    }

  private:
    Complex log_ = 0.0;
    double error_ = 0.0;
};

}  // namespace

void Contour::take_block(const Terms& terms) {
    const std::size_t first = frequencies_.size(), count = block_;
    std::vector<Characteristics> phis(terms.size() * count);
    for (std::size_t i = 0; i < terms.size(); ++i) lines_[i]->at(first, count, &phis[i * count]);
    for (std::size_t k = 0; k < count; ++k) frequencies_.push_back(frequency(terms, k, phis));
}

// The next one, of which phis holds all laws' at a block of them.
Contour::Frequency Contour::frequency(const Terms& terms, std::size_t k,
                                      const std::vector<Characteristics>& phis) const {
    const double y = static_cast<double>(frequencies_.size()) * step_;
    Product whole, small;
    LargePart large;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Characteristics& phi = phis[i * block_ + k];
        whole.multiply(phi.whole, terms[i].count);
        if (!split_.is_none() && !split_.is_zero()) large.multiply(phi, terms[i].count);
    }
    const Complex of_whole = whole.value();
    if (split_.is_none()) return {y, of_whole.real(), of_whole.imag(), whole.error()};
    // prod phi_i^n_i - prod a_i^n_i (1 + sum n_i (phi_i - a_i)/a_i), or without that sum.
    if (split_.is_zero()) {
        Complex linear = 0.0;
        double linear_error = 0.0;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const Characteristics& phi = phis[i * block_ + k];
            const double n = terms[i].count;
            const double a_error = phi.whole.error + phi.large.error + 2.0 * kUnit;
            const Complex b(phi.large.real, phi.large.imaginary);
            const Complex a = 1.0 + Complex(phi.whole.real, phi.whole.imaginary) - b;
            const Complex ratio = b / a;
            const double least = std::abs(a) - a_error;
            if (split_.leaves_one) {
                linear += n * ratio;
                linear_error += n * ((phi.large.error + std::abs(ratio) * a_error) / least +
                                     16.0 * kUnit * std::abs(ratio));
            }
            if (!(least > 0.0)) linear_error = kInfinity;
            small.multiply({a.real() - 1.0, a.imag(), a_error}, n);
        }
        const Complex less = small.value() * (1.0 + linear);
        const double of_less = small.error() * (1.0 + std::abs(linear) + linear_error) +
                               std::abs(small.value()) * linear_error;
        const double sizes = std::abs(of_whole) + std::abs(less);
        const Complex value = of_whole - less;
        return {y, value.real(), value.imag(), whole.error() + of_less + 8.0 * kUnit * sizes};
    }
    const Complex part = large.value();
    const double size = std::abs(of_whole), error = whole.error();
    const double of_large = size * large.error() + (std::abs(part) + large.error()) * error;
    const auto made = [&](const Complex& value, double of_value) {
        return Frequency{y, value.real(), value.imag(), of_value + 8.0 * kUnit * std::abs(value)};
    };
    if (of_large < error + kUnit * size) return made(of_whole * part, of_large);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Characteristics& phi = phis[i * block_ + k];
        small.multiply({phi.whole.real - phi.large.real, phi.whole.imaginary - phi.large.imaginary,
                        phi.whole.error + phi.large.error},
                       terms[i].count);
    }
    const double of_small = error + small.error() + kUnit * size;
    return of_large < of_small ? made(of_whole * part, of_large)
                               : made(of_whole - small.value(), of_small);
}

Bounds Contour::profile(double x, double log_unit) const {
    const Sum known = sum(x);
    const double cut = truncated_.profile / kPi * 1.0001;
    double below = known.value - known.error - cut;
    const double above = known.value + known.error + cut;
    if (smoothing_ > 0.0) {  // D_mu - mu^2 e^(mu^2/8) f_mu <= D <= D_mu
        const double square = smoothing_ * smoothing_;
        const Sum density = density_sum(x);
        const double rest = truncated_.density / kPi * 1.0001;
        below -=
            square * std::exp(0.125 * square) * (density.value + density.error + rest) * 1.0001;
    }
    const double log_scaled = log_scale(x) - log_unit;
    const double size = std::fabs(moment_) + std::fabs(tilt_ * x) + std::fabs(smoothed_moment()) +
                        std::fabs(log_unit);
    const double relative = std::expm1(std::min(moment_error_ + 6.0 * kUnit * (2.0 + size), 1.0));
    if (!(log_scaled < kLargestExponent)) return {0.0, kInfinity};
    const double scale = std::exp(log_scaled);
    const double above_x = known_ ? images_.log_above(x, window_, smoothing_)
                                  : images_.log_bound(x, window_, smoothing_);
    Interval images{0.0, clipped_exp(above_x - log_unit) * 1.0001};
    if (known_) {
        const Interval below_x = known_->sum(x, tilt_, window_, smoothing_, log_unit);
        images = {below_x.lower, images.upper + below_x.upper};
    }
    const double left_out = clipped_exp(log_left_out(x) - log_unit) * 1.0001;
    const double lower = below * scale * (1.0 - relative) - images.upper * (1.0 + 4.0 * kUnit);
    const double upper =
        above * scale * (1.0 + relative) - images.lower * (1.0 - 4.0 * kUnit) + left_out;
    return {lower > 0.0 ? lower : 0.0,
            upper < kInfinity ? std::max(upper, 0.0) : kInfinity};  // NaN proves nothing
}

}  // namespace tightnoise::contour
