// Boost.Math's modified Bessel function: reads pairs (nu, x) of doubles, writes I_nu(x) of each;
// inf where it overflows.
#include <boost/math/special_functions/bessel.hpp>
#include <cstdio>

int main() {
    using namespace boost::math::policies;
    const policy<promote_double<false>, overflow_error<ignore_error>> quiet;
    for (double pair[2]; std::fread(pair, sizeof pair, 1, stdin) == 1;) {
        const double value = boost::math::cyl_bessel_i(pair[0], pair[1], quiet);
        if (std::fwrite(&value, sizeof value, 1, stdout) != 1) return 1;
    }
    return 0;
}
