// Renyi divergences for a block of coordinates at once: the closed forms, branch-free, each with a
// bound on its own rounding error. Where the bound is too large (nearby values, far tails, narrow
// supports, alpha near 1) the caller takes the slower, accurate way. Kernel-side header: internal
// linkage, one copy a level.
#pragma once

#include "mechanisms/fast_columns.hpp"
#include "numeric/normal_interval.hpp"

namespace tightnoise {
namespace {

// The same step back: from theta + k sigma to theta. With turned = -1 the step itself is the other
// way first, from theta - k sigma.
TIGHTNOISE_VECTOR_LOOP inline void step_back(const StandardColumns& x, double turned, std::size_t n,
                                             StandardColumns& out) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double k = turned * x.k.at[i];
        out.u.at[i] = x.u.at[i] - k;
        out.v.at[i] = x.v.at[i] - k;
        out.k.at[i] = -k;
    }
    out.margin = 1.0;
}

inline void set_order(double alpha, std::size_t n, StandardColumns& x) {
    for (std::size_t i = 0; i < n; ++i) x.beta.at[i] = alpha - 1.0;
}

// out = log Phi(sign (a - c b)).
TIGHTNOISE_VECTOR_LOOP inline void log_ndtr_of(const Column& a, double c, const Column& b,
                                               double sign, std::size_t n, Column& out) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) out.at[i] = log_ndtr(sign * (a.at[i] - c * b.at[i]));
}

// out = log(Phi(v - s k) - Phi(u - s k)) with s = 0, 1 or -beta.
enum class SeenFrom { theta, theta_prime, tilted };
template <SeenFrom From>
TIGHTNOISE_VECTOR_LOOP void log_mass_of(const StandardColumns& x, std::size_t n, Column& out) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double s = From == SeenFrom::theta         ? 0.0
                         : From == SeenFrom::theta_prime ? 1.0
                                                         : -x.beta.at[i];
        const double step = s * x.k.at[i];
        out.at[i] = log_ndtr_diff(x.u.at[i] - step, x.v.at[i] - step);
    }
}

// The error of log Phi(z), z near `z` with an error of a few ulps of `size`: that of the function,
// and the slope phi/Phi <= 1 + |z|, for z < 0, times that of z.
inline double log_ndtr_error(double value, double z, double size) {
    return kUlp * (8.0 * std::fabs(value) + 3.0 * size * (1.0 + larger_of(-z, 0.0)));
}

// The error of log(Phi(v) - Phi(u)): likewise, where the slope in theta is E[Z | u < Z < v], no
// farther from 0 than the nearer edge by more than 1, and that of the width is relative to it.
inline double log_mass_error(double value, double u, double v, double size) {
    const double nearer = larger_of(larger_of(u, -v), 0.0);
    return kUlp * (8.0 * std::fabs(value) + 3.0 * size * (2.0 + nearer + 1.0 / (v - u)));
}

// log of the sum of exp of three terms, and the same sum of their errors' effects.
struct LogSum {
    double value, error;
};

inline LogSum log_sum(double a, double b, double c, double a_error, double b_error,
                      double c_error) {
    const double largest = larger_of(larger_of(a, b), c);
    const double ea = exp(a - largest), eb = exp(b - largest), ec = exp(c - largest);
    const double sum = ea + eb + ec;
    const double errors = (ea * a_error + eb * b_error + ec * c_error) / sum;
    return {largest + log(sum), errors + kUlp * (4.0 + 2.0 * std::fabs(largest))};
}

// log S = log of Phi(u)^alpha Phi(u-k)^(1-alpha) + Phi(-v)^alpha Phi(k-v)^(1-alpha)
//         + exp(alpha beta k^2/2) (Phi(v + beta k) - Phi(u + beta k)),   D = log S/beta.
TIGHTNOISE_VECTOR_LOOP inline void combine_rectified(const StandardColumns& x, const Column& left_p,
                                                     const Column& left_q, const Column& right_p,
                                                     const Column& right_q, const Column& tilted,
                                                     std::size_t n, double* out,
                                                     double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i], k = x.k.at[i], beta = x.beta.at[i];
        const double alpha = 1.0 + beta, weight = std::fabs(beta), step = beta * k;
        const double square = 0.5 * alpha * step * k;
        const double a = alpha * left_p.at[i] - beta * left_q.at[i];
        const double b = alpha * right_p.at[i] - beta * right_q.at[i];
        const double c = square + tilted.at[i];
        const double size_k = std::fabs(k);
        const double size_u = std::fabs(u) + x.margin * size_k;
        const double size_v = std::fabs(v) + x.margin * size_k;
        const double a_error = alpha * log_ndtr_error(left_p.at[i], u, size_u) +
                               weight * log_ndtr_error(left_q.at[i], u - k, size_u + size_k);
        const double b_error = alpha * log_ndtr_error(right_p.at[i], -v, size_v) +
                               weight * log_ndtr_error(right_q.at[i], k - v, size_v + size_k);
        const double c_error = kUlp * 4.0 * std::fabs(square) +
                               log_mass_error(tilted.at[i], u + step, v + step,
                                              larger_of(size_u, size_v) + 2.0 * std::fabs(step));
        const LogSum sum = log_sum(a, b, c, a_error, b_error, c_error);
        out[i] = sum.value / beta;
        relative_error[i] = sum.error / std::fabs(sum.value);
    }
}

// log S = alpha beta k^2/2 + log d(u + beta k) - alpha log d(u) + beta log d(u - k), d the mass of
// the support.
TIGHTNOISE_VECTOR_LOOP inline void combine_truncated(const StandardColumns& x, const Column& p,
                                                     const Column& q, const Column& tilted,
                                                     std::size_t n, double* out,
                                                     double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i], k = x.k.at[i], beta = x.beta.at[i];
        const double alpha = 1.0 + beta, weight = std::fabs(beta), step = beta * k;
        const double square = 0.5 * alpha * step * k;
        const double value = (square + tilted.at[i]) - (alpha * p.at[i] - beta * q.at[i]);
        const double size_k = std::fabs(k);
        const double size = larger_of(std::fabs(u), std::fabs(v)) + x.margin * size_k;
        const double error =
            kUlp * 4.0 * std::fabs(square) +
            log_mass_error(tilted.at[i], u + step, v + step, size + 2.0 * std::fabs(step)) +
            alpha * log_mass_error(p.at[i], u, v, size) +
            weight * log_mass_error(q.at[i], u - k, v - k, size + size_k);
        out[i] = value / beta;
        relative_error[i] = error / std::fabs(value);
    }
}

// A quantised output and the sign: log S = log of the sum of p^alpha q^(1-alpha) over the cells,
// whose log masses and their errors are rows, one a cell. Of the first and the last cell, beyond
// the threshold z = sign (threshold - s k); of those between:
TIGHTNOISE_VECTOR_LOOP inline void cell_beyond(const StandardColumns& x, double s, double fraction,
                                               double sign, std::size_t n, double* log_mass,
                                               double* error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i], k = x.k.at[i];
        const double z = sign * (threshold_at(u, v, fraction) - s * k);
        const double size = larger_of(std::fabs(u), std::fabs(v)) + (x.margin + s) * std::fabs(k);
        const double value = log_ndtr(z);
        log_mass[i] = value;
        error[i] = log_ndtr_error(value, z, kThresholdUlps / 3.0 * size);
    }
}

TIGHTNOISE_VECTOR_LOOP inline void cell_between(const StandardColumns& x, double s, double left,
                                                double right, std::size_t n, double* log_mass,
                                                double* error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double u = x.u.at[i], v = x.v.at[i], k = x.k.at[i];
        const double a = threshold_at(u, v, left) - s * k, b = threshold_at(u, v, right) - s * k;
        const double size = larger_of(std::fabs(u), std::fabs(v)) + (x.margin + s) * std::fabs(k);
        const double value = log_ndtr_diff(a, b);
        log_mass[i] = value;
        error[i] = log_mass_error(value, a, b, kThresholdUlps / 3.0 * size);
    }
}

TIGHTNOISE_VECTOR_LOOP inline void cell_largest(const Column& beta, const double* log_p,
                                                const double* log_q, std::size_t n,
                                                Column& largest) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double term = log_p[i] + beta.at[i] * (log_p[i] - log_q[i]);
        largest.at[i] = larger_of(largest.at[i], term);
    }
}

// Adds exp(term - largest), and its error.
TIGHTNOISE_VECTOR_LOOP inline void cell_add(const Column& beta, const double* log_p,
                                            const double* log_q, const double* p_error,
                                            const double* q_error, const Column& largest,
                                            std::size_t n, Column& sum, Column& error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double b = beta.at[i];
        const double part = exp((log_p[i] + b * (log_p[i] - log_q[i])) - largest.at[i]);
        sum.at[i] += part;
        error.at[i] += part * ((1.0 + b) * p_error[i] + std::fabs(b) * q_error[i]);
    }
}

TIGHTNOISE_VECTOR_LOOP inline void combine_cells(const Column& beta, const Column& largest,
                                                 const Column& sum, const Column& error, int count,
                                                 std::size_t n, double* out,
                                                 double* relative_error) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double value = largest.at[i] + log(sum.at[i]);
        const double rounding = kUlp * (4.0 + count + 2.0 * std::fabs(largest.at[i]));
        out[i] = value / beta.at[i];
        relative_error[i] = (error.at[i] / sum.at[i] + rounding) / std::fabs(value);
    }
}

// Each has
//     lanes: how many coordinates at once; 0: there is no fast way;
//     prepare: what does not depend on the order;
//     renyi: D and a bound on its relative error.
class FastRectified {
  public:
    static std::size_t lanes(int) { return kFastBlock; }

    void prepare(const StandardColumns& x, int, std::size_t n) {
        log_ndtr_of(x.u, 0.0, x.k, 1.0, n, left_p_);
        log_ndtr_of(x.u, 1.0, x.k, 1.0, n, left_q_);
        log_ndtr_of(x.v, 0.0, x.k, -1.0, n, right_p_);
        log_ndtr_of(x.v, 1.0, x.k, -1.0, n, right_q_);
    }
    void renyi(const StandardColumns& x, std::size_t n, double* out, double* relative_error) {
        log_mass_of<SeenFrom::tilted>(x, n, tilted_);
        combine_rectified(x, left_p_, left_q_, right_p_, right_q_, tilted_, n, out, relative_error);
    }

  private:
    Column left_p_, left_q_, right_p_, right_q_, tilted_;
};

class FastTruncated {
  public:
    static std::size_t lanes(int) { return kFastBlock; }

    void prepare(const StandardColumns& x, int, std::size_t n) {
        log_mass_of<SeenFrom::theta>(x, n, p_);
        log_mass_of<SeenFrom::theta_prime>(x, n, q_);
    }
    void renyi(const StandardColumns& x, std::size_t n, double* out, double* relative_error) {
        log_mass_of<SeenFrom::tilted>(x, n, tilted_);
        combine_truncated(x, p_, q_, tilted_, n, out, relative_error);
    }

  private:
    Column p_, q_, tilted_;
};

class FastCells {
  public:
    static std::size_t lanes(int levels) {
        const std::size_t rows = static_cast<std::size_t>(levels);
        return rows > kTable / 8            ? 0
               : rows > kTable / kFastBlock ? kTable / rows / 8 * 8
                                            : kFastBlock;
    }

    void prepare(const StandardColumns& x, int levels, std::size_t n) {
        count_ = levels;
        n_ = n;
        fill(x, 0.0, log_p_, p_error_);
        fill(x, 1.0, log_q_, q_error_);
    }

    void renyi(const StandardColumns& x, std::size_t n, double* out, double* relative_error) {
        for (std::size_t i = 0; i < n; ++i) {
            largest_.at[i] = -kInfinity;
            sum_.at[i] = error_.at[i] = 0.0;
        }
        for (int i = 0; i < count_; ++i) {
            cell_largest(x.beta, row(log_p_, i), row(log_q_, i), n, largest_);
        }
        for (int i = 0; i < count_; ++i) {
            cell_add(x.beta, row(log_p_, i), row(log_q_, i), row(p_error_, i), row(q_error_, i),
                     largest_, n, sum_, error_);
        }
        combine_cells(x.beta, largest_, sum_, error_, count_, n, out, relative_error);
    }

  private:
    // Four of these classes, of four tables each, must fit the stack of a thread.
    static constexpr std::size_t kTable = 1024;

    double* row(double* table, int i) { return table + static_cast<std::size_t>(i) * n_; }

    void fill(const StandardColumns& x, double s, double* log_mass, double* error) {
        const int last = count_ - 1;
        cell_beyond(x, s, threshold_fraction(0, count_), 1.0, n_, log_mass, error);
        for (int i = 1; i < last; ++i) {
            cell_between(x, s, threshold_fraction(i - 1, count_), threshold_fraction(i, count_), n_,
                         row(log_mass, i), row(error, i));
        }
        cell_beyond(x, s, threshold_fraction(last - 1, count_), -1.0, n_, row(log_mass, last),
                    row(error, last));
    }

    int count_;
    std::size_t n_;
    alignas(64) double log_p_[kTable], log_q_[kTable], p_error_[kTable], q_error_[kTable];
    Column largest_, sum_, error_;
};

}  // namespace
}  // namespace tightnoise
