#include "mechanisms/ideal_mixture.hpp"

#include "random/big_normal.hpp"

namespace tightnoise {
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

}  // namespace tightnoise
