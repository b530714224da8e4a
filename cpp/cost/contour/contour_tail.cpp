#include "cost/contour/contour.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "runtime/interruption.hpp"

// What is left out beyond the last frequency: sections 3 and 7.1 of CONTOUR.md.
namespace tightnoise::contour {
namespace {

constexpr double kMostKept = 0.7;  // steps are tried where log |F| leaves so much room
constexpr double kLeastWalk = 2e7, kFewLooks = 40.0;       // work at the least, with no frequencies
constexpr double kAgain = 0.1;                             // that of another try, of the first
constexpr double kLonger = 2.0, kShortest = 0.5;           // by the last step; by frequencies
constexpr double kMostOfSteps = 0.5, kShareOfStep = 0.25;  // of a truncation; of what is left

// What stretches from y on take of a truncation by e^log_wanted/y: (3).
struct Taken {
    double y, gap, log_wanted;
    double share = 0.0, density = 0.0;

    double of(double from, double to, double log_most) const {
        const double width = (to - from + gap) / (from - gap) / to;
        return y * width * clipped_exp(log_most - log_wanted);
    }
    void take(double from, double to, double log_most) {
        share += of(from, to, log_most);
        density += (to - from + gap) * clipped_exp(log_most);
    }
};

}  // namespace

// What each line knows from y on, up to `end`.
std::vector<Contour::Tail> Contour::tails(double y, double end) const {
    std::vector<Tail> known;
    for (const auto& line : lines_) {
        known.push_back({line->log_tail_until(y, end),
                         split_.is_none() ? 0.0 : std::exp(line->log_large_tail(y))});
    }
    return known;
}

// log of a bound of |F|. With a split |prod phi_i^n_i - prod a_i^n_i| <= sum n_i b_i/m_i times prod
// m_i^n_i, where |phi_i - a_i| <= b_i and |phi_i|, |a_i| <= m_i: |a_i| <= |phi_i| + b_i; less what
// is linear in phi_i - a_i half that sum squared, |a_i| + b_i <= m_i.
double Contour::log_product(const Terms& terms, const std::vector<Tail>& tails) const {
    double whole = 0.0, parts = 0.0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        double log_most = std::min(tails[i].log_most, 0.0);
        if (!split_.is_none()) {
            const double large = tails[i].large, again = split_.is_zero() ? 2.0 * large : large;
            const double most = std::min(std::exp(log_most) + again, 1.0);
            log_most = std::log(most);
            if (large > 0.0) parts += terms[i].count * large / most;
        }
        whole += terms[i].count * log_most;
    }
    if (split_.is_none()) return whole;
    const double large = split_.leaves_one ? 0.5 * parts * parts : parts;
    return whole + std::log(large * (1.0 + 1e-12));
}

// log of a bound of |F| from y on. Where lines know no more than |F| <= 1 beyond a last frequency,
// that adds 1/(pi last) to a truncation at y.
double Contour::log_tail(const Terms& terms, double y) const {
    const double log_most = log_product(terms, tails(y, kInfinite)), last = tail_end();
    if (!(last < kInfinite)) return log_most;
    return std::log(clipped_exp(log_most) + y / last) + 1e-12;
}

double Contour::tail_end() const {
    double last = kInfinite;
    for (const auto& line : lines_) last = std::min(last, line->tail_end());
    return last;
}

// What is truncated at y, if it is no more than by |F| <= e^log_wanted, where from `end` on
// smoothing makes |F| at most e^log_end. `may_walk`: by steps, all laws' together, to where what
// lines know from there on says enough.
std::optional<Contour::Truncated> Contour::truncated_until(const Terms& terms, double y, double end,
                                                           double log_end, double log_wanted,
                                                           bool may_walk) {
    if (tail_end() < end) return std::nullopt;
    const bool has_room = may_walk && kMostKept * log_size_ <= log_wanted;
    Taken taken{y, step_, log_wanted};
    double at = y, step = y;
    const auto go_to = [&](const Stretch& next) {
        taken.take(at, next.to, next.log_most);
        step = kLonger * (next.to - at);
        at = next.to;
    };
    walk_.erase(walk_.begin(), std::find_if(walk_.begin(), walk_.end(),
                                            [&](const Stretch& each) { return each.to > y; }));
    if (!walk_.empty() && walk_.front().from > y) walk_.clear();
    auto known = walk_.begin();
    for (; known != walk_.end(); ++known) {
        if (taken.share + taken.of(at, known->to, known->log_most) > kMostOfSteps) break;
        go_to(*known);
    }
    walk_.erase(known, walk_.end());
    for (;;) {
        poll();
        const std::vector<Tail> from_there = tails(at, end);
        const double log_most =
            at < end ? std::max(log_product(terms, from_there), log_end) : log_end;
        const double before = at > y ? at - step_ : y;
        if (taken.share + y / before * clipped_exp(log_most - log_wanted) <= 1.0) {
            const double most = clipped_exp(log_most);
            return Truncated{taken.share * clipped_exp(log_wanted) / y + most / before,
                             taken.density + 2.0 * end * most};
        }
        if (!has_room || !(at < end)) return std::nullopt;
        const auto serves = [&](const Stretch& tried) {
            return taken.of(at, tried.to, tried.log_most) <=
                   kShareOfStep * (kMostOfSteps - taken.share);
        };
        const auto next = stretch(terms, at, step, end, from_there, serves);
        if (!next) return std::nullopt;
        walk_.push_back(*next);
        go_to(*next);
    }
}

// The longest one that serves, from the first one tried on; none where no short one does, nor with
// more work than is left. It ends at `end`, beyond which tails do not hold.
template <class Serves>
std::optional<Contour::Stretch> Contour::stretch(const Terms& terms, double from, double step,
                                                 double end, const std::vector<Tail>& tails,
                                                 const Serves& serves) {
    const auto along = [&](double length) {
        const double to = std::min(from + length, end);
        std::vector<Tail> here = tails;
        for (std::size_t i = 0; i < here.size(); ++i) {
            here[i].log_most = std::min(here[i].log_most, lines_[i]->log_largest(from, to - from));
        }
        return Stretch{from, to, log_product(terms, here)};
    };
    double of_look = 0.0;
    for (const auto& line : lines_) of_look += static_cast<double>(line->work_of_look());
    const double most_work = std::max(kLeastWalk, kFewLooks * of_look) +
                             work() * static_cast<double>(frequencies_.size());
    const auto may_take = [&](double more) { return (walked_ += more) <= most_work; };
    const double shortest = kShortest * step_;
    if (looked_.from != from) looked_ = along(shortest);
    if (!serves(looked_) || !may_take(of_look)) return std::nullopt;
    Stretch found = along(step);
    while (!serves(found)) {
        if (!(step > shortest) || !may_take(kAgain * of_look)) return std::nullopt;
        step = std::max(0.5 * step, shortest);
        found = along(step);
    }
    return found;
}

}  // namespace tightnoise::contour
