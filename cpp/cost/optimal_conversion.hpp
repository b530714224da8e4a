// The optimal conversion of one Renyi-DP guarantee, where it has no closed form.
#pragma once

namespace tightnoise {

// For answers with alpha delta < 1; the card is that of cost/conversion.hpp. A search that
// did not end returns the trivial answer: infinity, 1, 0.
double optimal_epsilon_upper(double alpha, double rdp, double delta);
double optimal_delta_upper(double alpha, double rdp, double epsilon, double guess);
double optimal_rdp_lower(double alpha, double epsilon, double delta);

}  // namespace tightnoise
