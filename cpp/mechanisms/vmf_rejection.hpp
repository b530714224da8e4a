// Cosines of many rows at a time: the random words they take, and the rejections that are left.
// Kernel-side header: internal linkage, one copy a level.
#pragma once

#include <cstring>

#include "mechanisms/vmf_cosine.hpp"
#include "mechanisms/vmf_grid_errors.hpp"
#include "mechanisms/vmf_sampling_kernels.hpp"
#include "random/chacha20.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kTogether = 128;  // rows, at most

static_assert(sizeof(VmfWords) == chacha20::kBatchBytes, "a batch has one word for each row");

constexpr std::uint64_t kFirstDraws = std::uint64_t{1} << 58;
constexpr std::uint64_t kLaterDraws = std::uint64_t{1} << 59;
constexpr int kLaterBits = 20;  // more than 10^5 attempts

inline void take(chacha20::Keystream& stream, VmfWords& words) {
    std::memcpy(words.of_row, stream.next_batch(), sizeof words.of_row);
}

inline std::uint64_t first_word(const NoiseKey& key, std::size_t row, VmfDraws& draws) {
    const std::uint64_t share = row / kVmfSharing;
    if (draws.first_share != share) {
        chacha20::Keystream stream(key, kFirstDraws + share);
        take(stream, draws.first);
        draws.first_share = share;
    }
    return draws.first.of_row[row % kVmfSharing];
}

// The words of attempt 1, 2, ...
inline const VmfAttempt& words_of_attempt(const NoiseKey& key, std::size_t row,
                                          std::uint64_t number, VmfDraws& draws) {
    const std::uint64_t batch = kLaterDraws + (row / kVmfSharing << kLaterBits) + 3 * (number - 1);
    VmfAttempt& kept = draws.attempts[number % kVmfAttemptsKept];
    if (kept.batch != batch) {
        chacha20::Keystream stream(key, batch);
        take(stream, kept.radius);
        take(stream, kept.angle);
        take(stream, kept.limit);
        kept.batch = batch;
    }
    return kept;
}

// Refinement blocks (random/ideal_bits.hpp) of these words: apart from those of the normals, which
// count from 0. The first is of the acceptance, the others of a word of an attempt's batch: its
// radius and angle share that of the radius.
inline std::uint64_t first_number(std::size_t row) {
    return (std::uint64_t{1} << 62) + row;
}
inline std::uint64_t later_number(std::uint64_t batch, std::size_t row) {
    return (std::uint64_t{1} << 63) + (batch - kLaterDraws) * kVmfSharing + row % kVmfSharing;
}

// Puts into g and G those of the proposals that are accepted, for `rows` of them from row `first`
// on. What is given is the first proposal, from the normals that also give the tangent direction
// (which is independent of both). NaN among kappa, g and G is accepted, so this ends.
// With kOnGrid, v_error (vmf_grid_errors.hpp) goes the way of g and G; it becomes NaN where the
// proposal that an ideal row accepts is not known.
template <bool kOnGrid>
__attribute__((noinline)) void settle(const NoiseKey& key, const Proposal& p, std::size_t first,
                                      std::size_t rows, double* g, double* G, double* v_error,
                                      const Accuracy& by, VmfDraws& draws) {
    alignas(64) double limit[kTogether];
    alignas(64) double prices[kTogether];
    alignas(64) double new_g[kTogether];
    alignas(64) double new_G[kTogether];
    alignas(64) double new_error[kTogether];
    alignas(64) std::uint64_t words[kTogether];
    alignas(64) std::uint64_t radius[kTogether] = {};
    alignas(64) std::uint64_t angle[kTogether] = {};
    std::size_t waiting[kTogether];

    for (std::size_t i = 0; i < rows; ++i) words[i] = first_word(key, first + i, draws);
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        limit[i] = two_exponentials(words[i]);
        prices[i] = price(p, g[i], G[i]);
        if constexpr (kOnGrid) {
            const double error = price_error(p, proposed(p, g[i], G[i]), v_error[i], by);
            const double known = known_acceptance(limit[i], prices[i], error + by.limit);
            prices[i] += known;
            v_error[i] += known;
        }
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        waiting[left] = i;
        left += limit[i] <= prices[i] ? 1 : 0;
    }
    for (std::uint64_t number = 1; left > 0; ++number) {
        for (std::size_t k = 0; k < left; ++k) {
            const std::size_t row = first + waiting[k];
            const VmfAttempt& of = words_of_attempt(key, row, number, draws);
            radius[k] = of.radius.of_row[row % kVmfSharing];
            angle[k] = of.angle.of_row[row % kVmfSharing];
            words[k] = of.limit.of_row[row % kVmfSharing];
        }
#pragma omp simd
        for (std::size_t k = 0; k < left; ++k) {
            const Attempt made = attempt(p, radius[k], angle[k]);
            new_g[k] = made.g;
            new_G[k] = made.G;
            prices[k] = made.price;
            limit[k] = two_exponentials(words[k]);
            if constexpr (kOnGrid) {
                const AttemptError error = error_of(p, made, by);
                const double known = known_acceptance(limit[k], prices[k], error.price + by.limit) +
                                     known_pair(made.normals);
                prices[k] += known;
                new_error[k] = error.v + known;
            }
        }
        std::size_t still = 0;
        for (std::size_t k = 0; k < left; ++k) {
            const std::size_t i = waiting[k];
            g[i] = new_g[k];
            G[i] = new_G[k];
            if constexpr (kOnGrid) v_error[i] = new_error[k];
            waiting[still] = i;
            still += limit[k] <= prices[k] ? 1 : 0;
        }
        left = still;
    }
}

// Without a grid.
inline void settle(const NoiseKey& key, const Proposal& p, std::size_t first, std::size_t rows,
                   double* g, double* G, VmfDraws& draws) {
    settle<false>(key, p, first, rows, g, G, nullptr, kLongRow, draws);
}

}  // namespace
}  // namespace tightnoise
