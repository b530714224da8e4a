#include "numeric/binomial.hpp"

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace tightnoise {

std::pair<double, double> binomial_bounds(double successes, double trials, double alpha) {
    namespace policies = boost::math::policies;
    using Quiet = policies::policy<policies::promote_double<false>,
                                   policies::overflow_error<policies::ignore_error>,
                                   policies::evaluation_error<policies::ignore_error>>;
    const double k = successes, n = trials;
    const double lower = k > 0 ? boost::math::ibeta_inv(k, n - k + 1, alpha, Quiet()) : 0.0;
    const double upper = k < n ? boost::math::ibetac_inv(k + 1, n - k, alpha, Quiet()) : 1.0;
    return {lower, upper};
}

}  // namespace tightnoise
