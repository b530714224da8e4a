// One release as the contour integral needs it: the law of its privacy loss L = log dP/dQ under P,
// in one direction of neighbours. CONTOUR.md has the mathematics; the names here are its names.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace tightnoise::contour {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kUnit = 0x1p-53;  // u: the relative error of one rounding
constexpr double kFarther = 16.0;
constexpr std::size_t kBlock = 4;  // multiples of so many frequencies are asked for at once

struct Interval {
    double lower, upper;
};

// K(t) = log E[e^(t L); L < inf]: within `error` of `value`, and never above value + error where
// `error` is not finite. Slope and curvature are estimates.
struct Moment {
    double value, error, slope, curvature;
};

// phi(y) - 1, and a bound of the modulus of its error.
struct Characteristic {
    double real, imaginary, error;
};
struct Characteristics {
    Characteristic whole;
    Characteristic large;  // of the part of large losses, itself and not less 1
};

// A law tilted by e^(c L): phi(y) = E[e^((c + iy) L)] / E[e^(c L)], less its phase e^(i y centre).
class Line {
  public:
    virtual ~Line() = default;
    virtual Moment moment() const = 0;  // K(c), as exactly as it is known
    virtual double centre() const = 0;  // any number near K'(c)
    // At y = (first + k) step of the request, k = 0 ... count - 1.
    virtual void at(std::size_t first, std::size_t count, Characteristics* out) const = 0;
    // log of a bound of |phi(y')| for all y' >= y: never rises with y.
    virtual double log_tail(double y) const = 0;
    // The same for the part of large losses, whole less small.
    virtual double log_large_tail(double) const { return -std::numeric_limits<double>::infinity(); }
    // The first for y <= y' <= end only, where atoms that are close to each other are as a density;
    // and for y <= y' <= y + step only, by a look at y.
    virtual double log_tail_until(double y, double /*end*/) const { return log_tail(y); }
    virtual double log_largest(double /*y*/, double /*step*/) const { return 0.0; }
    // These bounds hold up to this frequency; beyond, |phi| <= 1 is all that is known.
    virtual double tail_end() const { return kInfinite; }
    virtual bool has_far_tail() const { return false; }  // whether that is anything else
    virtual std::size_t work() const = 0;  // what one frequency costs, in parts of a nanosecond
    virtual std::size_t work_of_look() const { return work(); }  // and such a look
    virtual std::size_t block() const { return kBlock; }         // of which `count` is a multiple
    virtual bool holds_beyond_reach() const { return false; }    // that of its request
};

// Small losses are those up to about `cut`: the share of larger ones falls so fast that a tilt of
// `steepness` does not bring them back.
struct Split {
    double cut = std::numeric_limits<double>::infinity();
    double steepness = 0.0;
    bool leaves_one = false;  // of a cut at 0: what has one loss, of one release, is small, too
    bool is_none() const { return !(cut < std::numeric_limits<double>::infinity()); }
    bool is_zero() const { return cut == 0.0; }  // small is what has no loss at all
};

// What a line is asked for: phi for |y| <= reach, at multiples of step, discretised with an error
// of at most `error`.
struct LineRequest {
    double tilt, reach, error;
    double step = 1.0;
    Split split{};
    double log_missing = -45.0;  // of what may be missed at any y, however small phi is there
};

// Of some outcomes with finite losses: under P, and under Q.
struct Masses {
    Interval mass{0.0, 0.0}, swapped{0.0, 0.0};
};

class Law {
  public:
    virtual ~Law() = default;
    virtual double infinite_mass() const { return 0.0; }
    virtual double largest_loss() const { return kInfinite; }  // at least, where it is bounded
    // Of finite losses; the sum of both is 1 but for masses that are rounded up or down.
    virtual Interval finite_mass() const { return {1.0 - infinite_mass(), 1.0 - infinite_mass()}; }
    // For a tilt t >= 0. The value is an upper bound of K(t) wherever the error is infinite.
    virtual Moment moment(double t) const = 0;
    // What one query keeps from one tilt to the next, of so many releases; not shared between
    // threads.
    struct Memory {
        virtual ~Memory() = default;
    };
    virtual std::unique_ptr<Memory> memory(double) const { return nullptr; }
    virtual Moment recalled_moment(double t, Memory*) const { return moment(t); }
    // An upper bound of log E[e^(t L)] over the part of small losses.
    virtual double log_small_moment(double t, const Split&) const {
        const Moment all = moment(t);
        return all.value + (all.error < std::numeric_limits<double>::infinity() ? all.error : 0.0);
    }
    // Without losses above about the cut; none where there are no rare large losses to trim.
    virtual std::shared_ptr<const Law> trimmed(const Split&) const { return nullptr; }
    virtual Masses lacking() const { return {}; }             // what was trimmed
    virtual Masses larger(const Split&) const { return {}; }  // that, and what a split takes off
    // The small losses of a split alone; none where these are not to be had.
    virtual std::shared_ptr<const Law> part_below(const Split&) const { return nullptr; }
    // An upper bound of log E_P[e^(-(1 + t) L); L < inf], which is E_Q[e^(-t L)] where both are
    // finite, for t >= 0; and of the same over what was trimmed.
    virtual double log_swapped_moment(double) const { return kInfinite; }
    virtual double log_lacking_moment(double) const { return -kInfinite; }
    // Of outcomes without any loss, which add nothing to D(x) at x >= 0: a split at 0 leaves them
    // out.
    virtual double mass_at_zero() const { return 0.0; }
    // What Q gives to losses that are finite.
    virtual Interval swapped_mass() const { return {1.0, 1.0}; }
    // How much farther lines are to reach, once frequencies are beyond: far, where there are some
    // that hold beyond any reach.
    virtual double farther() const { return 2.0; }
    // None where it would take too many nodes.
    virtual std::unique_ptr<Line> line(const LineRequest& request) const = 0;
    // delta(x) of a single release for x >= 0, where it is known in closed form.
    virtual std::optional<Interval> profile(double) const { return std::nullopt; }
    virtual bool has_atoms() const { return false; }
    // mu of a Gaussian law: these compose among themselves.
    virtual std::optional<double> gaussian() const { return std::nullopt; }
};

// A law that may lack its larger losses, as the part below a cut.
class LawInParts : public Law {
  public:
    Interval finite_mass() const override {
        return {1.0 - lacking_.mass.upper, 1.0 - lacking_.mass.lower};
    }
    Interval swapped_mass() const override {
        return {1.0 - lacking_.swapped.upper, 1.0 - lacking_.swapped.lower};
    }

  protected:
    Masses lacking_{};  // what those have
};

struct Releases {
    std::shared_ptr<const Law> law;
    double count;
};
using Terms = std::vector<Releases>;

}  // namespace tightnoise::contour
