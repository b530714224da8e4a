#include "mechanisms/ideal_release.hpp"

#include "random/big.hpp"

namespace tightnoise {
namespace {

struct IdealPair {
    Big first;
    Big second;
};

IdealPair ideal_pair(const IdealPairSource& source) {
    static const Big half_pi = boost::math::constants::half_pi<Big>();
    const chacha20::Block block = refinement_block(source.key, source.block);
    const Big near = ideal_near(source.radius, block);
    const Big u = source.radius >> 63 != 0 ? 1 - near : near;
    const Big f = continued(source.angle >> 12, block, 8, -52) - 0.5;
    Big r = sqrt(-2 * log(u));
    if ((source.angle & 2) != 0) r = -r;
    const Big x = r * cos(half_pi * f);
    const Big y = r * sin(half_pi * f);
    return (source.angle & 1) != 0 ? IdealPair{y, x} : IdealPair{x, y};
}

Big sample(const IdealElement& of, const Big& z) {
    return Big(of.theta) + of.theta_low - of.origin - of.low_origin + of.sigma * z;
}

}  // namespace

NearestPair ideal_nearest(const IdealPairSource& source, const IdealElement& first,
                          const IdealElement& second, double multiplier, double divisor) noexcept {
    const IdealPair z = ideal_pair(source);
    const auto integer = [&](const IdealElement& of, const Big& normal) {
        return static_cast<double>(nearest(sample(of, normal) * multiplier / divisor));
    };
    return {integer(first, z.first), integer(second, z.second)};
}

NearestPair ideal_signs(const IdealPairSource& source, const IdealElement& first,
                        const IdealElement& second) noexcept {
    const IdealPair z = ideal_pair(source);
    const auto sign = [](const Big& x) { return x < 0 ? -1.0 : 1.0; };
    return {sign(sample(first, z.first)), sign(sample(second, z.second))};
}

}  // namespace tightnoise
