// The errors of GRID_TRUNCATED.md, section "The float32 evaluation": all float32 arguments of its
// functions, and samples of float32 beside those of float64. A minute; from the root of a checkout:
//     g++ -std=c++17 -O3 -fno-math-errno -fno-trapping-math -fopenmp-simd -ffp-contract=fast \
//         -march=native -DTIGHTNOISE_LEVEL=v1 -Icpp tests/exhaust_truncated.cpp -o exhaust &&
//         ./exhaust
#include <cstdio>
#include <random>

#include "mechanisms/grid_truncated.cpp"

namespace tightnoise {

double ideal_conditioned(Conditioned, const ConditionedElement&, double, double guess) noexcept {
    return guess;  // is not called
}

namespace {

constexpr double kUnit = 0x1p-24;
constexpr int kBlock = 1024;

// f(x) of all floats between two positive ones; error(x, f(x)) is to be small.
template <class F, class Error>
void scan(const char* name, float from, float to, F f, Error error) {
    alignas(64) static float x[kBlock];
    alignas(64) static double e[kBlock];
    const std::uint64_t last = to_bits(to);
    double worst = 0;
    for (std::uint64_t k = to_bits(from); k <= last; k += kBlock) {
        for (int i = 0; i < kBlock; ++i) {
            x[i] = from_bits(static_cast<std::uint32_t>(k + i < last ? k + i : last));
        }
#pragma omp simd
        for (int i = 0; i < kBlock; ++i) {
            e[i] = std::fabs(error(static_cast<double>(x[i]), static_cast<double>(f(x[i]))));
        }
        for (const double here : e) worst = here <= worst ? worst : here;
    }
    std::printf("%-24s %.2f u\n", name, worst / kUnit);
}

// -2 log(2 Q(x)), from the Mills ratio m: h = 1 / m is half its derivative.
double z_of(double x) {
    return x * x - 2.0 * log_positive(mills_positive(x) * (2.0 / kSqrtTwoPi));
}

void compare(int batches, double least_outside, double most_outside) {
    constexpr int kN = grid::kConditionedBatch;
    using Law = grid::GaussianLaw;
    alignas(64) static std::uint64_t words[kN];
    alignas(64) static double outside[kN], down[kN], up[kN];
    alignas(64) static double y[kN], direction[kN], reach[kN], z[kN], side[kN], other[kN];
    std::mt19937_64 random(7);
    const auto uniform = [&] { return (random() >> 11) * 0x1p-53; };
    double worst = 0;
    double most = 0;
    for (int b = 0; b < batches; ++b) {
        for (int i = 0; i < kN; ++i) {
            // Half of them where float32 knows least.
            words[i] = random() >> (random() % 2 == 0 ? 0 : random() % 18);
            const double width = random() % 4 == 0 ? 0.5 : 0.5 * std::exp2(6 * uniform());
            const bool inside = most_outside == 0;
            outside[i] = inside ? 0 : least_outside + (most_outside - least_outside) * uniform();
            // To floats, as their roundings are of the parameters.
            outside[i] = static_cast<float>(outside[i]);
            down[i] = inside ? static_cast<float>(width * uniform()) : 0;
            up[i] = static_cast<float>(width - down[i]);
        }
        Law::draw_roughly({words, 0x1p-65, outside, down, up}, kN, {y, direction, reach});
        Law::draw({words, 0x1p-65, outside, down, up}, kN, {z, side, other});
        for (int i = 0; i < kN; ++i) {
            if (reach[i] > 1) continue;
            const double error = std::fabs(y[i] * direction[i] - z[i] * side[i]);
            worst = error <= worst * reach[i] ? worst : error / reach[i];
            most = error <= most ? most : error;
        }
    }
    std::printf("samples, %g to %g outside: %.2f of the bound, %.2e\n", least_outside, most_outside,
                worst, most);
}

}  // namespace
}  // namespace tightnoise

int main() {
    using namespace tightnoise;
    namespace f = grid::float32;
    constexpr double kScale = 2.0 / kSqrtTwoPi;
    scan(
        "mills", 0x1p-60f, 0.25f, [](float v) { return f::mills(v); },
        [](double v, double m) { return m / (kScale * mills_positive(1 / v - 4)) - 1; });
    scan(
        "power", 0x1p-30f, 100.0f, [](float x) { return f::power(-x); },
        [](double x, double e) {
            return e / exp_of_bounded_sum(-x * 0.69314718055994531, 0.0) - 1;
        });
    scan(
        "-2 log, below 1/sqrt 2", 0x1p-40f, 0.7071067f, [](float x) { return f::minus_two_log(x); },
        [](double x, double l) { return l / (-2 * log_positive(x)) - 1; });
    scan(
        "-2 log, to 1.001", 0.70710683f, 1.001f, [](float x) { return f::minus_two_log(x); },
        [](double x, double l) { return l + 2 * log_positive(x); });
    const auto error = [](double z, double x) { return (z_of(x) - z) * 0.5 * mills_positive(x); };
    const auto allowed = [&](double z, double x) { return error(z, x) / (10 + 5 * x); };
    scan("point, over 10 + 5 x", 0x1p-40f, 170.0f, [](float z) { return f::point(z); }, allowed);
    compare(400000, 0, 0);
    compare(200000, 0, 3);
    compare(200000, 3, 12);
    compare(200000, 12, 13);
    compare(200000, 13, 60);
    compare(200000, 60, 1e9);
}
