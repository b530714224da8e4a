#include "mechanisms/ideal_noise.hpp"

#include <cmath>

#include "random/big_normal.hpp"

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

namespace {

// z has Phi(-z) = above kept and Phi(z) = below kept + 1 - kept, where above and below = 1 - above
// are the ideal shares behind the word (random/uniform.hpp) and kept the mass that is not cut off.
class IdealTails {
  public:
    explicit IdealTails(const IdealQuasiGaussian& of) {
        const Big near = ideal_near(of.word, refinement_block(of.key, of.number));
        const Big far = 1 - near;
        const bool from_one = of.word >> 63 != 0;
        const Big cut = of.cut ? normal_below(-Big(of.law_sensitivity) / of.law_sigma) : Big(0);
        const Big kept = 1 - cut;
        above_ = (from_one ? far : near) * kept;
        below_ = (from_one ? near : far) * kept + cut;
    }

    // Whether z >= at. On the side of the smaller tail, which keeps its digits.
    bool reaches(const Big& at) const {
        return at > 0 ? above_ <= normal_below(-at) : below_ >= normal_below(at);
    }

  private:
    Big above_;
    Big below_;
};

}  // namespace

double ideal_quasi_gaussian(const IdealQuasiGaussian& element, double from) noexcept {
    const IdealTails z(element);
    // Whether theta + noise >= q - 1/2.
    const auto reaches = [&](double q) {
        Big at = Big(q) - 0.5 - element.theta - element.theta_low;
        if (element.mirrored) at = -at;
        const bool beyond = z.reaches((at - element.location) / element.sigma);
        return element.mirrored ? !beyond : beyond;
    };
    double q = from;
    while (reaches(q + 1.0)) ++q;
    while (!reaches(q)) --q;
    return q;
}

namespace {

// U and 1 - U, neither by subtraction.
struct IdealShares {
    Big above;
    Big below;
};

IdealShares shares(const IdealWord& from) {
    const chacha20::Block block = refinement_block(from.key, from.block);
    chacha20::Block other;
    for (int i = 0; i < chacha20::kWords; ++i) other.word[i] = ~block.word[i];
    return {2 * ideal_near(from.word, block), 2 * ideal_near(~from.word, other)};
}

double nearest_to(const IdealWord& from, const IdealCell& cell, const Big& magnitude) {
    const Big noise = magnitude / cell.step;
    const Big signed_noise = (from.word >> 63) != 0 ? Big(-noise) : noise;
    return static_cast<double>(nearest(signed_noise + cell.rest + cell.low));
}

// What a staircase has beyond a bound and before it; slope is how fast the former falls at 0.
struct Parts {
    Big after;
    Big inside;
};
Parts parts_at(const StaircaseNoise& noise, const Big& b, const Big& slope) {
    if (std::isinf(noise.bound)) return {0, 1};
    const Big end = Big(noise.bound) / noise.period;
    const Big k = floor(end);
    const Big first = k + noise.gamma < end ? Big(noise.gamma) : Big(end - k);
    const Big second = end - k - first;
    const Big at_k = exp(-k * noise.epsilon);
    const Big left = (noise.gamma - first) + b * (1 - Big(noise.gamma) - second);
    return {at_k * (b + slope * left), (1 - at_k) + at_k * slope * (first + b * second)};
}

}  // namespace

double ideal_exponential(const IdealWord& from, const IdealCell& cell, double scale,
                         double bound) noexcept {
    const IdealShares share = shares(from);
    if (std::isinf(bound)) return nearest_to(from, cell, -log(share.above) * scale);
    const Big inside = -expm1(-Big(bound) / scale);
    const Big below = share.below * inside;
    return nearest_to(from, cell, -log1p(-below) * scale);
}

// As the kernel, but for the expm1: H is linear between its turns.
double ideal_stepped(const IdealWord& from, const IdealCell& cell,
                     const StaircaseNoise& noise) noexcept {
    const IdealShares share = shares(from);
    const Big b = exp(-Big(noise.epsilon));
    const Big rest = noise.gamma + (1 - Big(noise.gamma)) * b;
    const Big slope = -expm1(-Big(noise.epsilon)) / rest;
    const Parts parts = parts_at(noise, b, slope);
    const Big below = share.below * parts.inside;
    if (below <= noise.gamma * slope) return nearest_to(from, cell, below / slope * noise.period);
    const Big above = parts.after + share.above * parts.inside;
    const Big k = floor(-log(above) / noise.epsilon);
    const Big h = above * exp(k * noise.epsilon);
    const Big y = h * rest >= b ? (1 - h) / slope : 1 - (h / b - 1) / slope;
    return nearest_to(from, cell, (k + y) * noise.period);
}

}  // namespace tightnoise
