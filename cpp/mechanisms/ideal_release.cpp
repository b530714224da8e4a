#include "mechanisms/ideal_release.hpp"

#include "random/big.hpp"

namespace tightnoise {
namespace {

struct IdealPair {
    Big first;
    Big second;
};

IdealPair ideal_pair(const IdealPairSource& source) {
    const chacha20::Block block = refinement_block(source.key, source.block);
    const Big near = ideal_near(source.radius, block);
    const Big u = source.radius >> 63 != 0 ? 1 - near : near;
    const Big f = continued(source.angle >> 12, block, 8, -52) - 0.5;
    Big r = sqrt(-2 * log(u));
    if ((source.angle & 2) != 0) r = -r;
    const Big x = r * cos(kHalfPi * f);
    const Big y = r * sin(kHalfPi * f);
    return (source.angle & 1) != 0 ? IdealPair{y, x} : IdealPair{x, y};
}

double integer(const IdealElement& of, const Big& z) {
    const Big x = Big(of.theta) + of.low + of.sigma * z - of.lower;
    return static_cast<double>(nearest(x * of.cells / (Big(of.upper) - of.lower)));
}

}  // namespace

IntegerPair ideal_integers(const IdealPairSource& source, const IdealElement& first,
                           const IdealElement& second) noexcept {
    const IdealPair z = ideal_pair(source);
    return {integer(first, z.first), integer(second, z.second)};
}

}  // namespace tightnoise
