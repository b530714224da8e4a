#include "leakage/fisher_loss_kernels.hpp"

#include "numeric/lane_matrix.hpp"

namespace tightnoise {
namespace {

constexpr double kUnit = 0x1p-52;
constexpr double kLeast = 1e-150;  // of D: any D is right, and this has an inverse

// Hands out parts of the workspace.
struct Room {
    double* next;
    LaneRow row(std::size_t size) {
        const LaneRow found{next};
        next += size * kLanes;
        return found;
    }
    LaneMatrix matrix(std::size_t size) {
        const LaneMatrix found{next, size};
        next += lane_matrix_room(size);
        return found;
    }
};

// The examples of the lanes; lanes that are left over repeat the last one.
struct Chosen {
    std::size_t of[kLanes];
    Chosen(const std::int64_t* which, std::size_t here) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            of[lane] = static_cast<std::size_t>(which[lane < here ? lane : here - 1]);
        }
    }
    Lanes one(const double* from) const {
        double each[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane) each[lane] = from[of[lane]];
        return load_lanes(each);
    }
    void rows(const double* from, std::size_t width, const LaneRow& to) const {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double* row = from + of[lane] * width;
            for (std::size_t i = 0; i < width; ++i) to.entries[i * kLanes + lane] = row[i];
        }
    }
};

// max_j sum_k a_k^2 E_kj.
inline double greatest_on_diagonal(const FisherModel& model, const double* a) {
    const std::size_t whole = model.features / kLanes * kLanes;
    Lanes most = {};
    for (std::size_t j = 0; j < whole; j += kLanes) {
        Lanes sum = {};
        for (std::size_t k = 0; k < model.classes; ++k) {
            sum += a[k] * a[k] * load_lanes(model.information + k * model.features + j);
        }
        most = larger(sum, most);
    }
    double greatest = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        greatest = most[lane] > greatest ? most[lane] : greatest;
    }
    for (std::size_t j = whole; j < model.features; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < model.classes; ++k) {
            sum += a[k] * a[k] * model.information[k * model.features + j];
        }
        greatest = sum > greatest ? sum : greatest;
    }
    return greatest;
}

// max(0, an upper bound of the greatest eigenvalue of U M U^T), U = [a_k E_k x | v_k | x].
//
// Of U D^-1 and D M D, with D the sums of sizes that U's columns are made of: rounding is relative
// to those.
inline Lanes greatest_beside(const FisherModel& model, const FisherExamples& examples,
                             const Chosen& chosen, bool is_clipped, Room room) {
    const std::size_t K = model.classes, size = 2 * K + is_clipped, last = 2 * K;
    const LaneMatrix gram = room.matrix(size), m = room.matrix(size), product = room.matrix(size);
    const LaneRow rows[3] = {room.row(size), room.row(size), room.row(size)};
    const LaneRow lengths = room.row(size), inverse = room.row(size);
    const LaneRow along = room.row(size), through = room.row(size);
    const LaneRow likely = room.row(K), a = room.row(K), own = room.row(K);
    const LaneRow forms = room.row(K + K * K), squares = room.row(K + K * (K + 1) / 2);
    const LaneMatrix s = room.matrix(K), ws = room.matrix(K);
    chosen.rows(examples.likely, K, likely);
    chosen.rows(examples.residual, K, a);
    chosen.rows(examples.forms, K + K * K, forms);
    chosen.rows(examples.squares, K + K * (K + 1) / 2, squares);
    const Lanes xx = chosen.one(examples.length), error = chosen.one(examples.error);
    const auto pair = [&](std::size_t k, std::size_t l) {  // k <= l
        return squares[K + k * K - k * (k + 1) / 2 + l];
    };

    // S, and the sizes of U's columns.
    for (std::size_t k = 0; k < K; ++k) {
        Lanes others = {}, sizes = {};  // of 1 - p, of which p near 1 would leave nothing
        for (std::size_t l = 0; l < K; ++l) {
            if (l == k) continue;
            others += likely[l];
            s[k].set(l, -likely[k] * likely[l]);
            sizes += likely[k] * likely[l] * model.norms[l];
        }
        s[k].set(k, likely[k] * others);
        lengths.set(k, absolute(a[k]) * square_root(pair(k, k)));
        lengths.set(K + k, sizes + likely[k] * others * model.norms[k]);
    }
    if (is_clipped) lengths.set(last, square_root(xx));
    for (std::size_t i = 0; i < size; ++i) {
        const Lanes exact = lengths[i];
        const Lanes some = exact < kLeast ? Lanes{} + kLeast : exact;
        lengths.set(i, exact == 0.0 ? exact : some);
        inverse.set(i, exact == 0.0 ? exact : 1.0 / some);
    }

    // D^-1 U^T U D^-1.
    for (std::size_t k = 0; k < K; ++k) {
        own.set(k, a[k] * inverse[k]);
        for (std::size_t l = 0; l < K; ++l) s[l].set(k, s[l][k] * inverse[K + k]);
    }
    for (std::size_t l = 0; l < K; ++l) {
        for (std::size_t j = 0; j < K; ++j) {
            Lanes sum = {};
            for (std::size_t i = 0; i < K; ++i) sum += model.products[l * K + i] * s[i][j];
            ws[l].set(j, sum);
        }
    }
    for (std::size_t i = 0; i < K; ++i) {
        for (std::size_t j = 0; j < K; ++j) {
            Lanes mixed = {}, alike = {};
            for (std::size_t l = 0; l < K; ++l) {
                mixed += s[l][i] * forms[K + l * K + j];
                alike += s[l][i] * ws[l][j];
            }
            gram[K + i].set(j, mixed * own[j]);
            if (j > i) continue;
            gram[K + i].set(K + j, alike);
            gram[i].set(j, pair(j, i) * own[i] * own[j]);
        }
    }

    // D M D, and the sizes of what is added up in it: the Frobenius norm or more.
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) m[i].set(j, Lanes{});
    }
    Lanes sum_of_squares = {};
    for (std::size_t k = 0; k < K; ++k) {
        const Lanes mixed = lengths[k] * lengths[K + k];
        const Lanes square = squares[k] * lengths[K + k] * lengths[K + k];
        m[K + k].set(k, mixed);
        m[K + k].set(K + k, square);
        sum_of_squares += square * square + 2.0 * mixed * mixed;
    }
    Lanes weight = square_root(sum_of_squares);
    if (is_clipped) {
        Lanes aa = {}, middle = {};  // u^T E u
        for (std::size_t k = 0; k < K; ++k) {
            aa += a[k] * a[k];
            middle += a[k] * a[k] * squares[k];
        }
        const Lanes norm = square_root(aa * xx), x = inverse[last];
        middle /= norm * norm;
        for (std::size_t j = 0; j < K; ++j) {
            Lanes sum = {};
            for (std::size_t l = 0; l < K; ++l) sum += s[l][j] * forms[l];
            gram[last].set(j, own[j] * squares[j] * x);
            gram[last].set(K + j, sum * x);
        }
        gram[last].set(last, xx * x * x);
        // J^T u and J^T E u, in terms of U D^-1.
        for (std::size_t k = 0; k < K; ++k) {
            const Lanes share = a[k] / norm;
            along.set(k, Lanes{});
            along.set(K + k, share * xx * lengths[K + k]);
            through.set(k, share * lengths[k]);
            through.set(K + k, share * squares[k] * lengths[K + k]);
        }
        along.set(last, aa / norm * lengths[last]);
        through.set(last, Lanes{});
        Lanes one = {}, two = {};
        for (std::size_t i = 0; i < size; ++i) {
            one += along[i] * along[i];
            two += through[i] * through[i];
            through.set(i, through[i] - 0.5 * middle * along[i]);
        }
        weight += 2.0 * square_root(one) * square_root(two) + middle * one;
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                m[i].set(j, m[i][j] - (along[i] * through[j] + along[j] * through[i]));
            }
        }
    }

    const double n = static_cast<double>(size);
    const Lanes lost = n * (static_cast<double>(model.features) + 16.0 * n) * kUnit + error;
    for (std::size_t i = 0; i < size; ++i) gram[i].set(i, gram[i][i] + n * lost);
    const Lanes scale = normalise(m);
    factorise(gram);
    transform(m, gram, product);
    const Lanes greatest = greatest_eigenvalue(m, rows) * scale + lost * n * weight;
    return greatest < 0.0 ? Lanes{} : greatest;
}

void bounds(const FisherModel& model, const FisherExamples& examples, const std::int64_t* which,
            std::size_t count, bool is_clipped, double* work, double* out) {
    for (std::size_t at = 0; at < count; at += kLanes) {
        const std::size_t here = count - at < kLanes ? count - at : kLanes;
        const Chosen chosen(which + at, here);
        const Lanes beside = greatest_beside(model, examples, chosen, is_clipped, {work});
        for (std::size_t lane = 0; lane < here; ++lane) {
            const double* a = examples.residual + chosen.of[lane] * model.classes;
            out[at + lane] = greatest_on_diagonal(model, a) + beside[lane];
        }
    }
}

}  // namespace

extern const FisherLossKernels TIGHTNOISE_AT_LEVEL(fisher_loss_kernels) = {bounds};

}  // namespace tightnoise
