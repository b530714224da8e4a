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
    std::printf("%-16s %.2f u\n", name, worst / kUnit);
}

void compare(int batches) {
    constexpr int kN = 128;
    using Law = grid::GaussianLaw;
    alignas(64) static std::uint64_t words[kN];
    alignas(64) static double outside[kN], down[kN], up[kN];
    alignas(64) static double y[kN], direction[kN], reach[kN], z[kN], side[kN], other[kN];
    std::mt19937_64 random(7);
    const auto uniform = [&] { return (random() >> 11) * 0x1p-53; };
    double worst = 0;
    for (int b = 0; b < batches; ++b) {
        for (int i = 0; i < kN; ++i) {
            words[i] = random();
            const double width = random() % 4 == 0 ? 0.5 : 0.5 * std::exp2(6 * uniform());
            const int kind = static_cast<int>(random() % 3);
            outside[i] =
                kind == 0 ? 0 : (kind == 1 ? 8 * uniform() : std::exp2(30 * uniform() - 4));
            down[i] = kind == 0 ? width * uniform() : 0;
            up[i] = width - down[i];
        }
        Law::draw_roughly({words, outside, down, up}, kN, {y, direction, reach});
        Law::draw({words, outside, down, up}, kN, {z, side, other});
        for (int i = 0; i < kN; ++i) {
            if (reach[i] > 1) continue;
            const double error = std::fabs(y[i] * direction[i] - z[i] * side[i]) / reach[i];
            worst = error <= worst ? worst : error;
        }
    }
    std::printf("%-16s %.2f of the bound\n", "samples", worst);
}

}  // namespace
}  // namespace tightnoise

int main() {
    using namespace tightnoise;
    using Law = grid::GaussianLaw;
    scan(
        "rough_mills", 0x1p-60f, 0.25f, [](float v) { return Law::rough_mills(v); },
        [](double v, double m) { return m / mills_positive(1 / v - 4) - 1; });
    scan(
        "rough_exp", 0x1p-30f, 80.0f, [](float x) { return Law::rough_exp(-x); },
        [](double x, double e) { return e / exp_of_bounded_sum(-x, 0.0) - 1; });
    scan(
        "rough_log", 0x1p-15f, 0.5f, [](float x) { return Law::rough_log(x, 1.0f - x); },
        [](double x, double l) { return l / log_positive(x) - 1; });
    scan(
        "rough_log, 1 - d", 0x1p-60f, 0.5f, [](float d) { return Law::rough_log(1.0f - d, d); },
        [](double d, double l) {
            const double x = 1 - d;
            return l / log_of_sum(x, (1 - x) - d) - 1;
        });
    scan(
        "of a ratio", 0.05f, 1.0001f, [](float x) { return Law::rough_log(x, 1.0f - x); },
        [](double x, double l) { return l - log_positive(x); });
    compare(200000);
}
