#include "cost/contour/composition.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "cost/contour/contour.hpp"
#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/one_loss.hpp"
#include "cost/contour/search.hpp"
#include "numeric/elementary.hpp"

namespace tightnoise::contour {
namespace {

using Effort = Contour::Effort;

constexpr double kNarrow = 1e-10;       // relative width at which an answer is not improved
constexpr double kNarrowIfMany = 5e-8;  // the same of a contour that costs much
constexpr std::size_t kManyFrequencies = 200;
constexpr double kNarrowEnough = 1e-7;  // beyond, rare large losses are taken apart
constexpr double kNothing = 1e-15;      // an epsilon that may well be 0
constexpr double kSmall = 1e-3;         // epsilons below are known to a part of this
constexpr double kLogUnderflow = -745.0;
constexpr double kStart = 1e-3;                            // relative: of where to start
constexpr double kFirstTilt = 8.0, kTiltOfTopless = 16.0;  // where the search starts; by x
constexpr double kMostBelow = 200.0;                       // a start, by the tilt
constexpr int kPasses = 3;
constexpr double kSketched = 1e-2;   // relative width that tells where x is
constexpr double kKnown = 1e-3;      // x is known so well that a sketch would not help
constexpr double kSmallLoss = 1.0;   // x: beyond, contours of trimmed laws mostly need a split
constexpr double kSeen = 0.5;        // beyond, a sketch told nothing
constexpr double kSamePlace = 1e-3;  // relative: of where a contour was
constexpr std::initializer_list<double> kPartsOfLoss{0.65, 0.4, 1.0};  // a large loss, by x
constexpr double kNarrowIfSmoothed = 6e-7;  // once rare large losses were taken apart
constexpr double kNearlyNarrow = 1e-4;  // where more frequencies do, and no parts are taken apart

// Gaussian releases are one Gaussian release.
Terms merged(const Terms& terms) {
    Terms result, gaussians;
    double square = 0.0;
    for (const Releases& term : terms) {
        if (!(term.count > 0.0)) continue;
        const auto mu = term.law->gaussian();
        (mu ? gaussians : result).push_back(term);
        if (mu) square += term.count * *mu * *mu;
    }
    if (gaussians.size() == 1 && gaussians[0].count == 1.0) {
        result.push_back(gaussians[0]);
    } else if (square > 0.0) {
        const double error = 3.0 + static_cast<double>(gaussians.size());
        result.push_back({std::make_shared<GaussianLaw>(std::sqrt(square), error), 1.0});
    }
    return result;
}

// log of kap(c) e^(K(c) - c x), an upper bound of the finite part of delta(x).
double log_renyi(Moments& moments, double c, double x) {
    const Moment& moment = moments.at(c);
    const double error = std::isfinite(moment.error) ? moment.error : 0.0;
    const double size = std::fabs(moment.value) + std::fabs(c * x) + 2.0;
    return moment.value + error + log_kappa(c) - c * x + 8.0 * kUnit * size;
}

// D <= 1
Interval within_one(const Interval& finite, double log_unit) {
    const double one = std::exp(-log_unit);
    return {std::min(finite.lower, one), std::min(finite.upper, one * (1.0 + 1e-13))};
}

}  // namespace

ComposedLoss::ComposedLoss(Terms terms, double tilt, double most_work)
    : terms_(merged(terms)), tilt_(tilt), most_work_(most_work) {
    double log_finite = 0.0;
    for (const Releases& term : terms_) {
        log_finite += term.count * std::log1p(-term.law->infinite_mass());
    }
    infinite_ = -std::expm1(log_finite);
}

// Of a single release.
std::optional<Interval> ComposedLoss::closed_profile(double x) const {
    if (terms_.empty()) return Interval{0.0, 0.0};
    if (terms_.size() > 1 || terms_[0].count != 1.0 || !(x >= 0.0)) return std::nullopt;
    return terms_[0].law->profile(x);
}

// `loss` and its moments, those of the whole if there is nothing to trim.
struct ComposedLoss::Trimmed {
    const ComposedLoss* whole;
    Search at;  // for which it was trimmed
    int pass;
    std::optional<ComposedLoss> rest;
    std::optional<Moments> of_rest;
    const ComposedLoss* loss;
    Moments* moments;

    // Where the loss of one release, which alone exceeds x so rarely, and the others' mean and
    // variance lead to; none where these are no small change, or of several kinds of releases.
    std::optional<double> of_one(double x) const;
};

std::optional<double> ComposedLoss::Trimmed::of_one(double x) const {
    constexpr double kLittle = 0.3, kStep = 1.0 / 1024.0;
    if (!rest || rest->terms_.size() != 1 || !(x > 0.0)) return std::nullopt;
    const Law& law = *whole->terms_[0].law;
    const double here = law.profile(x)->upper, farther = law.profile(x * (1.0 + kStep))->upper;
    const double rate = std::log(here / farther) / (x * kStep);
    const Moment& others = moments->at(0.0);
    if (!(rate * std::sqrt(others.curvature) < kLittle)) return std::nullopt;
    return x + others.slope + 0.5 * rate * others.curvature;
}

// A steeper cut takes more nodes, and serves where the tilts of a first one lose too many digits.
std::shared_ptr<ComposedLoss::Trimmed> ComposedLoss::without_top(
    Moments& moments, const Search& search, int pass, const std::shared_ptr<Trimmed>& last) const {
    constexpr double kNear = 0.02, kLogNear = 0.2;  // what is trimmed is 1e-9 of D, and rises
    if (last && last->pass == pass && std::fabs(search.x - last->at.x) <= kNear * last->at.x &&
        std::fabs(search.log_value - last->at.log_value) <= kLogNear) {
        return last;
    }
    auto made = std::make_shared<Trimmed>(Trimmed{this, search, pass, {}, {}, this, &moments});
    auto found =
        topless(terms_, search.x, search.log_value, 10.0 + 15.0 * pass, *moments.swapped());
    if (!found) return made;
    made->rest.emplace(Terms{}, tilt_, most_work_);
    made->rest->work_ = work_;
    made->rest->terms_ = std::move(found->terms);
    made->rest->infinite_ = infinite_;
    made->rest->top_ = found->top;
    made->loss = &*made->rest;
    made->moments = &made->of_rest.emplace(made->rest->terms_, moments.swapped());
    return made;
}

Interval ComposedLoss::profile(const Contour& contour, double x, double log_unit) const {
    const Bounds known = contour.profile(x, log_unit);
    if (!top_) return {known.lower, known.upper};
    const Interval more = top_->delta(x, log_unit);
    return {known.lower + more.lower, known.upper + more.upper};
}

Contour::Guess ComposedLoss::guess(const Contour& contour, double x) const {
    const Contour::Guess known = contour.guess(x);
    if (!top_) return known;
    const double log_unit = std::isfinite(known.log_value) ? known.log_value : -700.0;
    const double more = top_->delta(x, log_unit).lower;
    if (!std::isfinite(known.log_value)) {
        return more > 0.0
                   ? Contour::Guess{log_unit + std::log(more), top_->slope(x, log_unit) / more}
                   : known;
    }
    return {log_unit + std::log1p(more), (known.rate + top_->slope(x, log_unit)) / (1.0 + more)};
}

bool ComposedLoss::meets(const Interval& finite, double delta) const {
    return infinite_ * (1.0 + 16.0 * kUnit) / delta + finite.upper <= 1.0 - 4.0 * kUnit;
}

bool ComposedLoss::exceeds(const Interval& finite, double delta) const {
    return infinite_ * (1.0 - 16.0 * kUnit) / delta + finite.lower >= 1.0 + 4.0 * kUnit;
}

ComposedLoss::Tilt ComposedLoss::tilt_for_value(Moments& moments, double log_value, double first) {
    const auto bound = [&](double c) {
        const double x = (moments.at(c).value + log_kappa(c) - log_value) / c;
        return std::isfinite(x) ? x : kInfinity;
    };
    const double c = least_tilt(bound, first);
    return {c, bound(c)};
}

double ComposedLoss::tilt_for_loss(Moments& moments, double x) {
    const auto exponent = [&](double c) {
        const double value = moments.at(c).value - c * x;
        return std::isfinite(value) ? value : kInfinity;
    };
    double c = least_tilt([&](double at) { return exponent(at) + log_kappa(at); });
    // Where most losses exceed x, the least is at next to no tilt, whose window has no end.
    constexpr double kLogLost = 3.0;
    if (exponent(c) > -1.0) {
        while (exponent(2.0 * c) <= kLogLost && c < 1.0) c *= 2.0;
    }
    return c;
}

// For a D of which a relative error counts 1/digits of that in the answer. Less is asked for where
// it costs much.
Contour::Tolerance ComposedLoss::tolerance(Effort effort, double digits, double rate) const {
    constexpr double kLogSketch = -9.2, kSmoothedSketch = 1e-2;  // log 1e-4
    constexpr double kLogLoose = -18.4, kFewestDigits = 1e-3;    // log 1e-8
    constexpr double kSmoothed = 3e-7, kLess = 0.2;              // of the answer
    if (effort == Effort::sketch) return {kLogSketch, kSmoothedSketch, work_, rate};
    const bool is_quick = effort == Effort::brief || effort == Effort::quick;
    const double smoothed = std::min(kSmoothed * digits, kSmoothedSketch);
    const auto has_atoms = [](const Releases& term) { return term.law->has_atoms(); };
    const bool is_rough = !is_quick && std::any_of(terms_.begin(), terms_.end(), has_atoms);
    const double loose =
        kLogLoose + (is_rough ? std::log(std::clamp(digits, kFewestDigits, 1.0)) : 0.0);
    return {top_ || is_rough ? loose : kLogTolerance,
            is_quick ? 0.0 : (effort == Effort::full ? kLess : 1.0) * smoothed, work_, rate};
}

// A smaller tilt may have a far smaller window, where a rare loss starts to dominate.
Images ComposedLoss::cheapest(Moments& moments, double tilt, double x, double log_value) const {
    tilt *= tilt_;
    constexpr double kGaussianWindow = 12.0;  // in standard deviations: nothing to gain
    constexpr double kDigitLost = 0.15, kMostLost = 6.0;
    const auto window = [&](const Images& images) {
        return images.window(x, kLogTolerance + log_value, 0.0);
    };
    const auto lost = [&](const Images& images) {
        return images.moment().value - images.tilt() * x - log_value;
    };
    const auto price = [&](const Images& images) {
        return std::log(window(images)) + kDigitLost * lost(images);
    };
    Images best(moments, tilt, kLogTolerance);
    if (window(best) < kGaussianWindow * std::sqrt(best.moment().curvature)) return best;
    const double most_lost = std::max(lost(best), 0.0) + kMostLost;
    for (const double factor : {0.82, 0.65, 0.5}) {
        const Images other = Images::among_known(moments, tilt * factor);
        if (lost(other) > most_lost) break;
        if (price(other) < price(best) - 0.2) best = other;
    }
    return best;
}

// Of the finite part of delta(x), by e^log_unit.
Interval ComposedLoss::finite_delta(Moments& moments, double x, double log_unit,
                                    double floor) const {
    const double log_bound = log_renyi(moments, tilt_for_loss(moments, x), x);
    Interval best{0.0, std::exp(std::min(log_bound, 0.0) - log_unit) * (1.0 + 1e-13)};
    Search search{x, std::min(log_bound, 0.0) - 1.0};
    const auto is_no_more = [&] { return with_infinite(best, log_unit).upper <= floor; };
    if (is_no_more()) return within_one(best, log_unit);
    best = contour_delta(moments, search, log_unit, best, Effort::quick);
    const auto is_wide = [&](double narrow) {
        return best.upper - best.lower > narrow * best.upper && !is_no_more();
    };
    if (!is_wide(kNarrowEnough)) return within_one(best, log_unit);
    const auto in_parts = [&](std::initializer_list<double> cuts) {
        for (const double part : cuts) {
            const Interval before = best;
            if (!is_wide(kNarrowIfSmoothed)) return;
            best = delta_of_parts(moments, search, log_unit, best, part);
            if (best.lower == before.lower && best.upper == before.upper)
                return;  // nor will others
        }
    };
    if (x >= 0.0 && OneLoss::is_likely_none(terms_)) {
        in_parts({0.0});
        if (x > 0.0) in_parts(kPartsOfLoss);
        return within_one(best, log_unit);
    }
    search.log_value = std::min(search.log_value, log_about(moments, x));
    auto kept = without_top(moments, search, 0);
    best = kept->loss->contour_delta(*kept->moments, search, log_unit, best, Effort::sketch);
    for (int pass = 0; pass < kPasses && is_wide(kNarrowIfSmoothed); ++pass) {
        const double before = search.log_value;
        kept = without_top(moments, search, pass, kept);
        const Effort effort = pass ? Effort::full : Effort::rough;
        best = kept->loss->contour_delta(*kept->moments, search, log_unit, best, effort);
        if (pass == 0 && x > 0.0 && is_wide(kNearlyNarrow)) in_parts(kPartsOfLoss);
        if (pass && !kept->rest && std::fabs(search.log_value - before) < 0.5) break;
    }
    if (x > 0.0) in_parts(kPartsOfLoss);
    return within_one(best, log_unit);
}

// log of about D(x) by one release alone, or by a Gaussian of the same variance: where to start.
double ComposedLoss::log_about(Moments& moments, double x) const {
    double of_one = 0.0;
    for (const Releases& term : terms_) {
        const auto one = x >= 0.0 ? term.law->profile(x) : std::nullopt;
        if (!one) return kInfinity;
        of_one += term.count * one->upper;
    }
    const GaussianLaw gaussian(std::sqrt(moments.at(0.0).curvature), 0.0);
    return std::log(std::max({of_one, gaussian.profile(x)->upper, 1e-300}));
}

// Narrows what is known at search.x.
Interval ComposedLoss::contour_delta(Moments& moments, Search& search, double log_unit,
                                     Interval best, Effort effort) const {
    const double x = search.x, c = tilt_for_loss(moments, x);
    double& log_value = search.log_value;
    const int passes = effort == Effort::full ? 1 : kPasses;
    for (int pass = 0; pass < passes; ++pass) {
        const auto contour =
            Contour::make(terms_, cheapest(moments, c, x, log_value), x, log_value, effort,
                          tolerance(effort, 1.0, search.rate), search.is_parted);
        if (!contour) break;
        search.is_parted = contour->is_parted();
        const Interval bounds = profile(*contour, x, log_unit);
        best = {std::max(best.lower, bounds.lower), std::min(best.upper, bounds.upper)};
        const double before = log_value;
        const auto [known, rate] = guess(*contour, x);
        if (std::isfinite(rate)) search.rate = rate;
        if (std::isfinite(known)) log_value = known;
        if (!std::isfinite(known) || best.upper - best.lower <= kNarrow * best.upper ||
            std::fabs(known - before) < 0.5) {
            break;
        }
    }
    return best;
}

ComposedLoss ComposedLoss::within(Work& work) const {
    ComposedLoss same = *this;
    same.work_ = &work;
    return same;
}

Interval ComposedLoss::epsilon(double delta, double floor) const {
    Work work{std::min(most_work_, kMostWork)};
    return within(work).epsilon_within(delta, floor);
}

Interval ComposedLoss::delta(double epsilon, double floor) const {
    Work work{std::min(most_work_, kMostWork)};
    return within(work).delta_within(epsilon, floor);
}

Interval ComposedLoss::delta_within(double epsilon, double floor) const {
    if (infinite_ >= 1.0) return {1.0, 1.0};
    if (const auto closed = closed_profile(epsilon)) return *closed;
    Moments moments(terms_);
    const double c = tilt_for_loss(moments, epsilon);
    const double log_unit = std::min(log_renyi(moments, c, epsilon), 0.0);
    if (log_unit < kLogUnderflow) return with_infinite({0.0, 1.0}, log_unit);
    return with_infinite(finite_delta(moments, epsilon, log_unit, floor), log_unit);
}

double ComposedLoss::tilt_at_delta(double delta) const {
    Moments moments(terms_);
    return tilt_for_value(moments, std::log(slack(delta)), kFirstTilt).at;
}

double ComposedLoss::tilt_at_epsilon(double epsilon) const {
    Moments moments(terms_);
    return tilt_for_loss(moments, epsilon);
}

// The whole of a finite part that is told by e^log_unit.
Interval ComposedLoss::with_infinite(const Interval& finite, double log_unit) const {
    const double unit = std::exp(log_unit);
    const double relative = 4.0 * kUnit * (2.0 + std::fabs(log_unit));
    const double lower = finite.lower * unit * (1.0 - relative);
    const double upper = finite.upper * unit * (1.0 + relative) + 1e-323;
    return {std::min(infinite_ * (1.0 - 16.0 * kUnit) + lower, 1.0),
            std::min(infinite_ * (1.0 + 16.0 * kUnit) + upper, 1.0)};
}

Interval ComposedLoss::epsilon_within(double delta, double floor) const {
    if (delta >= 1.0) return {0.0, 0.0};
    if (infinite_ * (1.0 - 16.0 * kUnit) > delta) return {kInfinity, kInfinity};
    if (closed_profile(0.0)) {
        return bisected([&](double x) { return *closed_profile(x); }, delta);
    }
    if (!(delta > 0.0)) return {0.0, kInfinity};
    const Interval at_zero = alone_at_zero();
    if (at_zero.upper <= delta) return {0.0, 0.0};
    if (floor > 0.0 && is_clearly_below(floor, delta)) return {0.0, floor};
    Moments moments(terms_);
    const Tilt tilt = tilt_for_value(moments, std::log(slack(delta)), kFirstTilt);
    Interval best = renyi_epsilon(moments, tilt, delta);
    if (!(best.upper > 0.0)) return {0.0, 0.0};
    const auto is_no_more = [&] { return floor > 0.0 && best.upper <= floor; };
    if (is_no_more()) return {0.0, floor};
    if (floor > 0.0 && is_below(moments, floor, delta, Effort::sketch)) return {0.0, floor};
    Search search{tilt.bound - 2.0 / tilt.at, std::log(slack(delta))};
    double& x = search.x;
    best = contour_epsilon(moments, delta, search, best, has_top() ? Effort::brief : Effort::quick);
    const auto is_wide = [&](double narrow) {
        return best.upper - best.lower > narrow * std::max(best.upper, kSmall) && !is_no_more();
    };
    if (is_wide(kNarrowEnough)) best = largest_epsilon(delta, best);
    if (!is_wide(kNarrowEnough)) return best;
    const bool may_be_zero = best.lower == 0.0 && at_zero.lower <= delta;
    if (may_be_zero && is_below(moments, 0.0, delta, Effort::sketch)) return {0.0, 0.0};
    // Rare large losses: where one alone would reach delta is a better place to start, or where a
    // Gaussian of the same variance would, and the mean of losses that hardly vary.
    const Moment& plain = moments.at(0.0);
    const GaussianLaw gaussian(std::sqrt(plain.curvature), 0.0);
    const auto of_gaussian = [&](double at) { return *gaussian.profile(at); };
    double start = std::max(bisected(of_gaussian, delta, kStart).upper, plain.slope);
    for (const Releases& term : terms_) {
        const auto one = [&](double at) { return *term.law->profile(at); };
        if (!term.law->profile(0.0)) continue;
        best.lower = std::max(best.lower, bisected(one, delta, kStart).lower);
        if (!term.law->trimmed({best.upper, 1.0 / best.upper})) continue;  // has none
        start = std::max(start, bisected(one, delta / term.count, kStart).upper);
    }
    const double by_renyi = x;
    // A steep tilt tells nothing so far below the loss it is for.
    const bool is_near = tilt.at * (x - start) < kMostBelow;
    if (start > best.lower && start < best.upper && is_near) x = start;
    const auto in_parts = [&](std::initializer_list<double> cuts) {
        for (const double part : cuts) {
            const Interval before = best;
            if (!is_wide(kNarrowIfSmoothed)) return;
            best = epsilon_of_parts(moments, delta, search, best, part);
            if (best.lower == before.lower && best.upper == before.upper)
                return;  // nor will others
        }
    };
    if (OneLoss::is_likely_none(terms_)) {
        in_parts({0.0});
        if (best.upper > kSmall)
            in_parts(kPartsOfLoss);
        else
            in_parts({0.0});
        return best;
    }
    std::shared_ptr<Trimmed> kept;
    if (is_wide(kKnown)) {
        x = std::clamp(x, best.lower, best.upper);
        kept = without_top(moments, search, 0);
        if (const auto known = kept->of_one(x)) {
            x = *known;
            search.is_parted = true;
        } else {
            const auto narrow = [&](Effort effort) {
                best = kept->loss->contour_epsilon(*kept->moments, delta, search, best, effort);
            };
            if (x < kSmallLoss) narrow(Effort::brief);
            if (is_wide(kKnown)) narrow(Effort::sketch);
            if (best.upper - best.lower > kSeen * best.upper) {  // it was too far
                x = std::clamp(by_renyi, best.lower, best.upper);
                best = contour_epsilon(moments, delta, search, best, Effort::sketch);
            }
        }
    }
    bool has_parts = false;
    for (int pass = 0; pass < kPasses && is_wide(kNarrowIfSmoothed); ++pass) {
        const double before = x = std::clamp(x, best.lower, best.upper);
        kept = without_top(moments, search, pass, kept);
        best = kept->loss->contour_epsilon(*kept->moments, delta, search, best,
                                           pass ? Effort::full : Effort::rough);
        if (best.upper < kSmall && pass) break;  // it is known to a part of that
        if (best.upper > kSmall && !has_parts &&
            is_wide(pass ? kNarrowIfSmoothed : kNearlyNarrow)) {
            has_parts = true;
            in_parts(kPartsOfLoss);
        }
        if (pass && !kept->rest && std::fabs(x - before) <= kSamePlace * x) break;
    }
    // A sketch overestimates D at 0 by some.
    const bool is_zero = may_be_zero && best.lower == 0.0 && best.upper < kNothing &&
                         is_below(moments, 0.0, delta, Effort::rough);
    return is_zero ? Interval{0.0, 0.0} : best;
}

bool ComposedLoss::has_top() const {
    return std::any_of(terms_.begin(), terms_.end(), [](const Releases& term) {
        return term.law->trimmed({1.0, 1.0}) != nullptr;
    });
}

// From the largest to the sum: section 6 of CONTOUR.md.
Interval ComposedLoss::alone_at_zero() const {
    Interval bounds{0.0, 0.0};
    for (const Releases& term : terms_) {
        const Interval one = term.law->profile(0.0).value_or(Interval{0.0, kInfinity});
        bounds.lower = std::max(bounds.lower, one.lower);
        bounds.upper += term.count * one.upper * (1.0 + 1e-9);
    }
    return bounds;
}

bool ComposedLoss::is_below(Moments& moments, double floor, double delta, Effort effort) const {
    const double log_unit = std::log(delta), log_value = std::log(slack(delta));
    const auto kept = without_top(moments, {floor, log_value}, 0);
    const ComposedLoss& loss = *kept->loss;
    const double tilt = tilt_for_loss(*kept->moments, floor);
    const auto contour =
        Contour::make(loss.terms_, loss.cheapest(*kept->moments, tilt, floor, log_value), floor,
                      log_value, effort, loss.tolerance(effort, 1.0));
    return contour && meets(loss.profile(*contour, floor, log_unit), delta);
}

double ComposedLoss::slack(double delta) const {
    return std::max(delta - infinite_, 1e-16 * delta);
}

bool ComposedLoss::renyi_meets(Moments& moments, double c, double x, double delta) const {
    const double log_ratio = log_renyi(moments, c, x) - std::log(delta);
    return meets({0.0, std::exp(log_ratio) * (1.0 + 1e-13)}, delta);
}

// By the tilt at which the bound of a Gaussian that has this epsilon is least, and a steeper one.
bool ComposedLoss::is_clearly_below(double floor, double delta) const {
    Moments moments(terms_);
    const double c = -2.0 * std::log(slack(delta)) / floor;
    return c > 0.0 && c < 1e100 &&
           (renyi_meets(moments, c, floor, delta) || renyi_meets(moments, 2.0 * c, floor, delta));
}

Interval ComposedLoss::renyi_epsilon(Moments& moments, const Tilt& tilt, double delta) const {
    const auto is_met = [&](double x) { return renyi_meets(moments, tilt.at, x, delta); };
    if (is_met(0.0)) return {0.0, 0.0};
    const Moment& moment = moments.at(tilt.at);
    const double error = moment.error < kInfinity ? moment.error / tilt.at : 0.0;
    const double first = 0x1p-52 * std::fabs(tilt.bound) + error + 1e-300;
    return {0.0, stepped(is_met, tilt.bound, first, kInfinity)};
}

// D(x) <= 1 - e^(x - most), where losses add up to no more than `most`, and D(x) >= P[A] - e^x
// Q[A], A any share of outcomes, here those of which each loss is next to the largest.
Interval ComposedLoss::largest_epsilon(double delta, Interval best) const {
    constexpr double kNear = 0.9, kLeastLess = 1e-11, kRounding = 64.0 * kUnit;
    double most = 0.0;
    for (const Releases& term : terms_) most += term.count * term.law->largest_loss();
    if (!(most < kInfinite) || infinite_ > 0.0 || best.upper < kNear * most) return best;
    const auto rounded = [&](double x, double size, double way) {
        return x + way * kRounding * (size + std::fabs(x) + 1e-300);
    };
    best.upper = std::min(best.upper, rounded(most + std::log1p(-delta), most, 1.0));
    for (const double part : {1.0, 0.1, 0.01}) {
        double log_p = 0.0, log_q = 0.0, size = 0.0;
        for (const Releases& term : terms_) {
            const double largest = term.law->largest_loss();
            const double cut = largest - std::max(part * delta, kLeastLess * largest);
            const Masses kept = term.law->larger({cut, std::min(1.0, 1.0 / cut)});
            log_p += term.count * std::log(kept.mass.lower);
            log_q += term.count * std::log(kept.swapped.upper);
            size += term.count * std::fabs(std::log(kept.swapped.upper));
        }
        const double left = std::exp(log_p) * (1.0 - 1e-12) - delta;
        if (!(left > 0.0)) continue;
        best.lower = std::max(best.lower, rounded(std::log(left) - log_q, size, -1.0));
    }
    return best;
}

// Narrows what is known already, starting at search.x.
Interval ComposedLoss::contour_epsilon(Moments& moments, double delta, Search& search,
                                       Interval best, Effort effort) const {
    const double log_unit = std::log(delta), log_value = search.log_value;
    double& x = search.x;
    x = std::clamp(x, best.lower, best.upper);
    // Of trimmed laws other tilts are the best ones.
    const double first = !top_ || !(x > 0.0) ? kFirstTilt
                         : search.tilt > 0.0 ? search.tilt
                                             : kTiltOfTopless / x;
    const Tilt tilt = tilt_for_value(moments, log_value, first);
    if (top_) search.tilt = tilt.at;
    const int passes = effort == Effort::full ? 1 : kPasses;
    for (int pass = 0; pass < passes; ++pass) {
        const Images images = cheapest(moments, tilt.at, x, log_value);
        const double c = images.tilt();
        const auto contour = Contour::make(
            terms_, images, x, log_value, effort,
            tolerance(effort, std::max(c, search.rate) * std::max(x, kSmall), search.rate),
            search.is_parted);
        if (!contour) break;
        search.is_parted = contour->is_parted();
        const auto bounds = [&](double at) { return profile(*contour, at, log_unit); };
        const auto guessed = [&](double at) { return guess(*contour, at); };
        const double found = crossing(guessed, *contour, log_value, x, best);
        const double rate = std::max(guessed(found).rate, 1e-3 * c);
        search.rate = rate;
        best = stepped_out(bounds, delta, found, rate, best);
        const double moved = std::fabs(found - x);
        x = found;
        const bool is_many = top_ || contour->size() >= kManyFrequencies || effort >= Effort::rough;
        const double narrow = effort == Effort::sketch ? kSketched
                              : is_many                ? kNarrowIfMany
                                                       : kNarrow;
        if (best.upper - best.lower <= narrow * std::max(best.upper, kSmall) || moved < 0.05 / c ||
            contour->is_cut_short()) {
            break;
        }
    }
    return best;
}

struct ComposedLoss::TwoParts {
    Contour large;
    std::optional<Contour> small;
    // log of a Renyi bound at 0, and its tilt: where small losses have so little, this will do.
    double log_bound = -kInfinite, tilt = 0.0;
    std::optional<OneLoss> one;  // where small is what has one loss at the most

    Interval profile(double x, double log_unit) const {
        const Bounds above = large.profile(x, log_unit);
        const double size = std::fabs(log_bound) + std::fabs(tilt * x) + std::fabs(log_unit);
        const double bound = log_bound - tilt * x - log_unit + 16.0 * kUnit * size;
        Bounds below{0.0, one ? 0.0 : std::exp(std::min(bound, 700.0)) * (1.0 + 1e-13)};
        if (small) below = small->profile(x, log_unit);
        if (one) below = one->profile(x, log_unit);
        return {above.lower + below.lower, above.upper + below.upper};
    }
    Contour::Guess guess(double x) const {
        const Contour::Guess above = large.guess(x);
        if (!small && !one) return above;
        const Contour::Guess below = one ? one->guess(x) : small->guess(x);
        if (!std::isfinite(below.log_value)) return above;
        if (!std::isfinite(above.log_value)) return below;
        const double most = std::max(above.log_value, below.log_value);
        const double a = std::exp(above.log_value - most), b = std::exp(below.log_value - most);
        return {most + std::log(a + b), (a * above.rate + b * below.rate) / (a + b)};
    }
};

std::optional<ComposedLoss::TwoParts> ComposedLoss::two_parts(Moments& moments,
                                                              const Search& search,
                                                              double cut) const {
    constexpr double kSteepness = 6.0, kLogNothing = -21.0, kLogLoose = -18.4;  // 1e-9, 1e-8
    constexpr double kLostBeside = 1e-14;
    const double x = search.x, log_value = search.log_value;
    const Split split{cut, kSteepness / cut, cut == 0.0};
    const auto tolerance_at = [&](double c) {
        Contour::Tolerance found =
            tolerance(Effort::full, std::max(c, search.rate) * std::max(x, kSmall), search.rate);
        found.logarithm = std::max(found.logarithm, kLogLoose);
        return found;
    };
    std::optional<Contour> small;
    std::optional<OneLoss> one;
    ComposedLoss below(Terms{}, tilt_, most_work_);
    below.work_ = work_;
    double tilt = 0.0, log_bound = -kInfinity;
    if (split.is_zero()) {
        one = OneLoss::of(terms_);
        if (!one) return std::nullopt;
    } else {
        for (const Releases& term : terms_) {
            const auto part = term.law->part_below(split);
            if (!part) return std::nullopt;
            below.terms_.push_back({part, term.count});
        }
    }
    Moments of_small(below.terms_);
    if (!one) {
        tilt = tilt_for_loss(of_small, x);
        const double known = log_renyi(of_small, tilt, x);
        log_bound = known + tilt * x;
        if (known > log_value + kLogNothing) {
            const Images images = below.cheapest(of_small, tilt, x, log_value);
            const auto wanted = tolerance_at(images.tilt());
            small = OneLoss::is_likely_none(below.terms_)
                        ? Contour::make_large(below.terms_, images, x, log_value,
                                              Split{0.0, kInfinity}, wanted)
                        : Contour::make(below.terms_, images, x, log_value, Effort::full, wanted);
            if (!small) return std::nullopt;
        }
    }
    // The least Renyi bound of large losses alone, as far as these are not lost beside the others.
    const auto of_large = [&](double c) {
        const double whole = moments.at(c).value;
        const double rest = (one ? 0.0 : of_small.at(c).value) - whole;
        const double share = std::max(-expm1(std::min(rest, 0.0)), kLostBeside);
        const double value = whole + std::log(share) - c * x + log_kappa(c);
        return std::isfinite(value) ? value : kInfinity;
    };
    const double first = one ? tilt_for_loss(moments, x) : least_tilt(of_large);
    const Images images = cheapest(moments, first, x, log_value);
    auto large =
        Contour::make_large(terms_, images, x, log_value, split, tolerance_at(images.tilt()));
    if (!large) return std::nullopt;
    return TwoParts{std::move(*large), std::move(small), log_bound, tilt, std::move(one)};
}

Interval ComposedLoss::epsilon_of_parts(Moments& moments, double delta, Search& search,
                                        Interval best, double part) const {
    constexpr int kSteps = 20;
    constexpr double kCloseEnough = 1e-14;
    const double log_unit = std::log(delta);
    double& x = search.x;
    x = std::clamp(x, best.lower, best.upper);
    const auto parts = two_parts(moments, search, part * x);
    if (!parts) return best;
    for (int i = 0; i < kSteps; ++i) {
        const Contour::Guess guess = parts->guess(x);
        const double step = (guess.log_value - search.log_value) / guess.rate;
        if (!std::isfinite(step)) break;
        x = std::clamp(x + step, best.lower, best.upper);
        if (std::fabs(step) < kCloseEnough * x) break;
    }
    return stepped_out([&](double at) { return parts->profile(at, log_unit); }, delta, x,
                       parts->guess(x).rate, best);
}

Interval ComposedLoss::delta_of_parts(Moments& moments, Search& search, double log_unit,
                                      Interval best, double part) const {
    const auto parts = two_parts(moments, search, part * search.x);
    if (!parts) return best;
    const double known = parts->guess(search.x).log_value;
    if (std::isfinite(known)) search.log_value = known;
    const Interval bounds = parts->profile(search.x, log_unit);
    return {std::max(best.lower, bounds.lower), std::min(best.upper, bounds.upper)};
}

// From where D is about delta to where bounds of it, told by delta, say so for sure.
template <class Bounded>
Interval ComposedLoss::stepped_out(Bounded bounds, double delta, double x, double rate,
                                   Interval best) const {
    const Interval there = bounds(x);
    const double unit = 0x1p-52 * std::fabs(x) + 1e-300;
    const double finite = slack(delta) / delta;  // what infinite losses leave of it
    const double above = std::max((there.upper / finite - 1.0) / rate, unit);
    const double below = std::max((1.0 - there.lower / finite) / rate, unit);
    const auto is_met = [&](double at) { return meets(bounds(at), delta); };
    const auto is_exceeded = [&](double at) { return exceeds(bounds(at), delta); };
    return {std::max(best.lower, stepped(is_exceeded, x, -below, -kInfinity)),
            std::min(best.upper, stepped(is_met, x, above, kInfinity))};
}

Composition::Composition(const Terms& upper, std::optional<Terms> lower, double tilt,
                         double most_work)
    : upper_(upper, tilt, most_work) {
    if (lower) lower_.emplace(std::move(*lower), tilt, most_work);
}

Interval Composition::epsilon(double delta, double floor) const {
    const Interval upper = upper_.epsilon(delta, floor);
    // Where no contour serves for the laws above, none does for those below.
    if (!lower_ || upper.upper <= floor || !(upper.lower > 0.0)) return upper;
    return Interval{lower_->epsilon(delta, 0.0).lower, upper.upper};
}

Interval Composition::delta(double epsilon, double floor) const {
    const Interval upper = upper_.delta(epsilon, floor);
    if (!lower_ || upper.upper <= floor || !(upper.lower > 0.0)) return upper;
    return Interval{lower_->delta(epsilon).lower, upper.upper};
}

}  // namespace tightnoise::contour
