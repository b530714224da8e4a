// The smallest scale with which additive noise is private: the root of log(D / delta) in sigma,
// where D is the greatest hockey-stick divergence of the noise and itself, shifted.
//
// At a local maximum the slope of D by the shift is 0, so the slope of that maximum by sigma is
// dD/dsigma there. A Newton step in sigma, after which the shift follows the maximum that it found
// before, costs a few divergences. This knows one maximum; whether another one is higher is for the
// certificate of worst_shift.hpp to say. Sensitivity 1 throughout. Only for .cpp files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "mechanisms/shift_divergence.hpp"
#include "numeric/roots.hpp"

namespace tightnoise {

// A shift and the divergence there.
struct ShiftedPair {
    double shift;
    ShiftDivergence at;
};

// The least sigma found to be private, and the shift that forbids less.
struct ScaleRoot {
    double sigma;
    double shift;
};

// law_of(sigma) is the noise.
template <class LawOf>
class ScaleSearch {
  public:
    // `melting`: the sigma from which on the noise has one mode, where the divergence inside of
    // (0, 1) stops having maxima: log D is nearly linear in log(melting - sigma) below. Infinite
    // where there is none: Newton steps then go by sigma.
    ScaleSearch(LawOf law_of, double epsilon, double target, double melting)
        : law_of_(law_of), epsilon_(epsilon), log_target_(std::log(target)), melting_(melting) {}

    // The greatest shift alone. `low` is not private, `high` is; searches start at `sigma` and end
    // below the target by a fraction `close` at most.
    ScaleRoot at_last_shift(double low, double high, double sigma, double close) const {
        return solve(low, high, sigma, close, [&](double s) { return pair(law_of_(s), 1.0); });
    }

    // The highest of the maxima inside of (0, 1) that the given shifts, found at `sigma`, lead to;
    // where they lead nowhere, the highest that a few shifts tell of.
    ScaleRoot at_maxima(double low, double high, double sigma, const std::vector<double>& shifts,
                        double close) const {
        constexpr std::size_t kMost = 8;
        struct Maximum {
            double from_last, sigma;
        };
        std::vector<Maximum> known;
        for (const double shift : shifts) known.push_back({1.0 - shift, sigma});
        return solve(low, high, sigma, close, [&](double s) {
            const auto law = law_of_(s);
            const auto moved = [&](const Maximum& each, double from_last) {
                return from_last / (each.from_last * std::sqrt(room(s) / room(each.sigma)));
            };
            const auto is_near = [&](const Maximum& each, double from_last) {
                return moved(each, from_last) > 0.75 && moved(each, from_last) < 1.33;
            };
            std::optional<ShiftedPair> best;
            for (std::size_t i = 0, count = known.size(); i < count; ++i) {
                const auto top = near(law, 1.0 - std::min(1.0 / moved(known[i], 1.0), 0.99));
                if (!top) continue;
                const Maximum here{1.0 - top->shift, s};
                // Another one, if this one is gone at this sigma; both are followed from here on.
                if (is_near(known[i], here.from_last)) {
                    known[i] = here;
                } else if (known.size() < kMost) {
                    known.push_back(here);
                }
                if (!best || top->at.delta > best->at.delta) best = top;
            }
            if (!best) {
                best = highest(law, s);
                known.push_back({1.0 - best->shift, s});
            }
            return *best;
        });
    }

    // The maximum of D next to `shift`, if one is near.
    template <class Law>
    std::optional<ShiftedPair> near(const Law& law, double shift) const {
        ShiftedPair here = pair(law, shift);
        const bool up = here.at.d_shift > 0.0;
        // Small at first: a maximum may be a narrow one on the flank of another.
        double step = 0.003 * (1.0 - shift);
        for (int i = 0; i < 6; ++i, step *= 2.5) {
            const double next = here.shift + (up ? step : -step);
            if (next <= 0.0 || next >= 1.0) break;
            const ShiftedPair there = pair(law, next);
            if ((there.at.d_shift > 0.0) != up)
                return up ? top(law, here, there) : top(law, there, here);
            here = there;
        }
        return {};
    }

    // The highest D at eight shifts, and at the maxima inside of (0, 1) that these tell of.
    template <class Law>
    ShiftedPair highest(const Law& law, double sigma) const {
        constexpr int kPoints = 8;
        const double typical = 0.8 * std::sqrt(room(sigma));
        double t = std::min(0.7, 4.0 * typical);
        const double ratio = std::pow(0.15 * typical / t, 1.0 / (kPoints - 1));
        ShiftedPair before = pair(law, 1.0 - t);
        ShiftedPair best = before;
        for (int i = 1; i < kPoints; ++i) {
            t *= ratio;
            ShiftedPair here = pair(law, 1.0 - t);
            const bool turns = before.at.d_shift > 0.0 && here.at.d_shift <= 0.0;
            const ShiftedPair found = turns ? top(law, before, here) : here;
            if (found.at.delta > best.at.delta) best = found;
            before = here;
        }
        return best;
    }

  private:
    double room(double sigma) const {
        return std::isfinite(melting_) ? std::max(1.0 - sigma / melting_, 1e-12) : 0.1;
    }

    double excess(const ShiftDivergence& at) const {
        return at.delta > 0.0 ? std::log(at.delta) - log_target_
                              : -std::numeric_limits<double>::infinity();
    }

    template <class Law>
    ShiftedPair pair(const Law& law, double shift) const {
        return {shift, shift_divergence(law, shift, epsilon_)};
    }

    // The maximum between two shifts, where the slope turns from rising to falling, to as many
    // digits as log D needs: the nearer to the target, the more.
    template <class Law>
    ShiftedPair top(const Law& law, const ShiftedPair& low, const ShiftedPair& high) const {
        ShiftedPair best = low.at.delta > high.at.delta ? low : high;
        FalsePosition root(low.shift, low.at.d_shift, high.shift, high.at.d_shift);
        for (int i = 0; i < 60; ++i) {
            const ShiftedPair here = pair(law, root.next());
            if (here.at.delta > best.at.delta) best = here;
            const double wrong = std::fabs(excess(here.at));
            const double enough = std::max(1e-13, 0.01 * wrong * std::min(wrong, 1.0));
            if (std::fabs(here.at.d_shift) * root.width() <= enough * here.at.delta) break;
            root.narrow(here.shift, here.at.d_shift);
        }
        return best;
    }

    template <class PairOf>
    ScaleRoot solve(double low, double high, double sigma, double close, PairOf pair_of) const {
        ScaleRoot root{high, 1.0};
        for (int i = 0; i < 200 && high - low > 0x1p-51 * high; ++i) {
            const ShiftedPair here = pair_of(sigma);
            const double wrong = excess(here.at);
            if (wrong > 0.0) {
                low = sigma;
            } else {
                high = sigma;
                root = {sigma, here.shift};
                if (wrong >= -close) break;
            }
            // Where D is far from the target a step may lead to next to 0, and to no end of peaks.
            sigma = std::max(newton(sigma, wrong + 0.5 * close, here.at), 0.5 * sigma);
            if (!(sigma > low && sigma < high)) sigma = step_between(low, high);
        }
        return root;
    }

    double newton(double sigma, double wrong, const ShiftDivergence& at) const {
        const double step = wrong * at.delta / at.d_scale;
        const double gap = melting_ - sigma;
        return std::isfinite(gap) && gap > 0.0 ? melting_ - gap * std::exp(step / gap)
                                               : sigma - step;
    }

    // Halves the interval, or doubles the distance to where the maxima melt if that is a longer way
    // from `low`.
    double step_between(double low, double high) const {
        const double middle = 0.5 * (low + high);
        const double farther = melting_ - 2.0 * (melting_ - high);
        return high < melting_ && farther > middle ? farther : middle;
    }

    LawOf law_of_;
    double epsilon_;
    double log_target_;
    double melting_;
};

}  // namespace tightnoise
