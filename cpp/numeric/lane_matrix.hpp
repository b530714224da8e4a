// Small symmetric matrices, one in each lane: kernel-side header, internal linkage. Of symmetric
// and triangular ones only what is below the diagonal and on it is read and written.
#pragma once

#include "numeric/lanes.hpp"

namespace tightnoise {
namespace {

// A number of each lane, or several, or rows of them.
struct LaneRow {
    double* entries;
    Lanes operator[](std::size_t i) const { return load_lanes(entries + i * kLanes); }
    void set(std::size_t i, Lanes v) const { std::memcpy(entries + i * kLanes, &v, sizeof v); }
};
struct LaneMatrix {
    double* entries;
    std::size_t size;
    LaneRow operator[](std::size_t i) const { return {entries + i * size * kLanes}; }
};

// In doubles.
constexpr std::size_t lane_matrix_room(std::size_t size) {
    return size * size * kLanes;
}

inline Lanes square_root(Lanes v) {
    double each[kLanes];
    std::memcpy(each, &v, sizeof v);
    for (std::size_t i = 0; i < kLanes; ++i) each[i] = __builtin_sqrt(each[i]);
    return load_lanes(each);
}

inline Lanes larger(Lanes a, Lanes b) {
    return a > b ? a : b;
}

// Divides a matrix by the largest size of its numbers, and returns that, or 1.
inline Lanes normalise(const LaneMatrix& a) {
    Lanes most = {};
    for (std::size_t i = 0; i < a.size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) most = larger(absolute(a[i][j]), most);
    }
    const Lanes scale = most > 0.0 ? most : most + 1.0;
    for (std::size_t i = 0; i < a.size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) a[i].set(j, a[i][j] / scale);
    }
    return scale;
}

// G = L L^T in place; NaN where there is no such L.
inline void factorise(const LaneMatrix& g) {
    for (std::size_t j = 0; j < g.size; ++j) {
        Lanes pivot = g[j][j];
        for (std::size_t k = 0; k < j; ++k) pivot -= g[j][k] * g[j][k];
        const Lanes root = square_root(pivot > 0.0 ? pivot : Lanes{} - 1.0);
        g[j].set(j, root);
        for (std::size_t i = j + 1; i < g.size; ++i) {
            Lanes sum = g[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= g[i][k] * g[j][k];
            g[i].set(j, sum / root);
        }
    }
}

// M becomes L^T M L, by way of M L, for which there is room in `product`.
inline void transform(const LaneMatrix& m, const LaneMatrix& l, const LaneMatrix& product) {
    const std::size_t n = m.size;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            Lanes sum = {};
            for (std::size_t k = j; k < n; ++k) sum += (k < i ? m[i][k] : m[k][i]) * l[k][j];
            product[i].set(j, sum);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            Lanes sum = {};
            for (std::size_t k = i; k < n; ++k) sum += l[k][i] * product[k][j];
            m[i].set(j, sum);
        }
    }
}

// Householder's reflections make A tridiagonal: its diagonal is left there, what is beside it goes
// to `beside`. `p` and `v` have room for a row each.
inline void tridiagonalise(const LaneMatrix& a, const LaneRow& beside, const LaneRow& p,
                           const LaneRow& v) {
    // Of numbers that are 1 or so, a square that is nothing; the inverse of it has a square, too.
    constexpr double kNothing = 1e-150;
    const std::size_t n = a.size;
    for (std::size_t k = 0; k + 2 < n; ++k) {
        Lanes rest = {};
        for (std::size_t i = k + 2; i < n; ++i) rest += a[i][k] * a[i][k];
        const Lanes first = a[k + 1][k];
        const Lanes length = square_root(first * first + rest);
        const Lanes mirrored = first > 0.0 ? -length : length;
        const Lanes begin = first - mirrored;
        const Lanes square = begin * begin + rest;
        const Lanes factor = square > kNothing ? 2.0 / square : square - square;  // or NaN
        v.set(k + 1, begin);
        for (std::size_t i = k + 2; i < n; ++i) v.set(i, a[i][k]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Lanes own = v[i];
            Lanes sum = a[i][i] * own;
            for (std::size_t j = k + 1; j < i; ++j) {
                const Lanes entry = a[i][j];
                sum += entry * v[j];
                p.set(j, p[j] + entry * own);
            }
            p.set(i, sum);
        }
        Lanes along = {};
        for (std::size_t i = k + 1; i < n; ++i) along += p[i] * v[i];
        along *= 0.5 * factor * factor;
        for (std::size_t i = k + 1; i < n; ++i) p.set(i, factor * p[i] - along * v[i]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Lanes vi = v[i], pi = p[i];
            for (std::size_t j = k + 1; j <= i; ++j) {
                a[i].set(j, a[i][j] - (vi * p[j] + pi * v[j]));
            }
        }
        beside.set(k, mirrored);
    }
    if (n > 1) beside.set(n - 2, a[n - 1][n - 2]);
}

// The greatest eigenvalue of A, or a little more: NaN where a number is NaN or infinite. A is
// overwritten, and `rows` has room for three.
// Error: that of a matrix which differs from A by at most 64 n 2^-53 times its Frobenius norm (by
// reflections, and as the pivots' rounding is that of the last digits of what is tridiagonal);
// above it, by at most 2^-43 of its norm.
inline Lanes greatest_eigenvalue(const LaneMatrix& a, const LaneRow (&rows)[3]) {
    constexpr int kHalvings = 44;
    const std::size_t n = a.size;
    const LaneRow &beside = rows[0], &square = rows[1];
    tridiagonalise(a, beside, rows[1], rows[2]);
    // Between a number on the diagonal and what Gershgorin's circles reach.
    Lanes lower = a[0][0], upper = lower, before = {}, all = {};
    for (std::size_t i = 0; i < n; ++i) {
        const Lanes own = a[i][i], next = i + 1 < n ? beside[i] : Lanes{};
        upper = larger(own + absolute(before) + absolute(next), upper);
        lower = larger(own, lower);
        square.set(i, before * before);
        all += own + next;
        before = next;
    }
    // x is above all eigenvalues if and only if all pivots of x - A are positive (Sylvester).
    for (int halving = 0; halving < kHalvings; ++halving) {
        const Lanes middle = 0.5 * lower + 0.5 * upper;
        Lanes pivot = middle - a[0][0];
        LaneBits above = pivot > 0.0;
        for (std::size_t i = 1; i < n; ++i) {
            pivot = middle - a[i][i] - square[i] / pivot;
            above &= pivot > 0.0;
        }
        upper = above ? middle : upper;
        lower = above ? lower : middle;
    }
    return upper + (all - all);
}

}  // namespace
}  // namespace tightnoise
