#include "mechanisms/ideal_release.hpp"

#include "random/big.hpp"

namespace tightnoise {
namespace {

BigPair ideal_pair(const IdealPairSource& source) {
    return ideal_pair({source.radius, source.angle}, refinement_block(source.key, source.block));
}

double integer(const IdealElement& of, const Big& z) {
    const Big x = Big(of.theta) + of.low + of.location + of.low_location + of.sigma * z - of.lower;
    return static_cast<double>(nearest(x * of.cells / (Big(of.upper) - of.lower)));
}

}  // namespace

IntegerPair ideal_integers(const IdealPairSource& source, const IdealElement& first,
                           const IdealElement& second) noexcept {
    const BigPair z = ideal_pair(source);
    return {integer(first, z.first), integer(second, z.second)};
}

}  // namespace tightnoise
