#include "mechanisms/divergence_kernels.hpp"

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
    const double largest = pair.max_divergence();
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

// Relative error 1e-12 unless delta is a small difference of near-equal probabilities.
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

template <class Mechanism>
double mean(const Lane& lane, double, double) {
    return any_nan(lane, 0.0, 0.0) ? kNaN : Mechanism::mean(lane);
}

template <class Mechanism>
double variance(const Lane& lane, double, double) {
    return any_nan(lane, 0.0, 0.0) ? kNaN : Mechanism::variance(lane);
}

// --- many coordinates ----------------------------------------------------------------------------

// Calls visit(done, count, columns) for pieces of the coordinates begin + done + i, i < count, of
// at most kBlock.
template <class Visit>
void for_each_piece(const MechanismOperands& mechanism, const Operand& first, const Operand& second,
                    std::size_t begin, std::size_t n, Visit visit) {
    OperandBlock<kBlock> theta, sigma, lower, upper, a, b;
    for (std::size_t done = 0; done < n; done += kBlock) {
        const std::size_t from = begin + done;
        const std::size_t count = n - done < kBlock ? n - done : kBlock;
        visit(done, count,
              LaneColumns{theta.load(mechanism.theta, from, count),
                          sigma.load(mechanism.sigma, from, count),
                          lower.load(mechanism.lower, from, count),
                          upper.load(mechanism.upper, from, count), a.load(first, from, count),
                          b.load(second, from, count)});
    }
}

inline Lane lane_of(const LaneColumns& columns, std::size_t i, int levels) {
    return {columns.theta[i], columns.sigma[i], columns.lower[i], columns.upper[i], levels};
}

// Calls visit(i, lane, first, second) for the coordinates begin + i, i < n.
template <class Visit>
void for_each_lane(const MechanismOperands& mechanism, const Operand& first, const Operand& second,
                   std::size_t begin, std::size_t n, Visit visit) {
    for_each_piece(mechanism, first, second, begin, n,
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       for (std::size_t i = 0; i < count; ++i) {
                           visit(done + i, lane_of(columns, i, mechanism.levels), columns.shift[i],
                                 columns.alpha[i]);
                       }
                   });
}

// renyi by the closed form where its error bound allows.
template <class Mechanism, void (*Fast)(const LaneColumns&, std::size_t, double*, double*)>
void fast_renyi(const MechanismOperands& mechanism, const Operand& shift, const Operand& alpha,
                std::size_t begin, std::size_t n, double* out) {
    Column error;
    for_each_piece(mechanism, shift, alpha, begin, n,
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       Fast(columns, count, out + done, error.at);
                       for (std::size_t i = 0; i < count; ++i) {
                           if (error.at[i] < kFastTolerance) continue;
                           out[done + i] = renyi<Mechanism>(lane_of(columns, i, mechanism.levels),
                                                            columns.shift[i], columns.alpha[i]);
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

// sum += term, with what rounding took kept in correction (Neumaier).
inline void add_compensated(double& sum, double& correction, double term) {
    const DoubleDouble exact = two_sum(sum, term);
    sum = exact.hi;
    correction += exact.lo;
}

inline double larger(double a, double b) {
    return a > b ? a : b;
}

// The sound rule (erratum to Proposition 5.1 and Algorithm 1 of "Privacy Amplification for the
// Gaussian Mechanism via Bounded Support", which take only theta + c and only one direction, and so
// understate the cost by up to 20 times): D is additive over coordinates and does not decrease with
// |theta'_j - theta_j|, so its supremum over the box |theta'_j - theta_j| <= c_j is attained where
// each coordinate moves by c_j, up or down, whichever costs more. Base points theta +- c are
// reached as u -+ k, so that a tiny c keeps its relative accuracy.
template <class Mechanism>
void rdp_sums(const MechanismOperands& mechanism, const Operand& c, const double* alphas,
              std::size_t alpha_count, std::size_t begin, std::size_t n, double* out) {
    using Pair = typename Mechanism::Pair;
    double* forward = out;
    double* backward = out + alpha_count;
    double* forward_rest = out + 2 * alpha_count;
    double* backward_rest = out + 3 * alpha_count;
    for (std::size_t a = 0; a < 4 * alpha_count; ++a) out[a] = 0.0;
    for_each_lane(mechanism, c, c, begin, n,
                  [&](std::size_t, const Lane& lane, double bound, double) {
                      const DoubleDouble k = standardised_shift(bound, lane);
                      if (k.hi == 0.0) return;
                      const Interval here = Mechanism::partition(lane);
                      const Mechanism base(here, lane.levels);
                      const Mechanism above(seen_from(here, k), lane.levels);
                      const Mechanism below(seen_from(here, -k), lane.levels);
                      const Pair up(base, k), down(base, -k);
                      const Pair from_above(above, -k), from_below(below, k);
                      for (std::size_t a = 0; a < alpha_count; ++a) {
                          const double alpha = alphas[a];
                          add_compensated(forward[a], forward_rest[a],
                                          larger(renyi_of_pairs(up, from_above, alpha),
                                                 renyi_of_pairs(down, from_below, alpha)));
                          add_compensated(backward[a], backward_rest[a],
                                          larger(renyi_of_pairs(from_above, up, alpha),
                                                 renyi_of_pairs(from_below, down, alpha)));
                      }
                  });
}

template <class Mechanism>
void fisher_sum(const MechanismOperands& mechanism, const Operand& c, std::size_t begin,
                std::size_t n, double* out) {
    out[0] = out[1] = 0.0;
    for_each_lane(mechanism, c, c, begin, n,
                  [out](std::size_t, const Lane& lane, double bound, double) {
                      const double k = standardised_shift(bound, lane).hi;
                      if (k == 0.0) return;
                      const Mechanism base(Mechanism::partition(lane), lane.levels);
                      add_compensated(out[0], out[1], k * k * base.fisher_information());
                  });
}

template <class Mechanism>
constexpr MechanismKernels kernels_of(MechanismKernels::Map renyi_map = map<renyi<Mechanism>>) {
    return {renyi_map,
            map<hockey_stick<Mechanism>>,
            map<fisher_information<Mechanism>>,
            map<log_pdf<Mechanism>>,
            map<cdf<Mechanism>>,
            map<quantile<Mechanism>>,
            map<mean<Mechanism>>,
            map<variance<Mechanism>>,
            rdp_sums<Mechanism>,
            fisher_sum<Mechanism>};
}

}  // namespace

extern const DivergenceKernels TIGHTNOISE_AT_LEVEL(divergence_kernels) = {
    kernels_of<Gaussian>(), kernels_of<Rectified>(fast_renyi<Rectified, fast_rectified_renyi>),
    kernels_of<Truncated>(fast_renyi<Truncated, fast_truncated_renyi>), kernels_of<Quantized>(),
    kernels_of<StochasticSign>()};

}  // namespace tightnoise
