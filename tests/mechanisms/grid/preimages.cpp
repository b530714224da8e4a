// Which outputs can float samplers come to? Reads doubles from standard input, writes 1.0 or 0.0
// for each output, or pair of outputs: whether some random word leads to it, with theta = 0.
//
//   preimages pair:                  pairs z1, z2: Box-Muller pairs (random/normal.hpp)
//   preimages inside SIGMA LOWER UPPER:  samples of truncated::Inside
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mechanisms/truncated_inside.hpp"
#include "random/normal.hpp"

namespace tightnoise {
namespace {

double ulps(double x, int n) {
    for (; n > 0; --n) x = std::nextafter(x, 1e300);
    for (; n < 0; ++n) x = std::nextafter(x, -1e300);
    return x;
}

// Some angle and some radius near those of the point have it for their pair.
bool is_pair(double z1, double z2) {
    using C = box_muller::Coefficients<double>;
    const bool swapped = std::fabs(z1) < std::fabs(z2);
    const double cosine_part = swapped ? z2 : z1, large = std::fabs(cosine_part);
    const double small = std::copysign(1.0, cosine_part) * (swapped ? z1 : z2);
    const long double turn = std::atan2(static_cast<long double>(small), large) / std::acos(0.0L);
    const long double word = std::floor((turn + 0.5L) * 0x1p52L);
    for (int i = -3; i <= 3; ++i) {
        const long double k = word + i;
        if (k < 0 || k >= 0x1p52L) continue;
        const double f = static_cast<double>((k + 0.5L) * 0x1p-52L - 0.5L), f2 = f * f;
        const double sine = f * polynomial(C::kSin, f2);
        const double cosine = 1.0 + f2 * polynomial(C::kCos, f2);
        for (int j = -3; j <= 3; ++j) {
            const double r = ulps(large / cosine, j);
            if (r * cosine == large && r * sine == small) return true;
        }
    }
    return false;
}

// Samples rise with the word, but for rounding: some word near where they pass x gives x.
bool is_inside(const truncated::Inside& law, double x) {
    std::uint64_t a = 0, b = (std::uint64_t{1} << 52) - 1;
    while (b - a > 1) {
        const std::uint64_t middle = a + (b - a) / 2;
        (law.sample(0.0, middle << 12) < x ? a : b) = middle;
    }
    for (std::uint64_t k = a < 64 ? 0 : a - 64; k <= a + 64; ++k) {
        if (law.sample(0.0, k << 12) == x) return true;
    }
    return false;
}

void answer(bool yes) {
    const double share = yes ? 1.0 : 0.0;
    std::fwrite(&share, sizeof share, 1, stdout);
}

}  // namespace
}  // namespace tightnoise

int main(int count, char** arguments) {
    using namespace tightnoise;
    double x[2];
    if (count == 2 && std::string(arguments[1]) == "pair") {
        while (std::fread(x, sizeof *x, 2, stdin) == 2) answer(is_pair(x[0], x[1]));
        return 0;
    }
    if (count != 5) return 1;
    const truncated::Inside law(std::atof(arguments[2]), std::atof(arguments[3]),
                                std::atof(arguments[4]));
    while (std::fread(x, sizeof *x, 1, stdin) == 1) answer(is_inside(law, *x));
    return 0;
}
