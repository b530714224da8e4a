#include "mechanisms/vmf_ideal_row.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "mechanisms/vmf_range.hpp"
#include "mechanisms/vmf_rejection.hpp"
#include "numeric/double_double_functions.hpp"
#include "numeric/octet.hpp"
#include "random/big.hpp"
#include "random/chacha20.hpp"
#include "random/erase.hpp"
#include "random/ideal_normal.hpp"
#include "runtime/interruption.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBatchWords = box_muller::kBatch<double>;
constexpr std::size_t kBlock = std::size_t{1} << 14;  // coordinates that a thread takes at a time
static_assert(kBlock % kBatchWords == 0, "blocks begin with a batch");
constexpr std::size_t kStack = std::size_t{32} << 10;  // a block takes 20 KB

// --- one arithmetic, in double-double or with all bits -------------------------------------------

// Of double-doubles: every operation is right to 2^-100, a normal of some 60 of them to 2^-93, with
// 2^-96 of unread bits. Sums are 128 terms each, of batches, of blocks of 128 batches, of all.
constexpr Accuracy kDoubleDouble = {0x1p-90, 0x1p-90, 0x1p-96, 0x1p-90, 0x1p-94};

double as_double(const DoubleDouble& x) {
    return rounded(x);
}
double as_double(const Big& x) {
    return static_cast<double>(x);
}
DoubleDouble root_of(const DoubleDouble& x) {
    return square_root(x);
}
Big root_of(const Big& x) {
    return sqrt(x);
}
DoubleDouble log_of(const DoubleDouble& x) {
    return log(x);
}
Big log_of(const Big& x) {
    return log(x);
}
DoubleDouble narrowed(const Big& x) {
    const double high = as_double(x);
    return {high, as_double(x - high)};
}
template <class T>
T exactly(double x) {
    if constexpr (std::is_same_v<T, Big>) {
        return Big(x);
    } else {
        return {x, 0.0};
    }
}

// (head, two words and half a unit) 2^exponent.
DoubleDouble continued_by_64(std::uint64_t head, const chacha20::Block& block, int first,
                             int exponent) {
    const auto high = static_cast<double>(head >> 32);
    const auto low = static_cast<double>(head & 0xffffffffu);
    const DoubleDouble more = two_sum(block.word[first] * 0x1p-32,
                                      (static_cast<double>(block.word[first + 1]) + 0.5) * 0x1p-64);
    const double unit = std::ldexp(1.0, exponent);
    return (two_sum(high * 0x1p32, low) + more) * unit;
}

// log u of the ideal uniform behind a word.
void log_uniform(std::uint64_t word, const chacha20::Block& block, Big& log_u) {
    const Big near = ideal_near(word, block);
    log_u = log(word >> 63 != 0 ? 1 - near : near);
}
// With 128 bits; with all of them where these are few, next to 0 or 1.
void log_uniform(std::uint64_t word, const chacha20::Block& block, DoubleDouble& log_u) {
    const DoubleDouble near = continued_by_64(word & 0x7fffffffffffffffu, block, 2, -64);
    if (near.hi < 0x1p-32) {
        Big all;
        log_uniform(word, block, all);
        log_u = narrowed(all);
    } else if (word >> 63 != 0) {
        log_u = near.hi < 0.29 ? log_near_1(-near) : log(-near + 1.0);
    } else {
        log_u = log(near);
    }
}

template <class T>
struct NormalPair {
    T first;
    T second;
};
void ideal_normals(const PairWords& words, const chacha20::Block& block, NormalPair<Big>& z) {
    poll();
    const BigPair pair = ideal_pair(words, block);
    z = {pair.first, pair.second};
}
void ideal_normals(const PairWords& words, const chacha20::Block& block,
                   NormalPair<DoubleDouble>& z) {
    DoubleDouble log_u;
    log_uniform(words.radius, block, log_u);
    const DoubleDouble f = continued_by_64(words.angle >> 12, block, 8, -52) + (-0.5);
    const DoubleDouble radius = square_root(log_u * -2.0);
    const DoubleDouble r = (words.angle & 2) != 0 ? -radius : radius;
    const SineCosine of = sine_cosine(kWideHalfPi * f);
    const DoubleDouble x = r * of.cosine, y = r * of.sine;
    z = (words.angle & 1) != 0 ? NormalPair<DoubleDouble>{y, x} : NormalPair<DoubleDouble>{x, y};
}

// --- a row ---------------------------------------------------------------------------------------

// The normals of a row, best asked for in order.
template <class T>
class RowNormals {
  public:
    RowNormals(const NoiseKey& key, std::size_t dim, std::size_t row)
        : key_(key), dim_(dim), row_(row) {}

    const T& at(std::size_t i) {
        const std::uint64_t number = number_of(i);
        if (number / kBatchWords != batch_) load(number / kBatchWords);
        const std::size_t k = number % kBatchWords, pair = k % kPairs;
        if (!has_[pair]) {
            const PairWords words{words_[pair], words_[kPairs + pair]};
            NormalPair<T> z;
            ideal_normals(words, refinement_block(key_, batch_ * kBatchWords + pair), z);
            z_[pair] = z.first;
            z_[kPairs + pair] = z.second;
            has_[pair] = true;
        }
        return z_[k];
    }

  private:
    static constexpr std::size_t kPairs = kBatchWords / 2;

    std::uint64_t number_of(std::size_t i) const {
        if (dim_ > kVmfShort) {
            return std::uint64_t{row_} * ((dim_ + kBatchWords - 1) / kBatchWords) * kBatchWords + i;
        }
        return kOctet * (dim_ * std::uint64_t{row_ / kOctet} + i) + row_ % kOctet;
    }

    void load(std::uint64_t batch) {
        poll();
        chacha20::Keystream stream(key_, batch);
        std::memcpy(words_, stream.next_batch(), sizeof words_);
        std::fill(has_, has_ + kPairs, false);
        batch_ = batch;
    }

    const NoiseKey& key_;
    std::size_t dim_;
    std::size_t row_;
    std::uint64_t batch_ = ~std::uint64_t{0};
    std::uint64_t words_[kBatchWords];
    bool has_[kPairs];
    T z_[kBatchWords];
};

// As VmfGridLine.
template <class T>
struct IdealLine {
    T of_x;
    T of_n;
    double error_of_x;
    double error_of_n;
    double error;
    bool is_known;
};

template <class Real>
class Row {
  public:
    Row(const VmfTask<Real>& task, std::size_t row)
        : task_(task),
          row_(row),
          dim_(task.dim),
          direction_(task.direction + row * task.stride),
          out_(task.out + row * task.dim),
          blocks_((dim_ + (kBlock - 1)) / kBlock),
          open_(blocks_) {
        if (dim_ <= kVmfShort) {
            std::copy(direction_, direction_ + dim_, copy_);
            direction_ = copy_;
        }
        scale_ = scale_of(direction_, dim_);
    }

    void write() {
        const auto line = task_.refine_all ? IdealLine<DoubleDouble>{} : line_of<DoubleDouble>();
        for_each_block([&](std::size_t block) { write_block(line, block); });
        const auto is_empty = [](const std::vector<std::size_t>& open) { return open.empty(); };
        if (std::all_of(open_.begin(), open_.end(), is_empty)) return;
        const auto ideal = line_of<Big>();
        for_each_block([&](std::size_t block) { settle_block(ideal, block); });
    }

  private:
    template <class T>
    struct Sums {
        T xx = exactly<T>(0.0), xn = xx, nn = xx;

        void operator+=(const Sums& more) {
            xx = xx + more.xx;
            xn = xn + more.xn;
            nn = nn + more.nn;
        }
    };

    template <class T>
    struct Cosines {
        T v;
        T one_minus_v;
        T one_plus_v;
        T one_plus_y;
    };
    // Of x0, which is where two forces balance (vmf_stationary.hpp).
    template <class T>
    struct IdealProposal {
        T m, x0, one_minus_x0;
    };

    // Exact: what it rounds of a double is below 2^-1000 of the largest.
    double x_at(std::size_t i) const { return scale_ * static_cast<double>(direction_[i]); }

    template <class Body>
    void for_each_block(Body&& body) const {
        parallel_blocks(blocks_, [&](std::size_t block) {
            body(block);
            erase_stack_below<kStack>();
        });
    }
    std::size_t end_of(std::size_t block) const { return std::min(dim_, (block + 1) * kBlock); }

    template <class T>
    Sums<T> sums_of() const {
        std::vector<Sums<T>> of_block(blocks_);
        for_each_block([&](std::size_t block) {
            RowNormals<T> normals(task_.key, dim_, row_);
            for (std::size_t i = block * kBlock; i < end_of(block);) {
                Sums<T> of_batch;
                do {
                    const T x = exactly<T>(x_at(i));
                    const T& n = normals.at(i);
                    of_batch += {x * x, x * n, n * n};
                } while (++i < end_of(block) && i % kBatchWords != 0);
                of_block[block] += of_batch;
            }
        });
        Sums<T> sums;
        for (const Sums<T>& of : of_block) sums += of;
        return sums;
    }

    template <class T>
    static IdealProposal<T> proposal_of(double kappa, double m) {
        const T k = exactly<T>(kappa) * 2.0, one = exactly<T>(1.0);
        const T root = root_of(k * k + exactly<T>(m) * m);
        const T b = exactly<T>(m) / (k + root);
        return {exactly<T>(m), k / (root + m), b * 2.0 / (b + one)};
    }

    template <class T>
    static Cosines<T> cosines_of(const IdealProposal<T>& p, const T& g, const T& G) {
        const T one = exactly<T>(1.0);
        const T square = g * g + G;
        const T v = g / root_of(square);
        const bool is_positive = as_double(v) > 0.0;
        const T to_nearer_end = G / square / (one + (is_positive ? v : -v));
        const T one_plus_v = is_positive ? one + v : to_nearer_end;
        return {v, is_positive ? to_nearer_end : one - v, one_plus_v,
                p.one_minus_x0 + p.x0 * one_plus_v};
    }

    template <class T>
    static T price_of(const IdealProposal<T>& p, const T& g, const T& G) {
        const Cosines<T> of = cosines_of(p, g, G);
        return p.m * (log_of(of.one_plus_y) - p.x0 * of.v / of.one_plus_y) * 2.0;
    }

    // What is accepted in the end, as settle() has it.
    template <class T>
    struct Accepted {
        T g, G;
        double v_error;
        bool is_known;
    };

    template <class T>
    Accepted<T> accepted(const Proposal& near, const IdealProposal<T>& p, T g, T G,
                         double v_error) const {
        const Accuracy& by = kDoubleDouble;
        VmfDraws draws;
        T price = price_of(p, g, G), log_u;
        log_uniform(first_word(task_.key, row_, draws),
                    refinement_block(task_.key, first_number(row_)), log_u);
        const Proposed of = proposed(near, as_double(g), as_double(G));
        double error = price_error(near, of, v_error, by) + by.limit;
        bool is_known = true;
        for (std::uint64_t number = 1;; ++number) {
            const double apart = as_double(log_u * -2.0 - price);
            is_known = is_known && std::fabs(apart) > error;
            const bool is_open = !is_known && !std::is_same_v<T, Big>;
            if (is_open || !(apart <= 0.0)) return {g, G, v_error, is_known};
            const VmfAttempt& words = words_of_attempt(task_.key, row_, number, draws);
            const std::size_t k = row_ % kVmfSharing;
            const std::uint64_t block = later_number(words.batch, row_);
            log_uniform(words.limit.of_row[k], refinement_block(task_.key, block + 2 * kVmfSharing),
                        log_u);
            NormalPair<T> z;
            ideal_normals({words.radius.of_row[k], words.angle.of_row[k]},
                          refinement_block(task_.key, block), z);
            const AttemptError made = attempt_of(near, p, z, g, G, price);
            v_error = made.v;
            error = made.price + by.limit;
        }
    }

    // As attempt().
    template <class T>
    static AttemptError attempt_of(const Proposal& near, const IdealProposal<T>& p,
                                   const NormalPair<T>& z, T& g, T& G, T& price) {
        const T& x = z.second;
        const T one = exactly<T>(1.0), square = x * x;
        Attempt made{};
        made.normals.second = as_double(x);
        g = z.first;
        if (near.m == 1.0) {
            G = square;
            price = price_of(p, g, G);
        } else {
            const T d = p.m / 2.0 - one / 3.0;
            const T y = x / root_of(d * 9.0), root = one + y;
            made.y = as_double(y);
            if (as_double(root) <= 0.0) {
                price = exactly<T>(1e300);  // more than any limit
                const bool is_known = std::is_same_v<T, Big> || made.y < -1.0 - 0x1p-30;
                return {0.0, is_known ? 0.0 : kNaN};
            }
            const T t = root * root * root - one;
            made.t = as_double(t);
            G = d * (one + t) * 2.0;
            price = price_of(p, g, G) + d * (t - log_of(root) * 3.0) * 2.0 - square;
        }
        made.g = as_double(g);
        made.G = as_double(G);
        return error_of(near, made, kDoubleDouble);
    }

    template <class T>
    IdealLine<T> line_of() const {
        const Sums<T> sums = sums_of<T>();
        const bool is_directed = as_double(sums.xx) != 0.0;
        const T one = exactly<T>(1.0), none = exactly<T>(0.0);
        const T norm = is_directed ? root_of(sums.xx) : one;
        const T along = is_directed ? sums.xn / norm : none;
        const T tangent = sums.nn - along * along;
        const Proposal near = proposal(task_.kappa, static_cast<double>(dim_ - 1));
        Accuracy by = kDoubleDouble;
        by.relative += 0x1p-103 * static_cast<double>(blocks_);
        const double relative = relative_error(by, dim_, std::sqrt(as_double(sums.nn)));
        Accepted<T> of{none, one, 0.0, true};
        T w = none, sine = one;
        if (is_directed) {
            const auto p = proposal_of<T>(task_.kappa, near.m);
            of = accepted(near, p, along, tangent, cosine_error(relative));
            const Cosines<T> c = cosines_of(p, of.g, of.G);
            w = one - p.one_minus_x0 * c.one_minus_v / c.one_plus_y;
            sine = root_of(p.one_minus_x0 * (one + p.x0) * c.one_minus_v * c.one_plus_v) /
                   c.one_plus_y;
        }
        const LineOnGrid error =
            line_on_grid(near, as_double(along), as_double(tangent), relative, as_double(of.g),
                         as_double(of.G), of.v_error, is_directed, by);
        const double cells = 1.0 / task_.step;
        const T of_n = sine / root_of(tangent);
        const T of_x = (w - of_n * along) / norm;
        return {(is_directed ? of_x : none) * cells,
                of_n * cells,
                is_directed ? error.error_of_mu / as_double(norm) * cells : 0.0,
                error.error_of_n * cells,
                error.error * cells,
                of.is_known};
    }

    void put(std::size_t i, double q) { out_[i] = static_cast<Real>(task_.step * (q + 0.0)); }

    void write_block(const IdealLine<DoubleDouble>& line, std::size_t block) {
        RowNormals<DoubleDouble> normals(task_.key, dim_, row_);
        for (std::size_t i = block * kBlock; i < end_of(block); ++i) {
            if (!line.is_known) {
                open_[block].push_back(i);
                continue;
            }
            const double x = x_at(i);
            const DoubleDouble& n = normals.at(i);
            const DoubleDouble t = line.of_x * x + line.of_n * n;
            const double near = std::rint(t.hi);  // t.hi may be a tie that t is not
            const double q = near + std::rint(rounded(t + (-near)));
            const double error =
                line.error_of_x * std::fabs(x) + line.error_of_n * std::fabs(n.hi) + line.error;
            put(i, q);
            if (!(std::fabs(rounded(t + (-q))) + error < 0.5)) open_[block].push_back(i);
        }
    }

    void settle_block(const IdealLine<Big>& line, std::size_t block) {
        RowNormals<Big> normals(task_.key, dim_, row_);
        for (const std::size_t i : open_[block]) {
            put(i, as_double(nearest(line.of_x * x_at(i) + line.of_n * normals.at(i))));
        }
    }

    const VmfTask<Real>& task_;
    std::size_t row_;
    std::size_t dim_;
    const Real* direction_;
    Real* out_;
    double scale_;
    std::size_t blocks_;
    std::vector<std::vector<std::size_t>> open_;  // coordinates, by block
    Real copy_[kVmfShort];
};

}  // namespace

RoundedPair rounded_ideal_pair(const NoiseKey& key, std::uint64_t number, std::uint64_t radius,
                               std::uint64_t angle) noexcept {
    const BigPair z = ideal_pair({radius, angle}, refinement_block(key, number));
    return {as_double(z.first), as_double(z.second)};
}

void write_ideal_row(const VmfTask<double>& task, std::size_t row) {
    Row<double>(task, row).write();
}

void write_ideal_row(const VmfTask<float>& task, std::size_t row) {
    Row<float>(task, row).write();
}

}  // namespace tightnoise
