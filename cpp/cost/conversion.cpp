#include "cost/conversion.hpp"

#include <algorithm>
#include <cmath>

#include "cost/optimal_conversion.hpp"
#include "numeric/elementary.hpp"
#include "runtime/operand_block.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

// Every term below is right to a few units in its last place, and so is their sum relative to the
// sum of their magnitudes. The smallest normal number covers what subnormal terms lose.
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
constexpr double kUnderflow = std::numeric_limits<double>::min();

// Beyond, e^t is out of range; there canonne is the smaller of the branches anyway.
constexpr double kLargeExponent = 700.0;

// Below, quotients of delta would be subnormal and the optimal search lose its digits.
constexpr double kSmallestSearched = 1e-300;

// Squares of log ratios are about as large as the divergence: below this, a search would lose their
// digits. A larger divergence costs more, a smaller one is allowed wherever this is.
constexpr double kSmallestDivergence = 1e-290;

struct Sum {
    double total = 0.0, magnitude = 0.0;

    Sum& operator+=(double term) {
        total += term;
        magnitude += std::abs(term);
        return *this;
    }
    double slack() const { return kRounding * magnitude + kUnderflow; }
    double upper() const { return total + slack(); }
    double lower() const { return total - slack(); }
};

template <class... Terms>
Sum sum(Terms... terms) {
    Sum s;
    ((s += terms), ...);
    return s;
}

double next_up(double x) {
    return std::nextafter(x, kInfinity);
}

// log(1 - 1/alpha): below 2 the difference alpha - 1 is exact, above 2 log1p loses nothing.
double log_one_minus_inverse(double alpha) {
    return alpha < 2.0 ? log((alpha - 1.0) / alpha) : log1p(-1.0 / alpha);
}

// h (tau - epsilon), kept finite: exp of the limits is 0 or above 1 all the same.
double exponent(double h, double rdp, double epsilon) {
    return std::clamp(h * (rdp - epsilon), -1e300, 1e300);
}

// From the logarithm of a delta. exp underflows to 0 where the truth is tiny but positive, hence
// the next number up.
double delta_of_log(double log_delta) {
    return std::min(next_up(exp(std::min(log_delta, 0.0)) * (1.0 + kRounding)), 1.0);
}

// classic

double classic_epsilon(double h, double rdp, double delta) {
    return sum(rdp, -log(delta) / h).upper();
}

double classic_delta(double h, double rdp, double epsilon) {
    return delta_of_log(sum(exponent(h, rdp, epsilon)).upper());
}

double classic_rdp(double h, double epsilon, double delta) {
    return sum(epsilon, log(delta) / h).lower();
}

// canonne

double canonne_epsilon(double alpha, double rdp, double delta) {
    const double h = alpha - 1.0;
    return sum(rdp, log_one_minus_inverse(alpha), -log(delta) / h, -log(alpha) / h).upper();
}

double canonne_delta(double alpha, double rdp, double epsilon) {
    const double h = alpha - 1.0;
    return delta_of_log(
        sum(exponent(h, rdp, epsilon), h * log_one_minus_inverse(alpha), -log(alpha)).upper());
}

double canonne_rdp(double alpha, double epsilon, double delta) {
    const double h = alpha - 1.0;
    return sum(epsilon, -log_one_minus_inverse(alpha), log(delta) / h, log(alpha) / h).lower();
}

// p = 1: the pair in which P never sees what Q gives up. Exact for alpha delta >= 1 and for
// alpha = infinity.

double certain_epsilon(double rdp, double delta) {
    return sum(rdp, log1p(-delta)).upper();
}

double certain_delta(double rdp, double epsilon) {
    return epsilon >= rdp ? 0.0 : -expm1(epsilon - rdp) * (1.0 + kRounding);
}

double certain_rdp(double epsilon, double delta) {
    return sum(epsilon, -log1p(-delta)).lower();
}

// The second branch of Lemma 1. The relative error of e^x - 1 is that of x times x/(1 - e^-x), at
// most 1 + x, and that of log(1 + y) as a function of y is below 1.

double second_epsilon(double alpha, double rdp, double delta) {
    const double h = alpha - 1.0, x = h * rdp;
    if (!(x < kLargeExponent)) return kInfinity;
    const double ratio = expm1(x) / (alpha * delta);
    if (!(ratio < kInfinity)) return kInfinity;
    const double epsilon = log1p(ratio) / h;
    return epsilon + (kRounding * (epsilon + rdp) + kUnderflow);
}

double second_delta(double alpha, double rdp, double epsilon) {
    const double h = alpha - 1.0, x = h * rdp, y = h * epsilon;
    if (!(x < kLargeExponent && y < kLargeExponent && y > 0.0)) return 1.0;
    return next_up(expm1(x) / (alpha * expm1(y)) * (1.0 + kRounding * (1.0 + x + y)));
}

double second_rdp(double alpha, double epsilon, double delta) {
    const double h = alpha - 1.0, y = h * epsilon;
    if (!(y < kLargeExponent)) return 0.0;
    const double rdp = log1p(alpha * delta * expm1(y)) / h;
    return rdp - (kRounding * (epsilon + rdp) + kUnderflow);
}

// Lemma 1. alpha delta is rounded, but where it is 1 to within that, both formulas hold to within
// their margins: at alpha delta = 1 they agree.

double closed_form_epsilon(double alpha, double rdp, double delta) {
    if (alpha * delta > 1.0) return certain_epsilon(rdp, delta);
    return std::min(canonne_epsilon(alpha, rdp, delta), second_epsilon(alpha, rdp, delta));
}

// The second branch inverts as long as its answer has alpha delta <= 1; the last from 1/alpha on.
double closed_form_delta(double alpha, double rdp, double epsilon) {
    const double first = canonne_delta(alpha, rdp, epsilon);
    const double second = second_delta(alpha, rdp, epsilon);
    const double third =
        std::max(certain_delta(rdp, epsilon), next_up((1.0 / alpha) * (1.0 + kRounding)));
    return std::min(first, alpha * second <= 1.0 ? std::min(second, third) : third);
}

double closed_form_rdp(double alpha, double epsilon, double delta) {
    if (alpha * delta > 1.0) return certain_rdp(epsilon, delta);
    return std::max(canonne_rdp(alpha, epsilon, delta), second_rdp(alpha, epsilon, delta));
}

// Optimal. The closed forms are bounds too, and the better one is taken: so the order optimal <=
// closed_form <= canonne <= classic holds for what is returned, not only for what is meant.

double optimal_epsilon(double alpha, double rdp, double delta) {
    const double closed = closed_form_epsilon(alpha, rdp, delta);
    if (alpha * delta >= 1.0 || delta < kSmallestSearched || !(closed > 0.0)) return closed;
    const double searched = optimal_epsilon_upper(alpha, std::max(rdp, kSmallestDivergence), delta);
    return searched < closed ? searched : closed;
}

double optimal_delta(double alpha, double rdp, double epsilon) {
    const double closed = closed_form_delta(alpha, rdp, epsilon);
    // delta >= 1/alpha: the closed form is exact.
    if (rdp >= epsilon - log_one_minus_inverse(alpha) || closed < kSmallestSearched) return closed;
    const double searched =
        optimal_delta_upper(alpha, std::max(rdp, kSmallestDivergence), epsilon, closed);
    return searched < closed ? searched : closed;
}

double optimal_rdp(double alpha, double epsilon, double delta) {
    const double closed = closed_form_rdp(alpha, epsilon, delta);
    if (alpha * delta >= 1.0 || delta < kSmallestSearched) return closed;
    const double searched = optimal_rdp_lower(alpha, epsilon, delta);
    return searched > closed && searched > kSmallestDivergence ? searched : closed;
}

}  // namespace

double epsilon_upper(Conversion conversion, double alpha, double rdp, double delta) {
    if (std::isnan(alpha) || std::isnan(rdp) || std::isnan(delta)) return kNaN;
    if (rdp == kInfinity) return kInfinity;
    if (rdp == 0.0) return 0.0;
    if (alpha == kInfinity) return std::max(certain_epsilon(rdp, delta), 0.0);
    double epsilon = classic_epsilon(alpha - 1.0, rdp, delta);
    if (conversion != Conversion::classic) {
        epsilon = std::min(epsilon, canonne_epsilon(alpha, rdp, delta));
    }
    if (conversion == Conversion::closed_form) {
        epsilon = std::min(epsilon, closed_form_epsilon(alpha, rdp, delta));
    } else if (conversion == Conversion::optimal) {
        epsilon = std::min(epsilon, optimal_epsilon(alpha, rdp, delta));
    }
    return std::max(epsilon, 0.0);
}

double delta_upper(Conversion conversion, double alpha, double rdp, double epsilon) {
    if (std::isnan(alpha) || std::isnan(rdp) || std::isnan(epsilon)) return kNaN;
    if (rdp == kInfinity) return 1.0;
    if (rdp == 0.0) return 0.0;
    if (alpha == kInfinity) return std::min(certain_delta(rdp, epsilon), 1.0);
    double delta = classic_delta(alpha - 1.0, rdp, epsilon);
    if (conversion != Conversion::classic) {
        delta = std::min(delta, canonne_delta(alpha, rdp, epsilon));
    }
    if (conversion == Conversion::closed_form) {
        delta = std::min(delta, closed_form_delta(alpha, rdp, epsilon));
    } else if (conversion == Conversion::optimal) {
        delta = std::min(delta, optimal_delta(alpha, rdp, epsilon));
    }
    return std::min(delta, 1.0);
}

double rdp_lower(Conversion conversion, double alpha, double epsilon, double delta) {
    if (std::isnan(alpha) || std::isnan(epsilon) || std::isnan(delta)) return kNaN;
    if (alpha == kInfinity) return std::max(certain_rdp(epsilon, delta), 0.0);
    double rdp = classic_rdp(alpha - 1.0, epsilon, delta);
    if (conversion != Conversion::classic) {
        rdp = std::max(rdp, canonne_rdp(alpha, epsilon, delta));
    }
    if (conversion == Conversion::closed_form) {
        rdp = std::max(rdp, closed_form_rdp(alpha, epsilon, delta));
    } else if (conversion == Conversion::optimal) {
        rdp = std::max(rdp, optimal_rdp(alpha, epsilon, delta));
    }
    return std::max(rdp, 0.0);
}

void convert_array(ConversionFunction function, Conversion conversion, const Operand& x,
                   const Operand& y, const Operand& z, double* out, std::size_t n) {
    constexpr std::size_t kBlock = 128;  // about 0.1 ms of searches
    parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
        const std::size_t size = end - begin;
        OperandBlock<kBlock> first, second, third;
        const double* a = first.load(x, begin, size);
        const double* b = second.load(y, begin, size);
        const double* c = third.load(z, begin, size);
        for (std::size_t i = 0; i < size; ++i) {
            out[begin + i] = function(conversion, a[i], b[i], c[i]);
        }
    });
}

}  // namespace tightnoise
