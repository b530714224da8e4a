// epsilon and delta of any composition, certified from both sides.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cost/contour/contour.hpp"
#include "cost/contour/law.hpp"
#include "cost/contour/top.hpp"

namespace tightnoise::contour {

// What is released: laws of one direction of neighbours, with their counts.
class ComposedLoss {
  public:
    // `tilt` multiplies the tilts that are chosen: any other contour has to tell the same. What an
    // answer takes at the most is `most_work`.
    explicit ComposedLoss(Terms terms, double tilt = 1.0, double most_work = kInfinite);

    // The least epsilon >= 0 with delta(epsilon) <= delta; infinite where delta is below the
    // infinite mass. Where it is at most `floor`, {0, floor} will do.
    Interval epsilon(double delta, double floor) const;
    // delta(epsilon) of any real epsilon; where it is at most `floor`, any bounds up to that will
    // do.
    Interval delta(double epsilon, double floor = 0.0) const;
    // About the tilts at which these are read.
    double tilt_at_delta(double delta) const;
    double tilt_at_epsilon(double epsilon) const;
    // The same of many, that rise; [0, 1] where `is_quick` and it would take a contour each.
    std::vector<Interval> deltas(const std::vector<double>& epsilons, bool is_quick) const;

  private:
    struct Tilt {
        double at, bound;  // of the least Renyi bound, and the bound
    };
    struct Search {
        double x, log_value;     // where D is about that
        bool is_parted = false;  // whether the last contour left small losses out
        double tilt = 0.0;       // of the last contour of trimmed laws
        double rate = 0.0;       // at which D falls there, where a contour has told
    };

    ComposedLoss within(Work& work) const;
    Interval epsilon_within(double delta, double floor) const;
    Interval delta_within(double epsilon, double floor) const;
    static Tilt tilt_for_value(Moments& moments, double log_value, double first);
    static double tilt_for_loss(Moments& moments, double x);
    Contour::Tolerance tolerance(Contour::Effort effort, double digits, double rate = 0.0) const;
    Images cheapest(Moments& moments, double tilt, double x, double log_value) const;
    // Without rare large losses, whose share is known in closed form; `last` where it still serves.
    struct Trimmed;
    std::shared_ptr<Trimmed> without_top(Moments& moments, const Search& search, int pass,
                                         const std::shared_ptr<Trimmed>& last = nullptr) const;
    Interval with_infinite(const Interval& finite, double log_unit) const;
    Interval profile(const Contour& contour, double x, double log_unit) const;
    Contour::Guess guess(const Contour& contour, double x) const;
    Interval finite_delta(Moments& moments, double x, double log_unit, double floor) const;
    double log_about(Moments& moments, double x) const;
    Interval contour_delta(Moments& moments, Search& search, double log_unit, Interval best,
                           Contour::Effort effort) const;
    void take_narrow(const std::vector<double>& epsilons, std::vector<Interval>& found) const;
    double slack(double delta) const;  // what the infinite mass leaves of it, about
    bool has_top() const;              // that could be trimmed
    Interval alone_at_zero() const;    // bounds of delta(0) by what the releases alone have there
    bool is_below(Moments& moments, double floor, double delta,
                  Contour::Effort effort) const;  // surely epsilon(delta) <= floor
    bool renyi_meets(Moments& moments, double c, double x, double delta) const;
    bool is_clearly_below(double floor, double delta) const;
    Interval largest_epsilon(double delta, Interval best) const;  // where all losses are large
    Interval renyi_epsilon(Moments& moments, const Tilt& tilt, double delta) const;
    Interval contour_epsilon(Moments& moments, double delta, Search& search, Interval best,
                             Contour::Effort effort) const;
    // Of outcomes with a large loss and of the others, each by a contour of its own.
    struct TwoParts;
    std::optional<TwoParts> two_parts(Moments& moments, const Search& search, double cut) const;
    Interval epsilon_of_parts(Moments& moments, double delta, Search& search, Interval best,
                              double part) const;
    Interval delta_of_parts(Moments& moments, Search& search, double log_unit, Interval best,
                            double part) const;
    template <class Bounded>
    Interval stepped_out(Bounded bounds, double delta, double x, double rate, Interval best) const;
    bool meets(const Interval& finite, double delta) const;    // surely delta(x) <= delta
    bool exceeds(const Interval& finite, double delta) const;  // surely delta(x) > delta
    std::optional<Interval> closed_profile(double x) const;

    Terms terms_;
    double tilt_, most_work_;
    Work* work_ = nullptr;   // of the answer that is looked for
    double infinite_ = 0.0;  // mass, of a relative error of 4 u
    std::optional<Top> top_;
};

// A composition of which, where its laws only dominate the releases, another one with laws that the
// releases dominate gives the lower bounds.
class Composition {
  public:
    explicit Composition(const Terms& upper, std::optional<Terms> lower = std::nullopt,
                         double tilt = 1.0, double most_work = kInfinite);

    Interval epsilon(double delta, double floor) const;
    Interval delta(double epsilon, double floor) const;
    std::vector<Interval> deltas(const std::vector<double>& epsilons, bool is_quick) const;
    const ComposedLoss& upper() const { return upper_; }

  private:
    ComposedLoss upper_;
    std::optional<ComposedLoss> lower_;
};

}  // namespace tightnoise::contour
