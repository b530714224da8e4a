// One contour Re s = c: the trapezoidal sum for the finite part D(x) of delta(x), and everything
// that it misses. CONTOUR.md, sections 1 to 4, 6.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "cost/contour/images.hpp"
#include "cost/contour/known_images.hpp"
#include "cost/contour/law.hpp"

namespace tightnoise::contour {

constexpr double kLogTolerance = -27.6;  // log 1e-12: of images and of truncation, relative
constexpr double kLargestExponent = 600.0;
inline double clipped_exp(double x) {
    return std::exp(std::min(x, kLargestExponent));
}

// Of D(x)/e^unit; upper may be infinite, lower is at least 0.
struct Bounds {
    double lower, upper;
};

// What all contours of an answer may take together: nodes times frequencies, known beforehand and
// no matter of a clock, so that an answer does not depend on the machine.
constexpr double kMostWork = 1.2e9;
struct Work {
    double most, left = most;
};

class Contour {
  public:
    // For D near x, where it is about e^log_value, with images and truncation of about
    // e^log_tolerance of it, and smoothed at will where that costs `smoothing` of it. None where no
    // line can be had, or where it would take more work than is allowed even with smoothing.
    // quick: neither split nor smoothed; brief: and only where few frequencies are to be expected;
    // sketch: to see where D is about, or on which side of a value.
    enum class Effort { brief, quick, sketch, rough, full };
    // It falls by e^-`rate` of a unit of x, or as the tilt says if that is more.
    struct Tolerance {
        double logarithm, smoothing;
        Work* work;
        double rate = 0.0;
    };
    // Small losses are left out at once where they `may_part`.
    static std::optional<Contour> make(const Terms& terms, const Images& images, double x,
                                       double log_value, Effort effort, Tolerance tolerance,
                                       bool may_part = false);
    // Of outcomes with a loss above the cut alone.
    static std::optional<Contour> make_large(const Terms& terms, const Images& images, double x,
                                             double log_value, const Split& split,
                                             Tolerance tolerance);

    Bounds profile(double x, double log_unit) const;
    // log D(x) and -D'(x)/D(x) as far as the sum tells; NaN where it is lost in rounding.
    struct Guess {
        double log_value, rate;
    };
    Guess guess(double x) const;

    double tilt() const { return tilt_; }
    double mean() const { return centre_; }
    double deviation() const { return deviation_; }
    double window() const { return window_; }
    std::size_t size() const { return frequencies_.size(); }
    bool is_parted() const { return !split_.is_none() || known_; }  // others may fall sooner
    bool is_cut_short() const { return is_cut_short_; }  // smoothed for want of more frequencies

  private:
    struct Frequency {
        double y, real, imaginary;  // F = phi of the sum, centred
        double error;               // of F
    };
    struct Sum {
        double value, error, size;
        double slope = 0.0;  // -d/dx of it, of the integrand's e^(-s x)
    };

    Contour(const Images& images, double x, double log_value, Tolerance tolerance, double log_lost);
    struct Limit {
        double frequencies, work;            // work: nodes times frequencies
        double where_falling;                // so much more where phi has fallen already
        double deviations, most_deviations;  // by which phi falls fast, and is small
        double log_coarser;                  // so much more may be truncated at its end
    };
    enum class Sampled { none, in_part, enough };
    Sampled sample(const Terms& terms, const Limit& limit);
    bool make_first_lines(const Terms& terms, double reach);
    double work() const;
    double log_wanted(double y) const;
    void split(const Terms& terms, double x, double log_wanted);
    void take_known_images(const Terms& terms, double x, double log_value);
    double least_window(double x, double log_value) const;
    void smooth(double log_wanted);
    bool cut_short();
    void take_window(double window);
    bool smooth_far(const Terms& terms, double y, double log_wanted);
    void multiply_smoothing();
    bool make_lines(const Terms& terms, double reach);
    void take_block(const Terms& terms);  // block_ frequencies more
    Frequency frequency(const Terms& terms, std::size_t k,
                        const std::vector<Characteristics>& phis) const;
    struct Tail {
        double log_most, large;  // of |phi_i|, and of its part of large losses
    };
    std::vector<Tail> tails(double y, double end) const;
    double log_product(const Terms& terms, const std::vector<Tail>& tails) const;
    double log_tail(const Terms& terms, double y) const;
    double tail_end() const;
    struct Truncated {
        double profile, density;  // bounds of the sum of |F|/y^2 step, and of |F| step
    };
    std::optional<Truncated> truncated_until(const Terms& terms, double y, double end,
                                             double log_end, double log_wanted, bool may_walk);
    struct Stretch {
        double from, to, log_most;  // log of a bound of |F| between both
    };
    template <class Serves>
    std::optional<Stretch> stretch(const Terms& terms, double from, double step, double end,
                                   const std::vector<Tail>& tails, const Serves& serves);
    void tabulate();
    double turn(double x) const;  // of the integrand from one frequency to the next, by step
    double turn_error(double turn, double x) const;
    Sum sum(double x) const;          // for D
    Sum density_sum(double x) const;  // for the density of the smoothed law
    double log_scale(double x) const { return moment_ + smoothed_moment() - tilt_ * x; }
    double y_next() const {  // the last of the next block
        return static_cast<double>(frequencies_.size() + block_ - 1) * step_;
    }
    double reach() const { return frequencies_.empty() ? 0.0 : frequencies_.back().y; }
    double smoothed_moment() const { return 0.5 * smoothing_ * smoothing_ * tilt_ * (tilt_ + 1.0); }

    // log of a bound of what was split off adds to D(x).
    double log_left_out(double x) const;

    double tilt_, deviation_;
    Images images_;
    Work* work_;
    double log_tolerance_;  // of images and of truncation, relative
    double log_lost_;       // digits, from e^(K(c) - cx) to D
    double bend_;           // D'' is about so much of D
    double most_smoothing_;
    double window_, step_;
    double reach_of_lines_ = 0.0, next_test_ = 0.0;  // y
    double log_size_ = 0.0, last_size_ = 0.0;        // of |F|, and where it was looked at last
    std::size_t next_look_ = 0;
    std::optional<KnownImages> known_;  // in place of a bound of those below
    double smoothing_ = 0.0;
    bool is_cut_short_ = false, has_far_tail_ = false, are_no_lines_ = false;
    Split split_;
    struct Markov {
        double at, log_weight;  // of a tilt t, log kap(t) + K_a(t) of the small losses
    };
    Markov left_out_{0.0, 0.0};
    std::vector<std::shared_ptr<Line>> lines_;
    std::size_t block_ = kBlock;
    std::vector<Frequency> frequencies_;
    std::vector<Stretch> walk_;  // each begins where the last one ends
    double walked_ = 0.0;        // work
    Stretch looked_{};           // where it was looked at last
    struct Table {
        explicit Table(std::size_t n = 0) : real(n), imaginary(n) {}
        void set(std::size_t k, double re, double im, double y, double off);
        std::vector<double> real, imaginary;          // filled up with zeros
        double size = 0.0, slope = 0.0, error = 0.0;  // sums of moduli, of those by y, of errors
    };
    double rounding_of_sum(const Table& table, double turn, double x) const;
    Table table_, density_;  // of F/(s(s + 1)), and of F if it was smoothed
    double moment_ = 0.0, moment_error_ = 0.0, centre_ = 0.0, centre_size_ = 0.0;
    Truncated truncated_{0.0, 0.0};  // beyond the last frequency
};

}  // namespace tightnoise::contour
