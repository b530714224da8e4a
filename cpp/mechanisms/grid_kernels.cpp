#include "mechanisms/grid_kernels.hpp"

#include "mechanisms/grid_normals.hpp"

namespace tightnoise {
namespace {
namespace grid {

// What theta has below its last place, in cells: two exact parts, abs(rest) <= 1/2.
template <class Real>
struct LowPart {
    const Real* whole;
    const Real* rest;
};

// theta + sigma z as floats: step (whole + q), rounded once.
template <class Real, bool kShared>
struct GaussianLaw {
    const Real* theta;
    Real* out;
    Each<Real, kShared> s;
    Each<Real, kShared> step;
    Each<Real, kShared> inverse_step;

    Real whole(std::size_t i) const { return nearest_integer(theta[i] * inverse_step[i]); }
    Real rest(std::size_t i, Real whole) const { return rest_of(theta[i], inverse_step[i], whole); }
    Real value(std::size_t i, Real whole, Real q) const {
        return value_of(theta[i], whole, q, step[i]);
    }
};

// The same between bounds, of theta with what it has below its last place (kLow) or without.
template <class Real, bool kShared, bool kLow>
struct RectifiedLaw : GaussianLaw<Real, kShared> {
    BoundsOf<Real, kShared> bounds;
    LowPart<Real> low;

    Real rest(std::size_t i, Real whole) const {
        const Real rest = GaussianLaw<Real, kShared>::rest(i, whole);
        return kLow ? rest + low.rest[i] : rest;
    }
    Real value(std::size_t i, Real whole, Real offset) const {
        const Real q = kLow ? offset + low.whole[i] : offset;
        return bounds.clamp(i, GaussianLaw<Real, kShared>::value(i, whole, q));
    }
};

// q alone.
template <class Real, bool kShared>
struct OffsetLaw : GaussianLaw<Real, kShared> {
    Real value(std::size_t, Real, Real q) const { return q; }
};

// Batches of a task: its parameters in cells, and theta and out where a law can use them, padded.
template <class Real>
class Batches {
    static constexpr std::size_t kN = kBatch<Real>;

  public:
    explicit Batches(const GridTask<Real>& task)
        : task_(task),
          is_shared_(task.sigma.is_scalar && task.step.is_scalar),
          in_place_(task.theta.data == task.out) {}

    bool is_shared() const { return is_shared_; }

    void load(std::size_t first, std::size_t n) {
        first_ = first;
        n_ = n;
        theta_ = theta_block_.load(task_.theta, first, n);
        out_ = task_.out + first;
        if (n < kN || in_place_) {
            std::memcpy(padded_theta_, theta_, n * sizeof(Real));
            for (std::size_t i = n; i < kN; ++i) padded_theta_[i] = Real(0);
            theta_ = padded_theta_;
        }
        if (n < kN) out_ = padded_out_;
        load_parameters(first, n);
        if (task_.theta_low == nullptr) return;
        for (std::size_t i = 0; i < kN; ++i) {
            const double low = i < n ? task_.theta_low[first + i] * inverse_step_[i] : 0.0;
            low_whole_[i] = static_cast<Real>(nearest_integer(low));
            low_rest_[i] = static_cast<Real>(low - low_whole_[i]);
        }
    }

    template <bool kShared>
    GaussianLaw<Real, kShared> law() const {
        using Values = Each<Real, kShared>;
        return {theta_, out_, Values{s_}, Values{step_}, Values{inverse_step_}};
    }
    LowPart<Real> low() const { return {low_whole_, low_rest_}; }
    const Real* inverse_step() const { return inverse_step_; }
    Real whole(std::size_t i) const { return nearest_integer(theta_[i] * inverse_step_[i]); }
    Real rest(std::size_t i) const { return rest_of(theta_[i], inverse_step_[i], whole(i)); }

    template <class Law>
    void draw(const std::uint32_t* keystream, const Law& law) const {
        draw_batch<Integers::all, Real>(
            keystream, law, task_.key, task_.refine_all, Real(0), first_, n_,
            [this](std::size_t i) { return Precise{rest(i), precise_s_[i]}; },
            [this](std::size_t i) {
                const double low = task_.theta_low == nullptr ? 0.0 : low_rest_[i];
                return IdealElement{rest(i), low, precise_s_[i], 0.0, 1.0, 1.0};
            });
    }

    void finish() const {
        if (n_ < kN) std::memcpy(task_.out + first_, padded_out_, n_ * sizeof(Real));
    }

  private:
    void load_parameters(std::size_t first, std::size_t n) {
        if (is_shared_ && !is_new_) return;
        is_new_ = false;
        const double* step = step_block_.load(task_.step, first, n);
        const double* sigma = sigma_block_.load(task_.sigma, first, n);
        if (is_shared_) return load_parameters<true>(step, sigma, 1);
        load_parameters<false>(step, sigma, n);
    }
    // Of n elements, the others being as the first.
    template <bool kShared>
    void load_parameters(const double* step, const double* sigma, std::size_t n) {
        const double first_step = step[0];
        const double first_sigma = sigma[0];
#pragma omp simd
        for (std::size_t i = 0; i < kN; ++i) {
            const double g = !kShared && i < n ? step[i] : first_step;
            const double scale = !kShared && i < n ? sigma[i] : first_sigma;
            step_[i] = static_cast<Real>(g);
            inverse_step_[i] = static_cast<Real>(1.0 / g);
            precise_s_[i] = scale / g;
            s_[i] = static_cast<Real>(precise_s_[i]);
        }
    }

    const GridTask<Real>& task_;
    const bool is_shared_;
    const bool in_place_;
    bool is_new_ = true;
    std::size_t first_ = 0;
    std::size_t n_ = 0;
    const Real* theta_ = nullptr;
    Real* out_ = nullptr;
    OperandBlock<kN, Real> theta_block_;
    OperandBlock<kN> sigma_block_;
    OperandBlock<kN> step_block_;
    alignas(64) double precise_s_[kN];
    alignas(64) Real s_[kN];
    alignas(64) Real step_[kN];
    alignas(64) Real inverse_step_[kN];
    alignas(64) Real padded_theta_[kN];
    alignas(64) Real padded_out_[kN];
    alignas(64) Real low_whole_[kN];
    alignas(64) Real low_rest_[kN];
};

template <class Real, class Draw>
inline void for_each_batch(const GridTask<Real>& task, std::size_t begin, std::size_t end,
                           Draw&& draw) {
    Batches<Real> batches(task);
    chacha20::for_each_batch<kBatch<Real>>(
        task.key, begin, end,
        [&](const std::uint32_t* keystream, std::size_t first, std::size_t n) {
            prefetch(task, first);
            batches.load(first, n);
            draw(keystream, batches, first, n);
        });
}

template <bool kShared>
void gaussian_integers(const GridTask<double>& task, std::size_t begin, std::size_t end) {
    alignas(64) double q[kBatch<double>];
    for_each_batch(task, begin, end,
                   [&](const std::uint32_t* keystream, const Batches<double>& batches,
                       std::size_t first, std::size_t n) {
                       OffsetLaw<double, kShared> law{batches.template law<kShared>()};
                       law.out = q;
                       batches.draw(keystream, law);
                       for (std::size_t i = 0; i < n; ++i) {
                           task.integers[first + i] = integer_of(batches.whole(i), q[i]);
                       }
                   });
}

template <class Real, bool kShared>
void gaussian_floats(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    for_each_batch(
        task, begin, end,
        [](const std::uint32_t* keystream, const Batches<Real>& batches, std::size_t, std::size_t) {
            batches.draw(keystream, batches.template law<kShared>());
            batches.finish();
        });
}

template <class Real>
void gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    const bool is_shared = task.sigma.is_scalar && task.step.is_scalar;
    if constexpr (sizeof(Real) == sizeof(double)) {
        if (task.integers != nullptr) {
            return is_shared ? gaussian_integers<true>(task, begin, end)
                             : gaussian_integers<false>(task, begin, end);
        }
    }
    is_shared ? gaussian_floats<Real, true>(task, begin, end)
              : gaussian_floats<Real, false>(task, begin, end);
}

template <class Real, bool kShared, bool kLow = false>
void rectified_floats(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    Bounds<Real> bounds;
    for_each_batch(task, begin, end,
                   [&](const std::uint32_t* keystream, const Batches<Real>& batches,
                       std::size_t first, std::size_t n) {
                       bounds.load(task, batches.inverse_step(), first, n);
                       batches.draw(keystream, RectifiedLaw<Real, kShared, kLow>{
                                                   batches.template law<kShared>(),
                                                   bounds.template all<kShared>(), batches.low()});
                       batches.finish();
                   });
}

template <class Real>
void rectified_gaussian(const GridTask<Real>& task, std::size_t begin, std::size_t end) {
    const bool is_shared =
        task.sigma.is_scalar && task.step.is_scalar && task.lower.is_scalar && task.upper.is_scalar;
    if (task.theta_low != nullptr) {
        return is_shared ? rectified_floats<Real, true, true>(task, begin, end)
                         : rectified_floats<Real, false, true>(task, begin, end);
    }
    is_shared ? rectified_floats<Real, true>(task, begin, end)
              : rectified_floats<Real, false>(task, begin, end);
}

template <class Real, class Word = typename box_muller::Bits<Real>::Word>
void normal_pairs(const Word* radius, const Word* angle, std::size_t count, Real* first,
                  Real* second, Real* square) {
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        const auto pair = box_muller::pair_of<Real>(radius[i], angle[i]);
        first[i] = pair.first;
        second[i] = pair.second;
        square[i] = pair.square;
    }
}

}  // namespace grid
}  // namespace

extern const GridKernels TIGHTNOISE_AT_LEVEL(grid_kernels) = {
    {grid::gaussian<double>, grid::gaussian<float>},
    {grid::rectified_gaussian<double>, grid::rectified_gaussian<float>},
    grid::normal_pairs<double>,
    grid::normal_pairs<float>};

}  // namespace tightnoise
