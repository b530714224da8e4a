#include "mechanisms/divergence_kernels.hpp"

#include "mechanisms/bounded_laplace.hpp"
#include "mechanisms/fast_fisher.hpp"
#include "mechanisms/fast_renyi.hpp"
#include "mechanisms/gaussian.hpp"
#include "mechanisms/quantized.hpp"
#include "mechanisms/rectified.hpp"
#include "mechanisms/truncated.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = kFastBlock;

// --- one coordinate ------------------------------------------------------------------------------

inline bool any_nan(const Lane& lane, double a, double b) {
    return std::isnan(lane.theta + lane.sigma + lane.lower + lane.upper) || std::isnan(a) ||
           std::isnan(b);
}

// D of order 1 + beta >= 1/2 of a pair. Never below 0 nor above the max-divergence, which it
// approaches as the order grows without bound.
template <class Pair>
double renyi_of_pair(const Pair& pair, double beta) {
    const double bound = pair.max_divergence();
    const double largest = bound < 0.0 ? 0.0 : bound;
    if (std::isinf(beta)) return largest;
    const double divergence = beta == 0.0 ? pair.kl() : pair.renyi(beta);
    if (!(divergence < largest)) return largest;
    return divergence > 0.0 ? divergence : 0.0;
}

// D_alpha(P || Q) from the pair (P, Q) or its reverse (Q, P): below order 1/2 the skew symmetry
// D_alpha(P || Q) = alpha/(1 - alpha) D_{1-alpha}(Q || P), whose order 1 - alpha is kept as beta.
template <class Pair>
double renyi_of_pairs(const Pair& pair, const Pair& reverse, double alpha) {
    if (alpha >= 0.5) return renyi_of_pair(pair, alpha - 1.0);
    return alpha / (1.0 - alpha) * renyi_of_pair(reverse, -alpha);
}

template <class Mechanism>
double renyi(const Lane& lane, double shift, double alpha) {
    if (any_nan(lane, shift, alpha)) return kNaN;
    const DoubleDouble k = standardised_shift(shift, lane);
    if (k.hi == 0.0) return 0.0;
    const Interval here = Mechanism::partition(lane);
    if (alpha >= 0.5) {
        const Mechanism base(here, lane.levels);
        return renyi_of_pair(typename Mechanism::Pair(base, k), alpha - 1.0);
    }
    const Mechanism base(seen_from(here, k), lane.levels);
    return alpha / (1.0 - alpha) * renyi_of_pair(typename Mechanism::Pair(base, -k), -alpha);
}

// Relative error 1e-12, or what a relative change of epsilon by 1e-14 makes.
template <class Mechanism>
double hockey_stick(const Lane& lane, double shift, double epsilon) {
    if (any_nan(lane, shift, epsilon)) return kNaN;
    const double least = epsilon < 0.0 ? -expm1(epsilon) : 0.0;  // S = everything, or nothing
    const DoubleDouble k = standardised_shift(shift, lane);
    if (k.hi == 0.0 || std::isinf(epsilon)) return least;
    const Interval here = Mechanism::partition(lane);
    const Mechanism base(k.hi > 0.0 ? here : mirrored(here), lane.levels);
    const double delta = typename Mechanism::Pair(base, k.hi > 0.0 ? k : -k).hockey_stick(epsilon);
    if (!(delta > least)) return least;
    return delta < 1.0 ? delta : 1.0;
}

template <class Mechanism>
double fisher_information(const Lane& lane, double, double) {
    if (any_nan(lane, 0.0, 0.0)) return kNaN;
    const Mechanism base(Mechanism::partition(lane), lane.levels);
    return base.fisher_information() / lane.sigma / lane.sigma;
}

template <class Mechanism>
double log_pdf(const Lane& lane, double x, double) {
    return any_nan(lane, x, 0.0) ? kNaN : Mechanism::log_pdf(x, lane);
}

template <class Mechanism>
double cdf(const Lane& lane, double x, double) {
    return any_nan(lane, x, 0.0) ? kNaN : Mechanism::cdf(x, lane);
}

template <class Mechanism>
double quantile(const Lane& lane, double q, double) {
    return any_nan(lane, q, 0.0) || q < 0.0 || q > 1.0 ? kNaN : Mechanism::quantile(q, lane);
}

// log P(output <= x) and log P(output > x): each from the other where it is next to 0.
inline double log_rest(double log_share) {
    return log1p(-exp(log_share));
}
constexpr double kLogHalf = -0.6931471805599453;

template <class Mechanism>
double log_cdf(const Lane& lane, double x, double) {
    if (any_nan(lane, x, 0.0)) return kNaN;
    const double above = Mechanism::log_above(x, lane);
    return above < kLogHalf ? log_rest(above) : Mechanism::log_below(x, lane);
}

template <class Mechanism>
double log_sf(const Lane& lane, double x, double) {
    if (any_nan(lane, x, 0.0)) return kNaN;
    const double below = Mechanism::log_below(x, lane);
    return below < kLogHalf ? log_rest(below) : Mechanism::log_above(x, lane);
}

template <class Mechanism>
double upper_quantile(const Lane& lane, double q, double) {
    return any_nan(lane, q, 0.0) || q < 0.0 || q > 1.0 ? kNaN : Mechanism::upper_quantile(q, lane);
}

template <class Mechanism>
double mean(const Lane& lane, double, double) {
    return any_nan(lane, 0.0, 0.0) ? kNaN : Mechanism::mean(lane);
}

template <class Mechanism>
double variance(const Lane& lane, double, double) {
    return any_nan(lane, 0.0, 0.0) ? kNaN : Mechanism::variance(lane);
}

// --- many coordinates ----------------------------------------------------------------------------

using Visitor = void (*)(void* visit, std::size_t done, std::size_t count,
                         const LaneColumns& columns);

// Not a template: a hundred copies would be a third of these kernels.
__attribute__((noinline)) void visit_pieces(const MechanismOperands& mechanism,
                                            const Operand& first, const Operand& second,
                                            std::size_t begin, std::size_t n, std::size_t piece,
                                            Visitor visitor, void* visit) {
    OperandBlock<kBlock> theta, sigma, lower, upper, a, b;
    for (std::size_t done = 0; done < n; done += piece) {
        const std::size_t from = begin + done;
        const std::size_t count = n - done < piece ? n - done : piece;
        visitor(visit, done, count,
                LaneColumns{theta.load(mechanism.theta, from, count),
                            sigma.load(mechanism.sigma, from, count),
                            lower.load(mechanism.lower, from, count),
                            upper.load(mechanism.upper, from, count), a.load(first, from, count),
                            b.load(second, from, count)});
    }
}

// Calls visit(done, count, columns) for pieces of the coordinates begin + done + i, i < count, of
// at most `piece` <= kBlock.
template <class Visit>
void for_each_piece(const MechanismOperands& mechanism, const Operand& first, const Operand& second,
                    std::size_t begin, std::size_t n, std::size_t piece, Visit visit) {
    visit_pieces(
        mechanism, first, second, begin, n, piece,
        [](void* self, std::size_t done, std::size_t count, const LaneColumns& columns) {
            (*static_cast<Visit*>(self))(done, count, columns);
        },
        &visit);
}

inline Lane lane_of(const LaneColumns& columns, std::size_t i, int levels) {
    return {columns.theta[i], columns.sigma[i], columns.lower[i], columns.upper[i], levels};
}

// Calls visit(i, lane, first, second) for the coordinates begin + i, i < n.
template <class Visit>
void for_each_lane(const MechanismOperands& mechanism, const Operand& first, const Operand& second,
                   std::size_t begin, std::size_t n, Visit visit) {
    for_each_piece(mechanism, first, second, begin, n, kBlock,
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       for (std::size_t i = 0; i < count; ++i) {
                           visit(done + i, lane_of(columns, i, mechanism.levels), columns.shift[i],
                                 columns.alpha[i]);
                       }
                   });
}

template <double (*F)(const Lane&, double, double)>
void map(const MechanismOperands& mechanism, const Operand& first, const Operand& second,
         std::size_t begin, std::size_t n, double* out) {
    for_each_lane(
        mechanism, first, second, begin, n,
        [out](std::size_t i, const Lane& lane, double a, double b) { out[i] = F(lane, a, b); });
}

// renyi by the closed form where its error bound allows.
template <class Mechanism, class Forms>
void fast_renyi(const MechanismOperands& mechanism, const Operand& shift, const Operand& alpha,
                std::size_t begin, std::size_t n, double* out) {
    using Fast = typename Forms::Renyi;
    const int levels = Forms::cells(mechanism.levels);
    if (Fast::lanes(levels) == 0) {
        return map<renyi<Mechanism>>(mechanism, shift, alpha, begin, n, out);
    }
    StandardColumns x;
    Fast fast;
    Column error;
    for_each_piece(mechanism, shift, alpha, begin, n, Fast::lanes(levels),
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       standardise(Forms::seen(columns), count, x);
                       fast.prepare(x, levels, count);
                       fast.renyi(x, count, out + done, error.at);
                       for (std::size_t i = 0; i < count; ++i) {
                           // Beyond 1e4 sigma the bound can miss: no divergence is negative.
                           if (error.at[i] < kFastTolerance && out[done + i] >= 0.0) continue;
                           out[done + i] = renyi<Mechanism>(lane_of(columns, i, mechanism.levels),
                                                            columns.shift[i], columns.alpha[i]);
                       }
                   });
}

// The sound rule (erratum to Proposition 5.1 and Algorithm 1 of "Privacy Amplification for the
// Gaussian Mechanism via Bounded Support", which take only theta + c and only one direction, and so
// understate the cost by up to 20 times): D is additive over coordinates and does not decrease with
// |theta'_j - theta_j|, so its supremum over the box |theta'_j - theta_j| <= c_j is attained where
// each coordinate moves by c_j, up or down, whichever costs more. Base points theta +- c are
// reached as u -+ k, so that a tiny c keeps its relative accuracy.
template <class Mechanism>
class WorstOfCoordinate {
  public:
    WorstOfCoordinate(const Lane& lane, DoubleDouble k)
        : here_(Mechanism::partition(lane)),
          base_(here_, lane.levels),
          above_(seen_from(here_, k), lane.levels),
          below_(seen_from(here_, -k), lane.levels),
          up_(base_, k),
          down_(base_, -k),
          from_above_(above_, -k),
          from_below_(below_, k) {}

    double forward(double alpha) const {
        return larger_of(renyi_of_pairs(up_, from_above_, alpha),
                         renyi_of_pairs(down_, from_below_, alpha));
    }
    double backward(double alpha) const {
        return larger_of(renyi_of_pairs(from_above_, up_, alpha),
                         renyi_of_pairs(from_below_, down_, alpha));
    }

  private:
    using Pair = typename Mechanism::Pair;
    Interval here_;
    Mechanism base_, above_, below_;
    Pair up_, down_, from_above_, from_below_;
};

// Adds what order number a costs one coordinate; a product among it is rounded first.
inline void add_costs(CompensatedSum* sums, std::size_t alpha_count, std::size_t a, double forward,
                      double backward) {
    add(sums[a], rounded_now(forward));
    add(sums[alpha_count + a], rounded_now(backward));
}

template <class Mechanism>
void rdp_sums(const MechanismOperands& mechanism, const Operand& c, const double* alphas,
              std::size_t alpha_count, std::size_t begin, std::size_t n, CompensatedSum* sums) {
    for_each_lane(mechanism, c, c, begin, n,
                  [&](std::size_t, const Lane& lane, double bound, double) {
                      const DoubleDouble k = standardised_shift(bound, lane);
                      if (any_nan(lane, bound, 0.0)) {
                          for (std::size_t a = 0; a < 2 * alpha_count; ++a) add(sums[a], kNaN);
                          return;
                      }
                      if (k.hi == 0.0) return;
                      const WorstOfCoordinate<Mechanism> worst(lane, k);
                      for (std::size_t a = 0; a < alpha_count; ++a) {
                          add_costs(sums, alpha_count, a, worst.forward(alphas[a]),
                                    worst.backward(alphas[a]));
                      }
                  });
}

// A group of orders of a block of coordinates: forward and backward, NaN where the closed form's
// error bound is too large.
constexpr std::size_t kOrders = 16;
struct WorstOfBlock {
    Column forward[kOrders], backward[kOrders];
};

// Coordinate i again, the accurate way, at the orders where the closed form is not good enough.
template <class Mechanism>
void redo(const Lane& lane, double bound, const double* alphas, std::size_t orders, std::size_t i,
          WorstOfBlock& block) {
    const DoubleDouble k = standardised_shift(bound, lane);
    const bool bad = any_nan(lane, bound, 0.0);
    if (bad || k.hi == 0.0) {
        for (std::size_t a = 0; a < orders; ++a) {
            block.forward[a].at[i] = block.backward[a].at[i] = bad ? kNaN : 0.0;
        }
        return;
    }
    const WorstOfCoordinate<Mechanism> worst(lane, k);
    for (std::size_t a = 0; a < orders; ++a) {
        if (std::isnan(block.forward[a].at[i])) block.forward[a].at[i] = worst.forward(alphas[a]);
        if (std::isnan(block.backward[a].at[i]))
            block.backward[a].at[i] = worst.backward(alphas[a]);
    }
}

TIGHTNOISE_VECTOR_LOOP inline void keep_larger(const Column& a, const Column& a_error,
                                               const Column& b, const Column& b_error,
                                               std::size_t n, Column& out) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double error = larger_of(a_error.at[i], b_error.at[i]);
        const double value = larger_of(a.at[i], b.at[i]);
        // A NaN in either shows in the sum, whatever a comparison makes of it.
        const double checked = error + 0.0 * (a_error.at[i] + b_error.at[i]);
        const double kept = value >= 0.0 ? value : kNaN;
        out.at[i] = checked < kFastTolerance ? kept : kNaN;
    }
}

// rdp_sums by the closed form where its error bound allows.
template <class Mechanism, class Forms>
void fast_rdp_sums(const MechanismOperands& mechanism, const Operand& c, const double* alphas,
                   std::size_t alpha_count, std::size_t begin, std::size_t n,
                   CompensatedSum* sums) {
    using Fast = typename Forms::Renyi;
    const int levels = Forms::cells(mechanism.levels);
    if (Fast::lanes(levels) == 0) {
        return rdp_sums<Mechanism>(mechanism, c, alphas, alpha_count, begin, n, sums);
    }
    StandardColumns x[4];  // theta to theta + c, theta - c; theta + c, theta - c to theta
    Fast fast[4];
    Column value[4], error[4];
    WorstOfBlock worst;
    const auto piece = [&](std::size_t, std::size_t count, const LaneColumns& columns) {
        standardise(Forms::seen(columns), count, x[0]);
        x[1] = x[0];
        for (std::size_t i = 0; i < count; ++i) x[1].k.at[i] = -x[0].k.at[i];
        step_back(x[0], 1.0, count, x[2]);
        step_back(x[0], -1.0, count, x[3]);
        for (int pair = 0; pair < 4; ++pair) fast[pair].prepare(x[pair], levels, count);
        for (std::size_t first = 0; first < alpha_count; first += kOrders) {
            const std::size_t orders =
                alpha_count - first < kOrders ? alpha_count - first : kOrders;
            for (std::size_t a = 0; a < orders; ++a) {
                for (int pair = 0; pair < 4; ++pair) {
                    set_order(alphas[first + a], count, x[pair]);
                    fast[pair].renyi(x[pair], count, value[pair].at, error[pair].at);
                }
                keep_larger(value[0], error[0], value[1], error[1], count, worst.forward[a]);
                keep_larger(value[2], error[2], value[3], error[3], count, worst.backward[a]);
            }
            for (std::size_t i = 0; i < count; ++i) {
                bool all_kept = true;
                for (std::size_t a = 0; a < orders; ++a) {
                    const double both = worst.forward[a].at[i] + worst.backward[a].at[i];
                    all_kept = all_kept && !std::isnan(both);
                }
                if (!all_kept) {
                    redo<Mechanism>(lane_of(columns, i, mechanism.levels), columns.shift[i],
                                    alphas + first, orders, i, worst);
                }
                for (std::size_t a = 0; a < orders; ++a) {
                    add_costs(sums, alpha_count, first + a, worst.forward[a].at[i],
                              worst.backward[a].at[i]);
                }
            }
        }
    };
    for_each_piece(mechanism, c, c, begin, n, Fast::lanes(levels), piece);
}

template <class Mechanism>
double weighted_fisher_information(const Lane& lane, double bound) {
    if (any_nan(lane, bound, 0.0)) return kNaN;
    const double k = standardised_shift(bound, lane).hi;
    if (k == 0.0) return 0.0;
    const Mechanism base(Mechanism::partition(lane), lane.levels);
    return k * k * base.fisher_information();
}

template <class Mechanism>
CompensatedSum fisher_sum(const MechanismOperands& mechanism, const Operand& c, std::size_t begin,
                          std::size_t n) {
    CompensatedSum sum;
    for_each_lane(mechanism, c, c, begin, n,
                  [&](std::size_t, const Lane& lane, double bound, double) {
                      add(sum, rounded_now(weighted_fisher_information<Mechanism>(lane, bound)));
                  });
    return sum;
}

// Fisher information by the closed form where its error bound allows. Calls visit(first, count,
// columns, x, value, error) for each piece: what is too far off is left to it.
template <class Forms, class Visit>
void for_each_fast_fisher(const MechanismOperands& mechanism, const Operand& c, std::size_t begin,
                          std::size_t n, Visit visit) {
    StandardColumns x;
    Column value, error;
    for_each_piece(mechanism, c, c, begin, n, kBlock,
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       standardise(Forms::seen(columns), count, x);
                       Forms::fisher(x, mechanism.levels, count, value.at, error.at);
                       visit(done, count, columns, x, value, error);
                   });
}

template <class Mechanism, class Forms>
void fast_fisher_information(const MechanismOperands& mechanism, const Operand& first,
                             const Operand&, std::size_t begin, std::size_t n, double* out) {
    for_each_fast_fisher<Forms>(
        mechanism, first, begin, n,
        [&](std::size_t done, std::size_t count, const LaneColumns& columns, const StandardColumns&,
            const Column& value, const Column& error) {
            for (std::size_t i = 0; i < count; ++i) {
                const double sigma = columns.sigma[i];
                out[done + i] = value.at[i] / sigma / sigma;
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (error.at[i] < kFastTolerance) continue;
                out[done + i] =
                    fisher_information<Mechanism>(lane_of(columns, i, mechanism.levels), 0.0, 0.0);
            }
        });
}

template <class Mechanism, class Forms>
CompensatedSum fast_fisher_sum(const MechanismOperands& mechanism, const Operand& c,
                               std::size_t begin, std::size_t n) {
    CompensatedSum sum;
    for_each_fast_fisher<Forms>(
        mechanism, c, begin, n,
        [&](std::size_t, std::size_t count, const LaneColumns& columns, const StandardColumns& x,
            const Column& value, const Column& error) {
            CompensatedSum piece = sum;  // kept in registers
            for (std::size_t i = 0; i < count; ++i) {
                const double k = x.k.at[i];
                const double term =
                    error.at[i] < kFastTolerance
                        ? k * k * value.at[i]
                        : weighted_fisher_information<Mechanism>(
                              lane_of(columns, i, mechanism.levels), columns.shift[i]);
                add(piece, rounded_now(term));
            }
            sum = piece;
        });
    return sum;
}

template <class Mechanism>
constexpr MechanismKernels kernels_of() {
    return {
        map<renyi<Mechanism>>,   map<hockey_stick<Mechanism>>, map<fisher_information<Mechanism>>,
        map<log_pdf<Mechanism>>, map<cdf<Mechanism>>,          map<log_cdf<Mechanism>>,
        map<log_sf<Mechanism>>,  map<quantile<Mechanism>>,     map<upper_quantile<Mechanism>>,
        map<mean<Mechanism>>,    map<variance<Mechanism>>,     rdp_sums<Mechanism>,
        fisher_sum<Mechanism>};
}

// The closed forms of the mechanisms, and how they see a coordinate.
struct SupportForms {
    static LaneColumns seen(const LaneColumns& columns) { return columns; }
    static int cells(int levels) { return levels; }
};
struct RectifiedForms : SupportForms {
    using Renyi = FastRectified;
    static constexpr auto fisher = fisher_rectified;
};
struct TruncatedForms : SupportForms {
    using Renyi = FastTruncated;
    static constexpr auto fisher = fisher_truncated;
};
struct QuantizedForms : SupportForms {
    using Renyi = FastCells;
    static constexpr auto fisher = fisher_quantized;
};
// Two cells that meet at 0.
struct SignForms {
    using Renyi = FastCells;
    static constexpr auto fisher = fisher_sign;
    static LaneColumns seen(LaneColumns columns) {
        static constexpr Column threshold = {};
        columns.lower = columns.upper = threshold.at;
        return columns;
    }
    static int cells(int) { return 2; }
};

template <class Mechanism, class Forms>
constexpr MechanismKernels fast_kernels_of() {
    MechanismKernels kernels = kernels_of<Mechanism>();
    kernels.renyi = fast_renyi<Mechanism, Forms>;
    kernels.rdp_sums = fast_rdp_sums<Mechanism, Forms>;
    kernels.fisher_information = fast_fisher_information<Mechanism, Forms>;
    kernels.fisher_sum = fast_fisher_sum<Mechanism, Forms>;
    return kernels;
}

}  // namespace

extern const DivergenceKernels TIGHTNOISE_AT_LEVEL(divergence_kernels) = {
    kernels_of<Gaussian>(),
    fast_kernels_of<Rectified, RectifiedForms>(),
    fast_kernels_of<Truncated, TruncatedForms>(),
    fast_kernels_of<Quantized, QuantizedForms>(),
    fast_kernels_of<StochasticSign, SignForms>(),
    kernels_of<BoundedLaplace>()};

}  // namespace tightnoise
