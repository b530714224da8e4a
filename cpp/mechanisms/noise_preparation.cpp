#include "mechanisms/noise_preparation.hpp"

#include <algorithm>
#include <cmath>

#include "mechanisms/component_shares.hpp"
#include "numeric/normal.hpp"

// The functions of numeric/ and not those of the C library, which differ from machine to machine: a
// seed means the same noise on all of them.
namespace tightnoise {
namespace {

// Beyond, a second step is as unlikely as the smallest double is small.
constexpr double kMostSteppedEpsilon = 700.0;

// A law of steps; what depends on start and end is left to the caller.
SteppedNoise steps(double period, double epsilon, double gamma) {
    SteppedNoise noise{};
    noise.period = period;
    noise.epsilon = std::min(epsilon, kMostSteppedEpsilon);
    const double fall = -expm1(-noise.epsilon);  // of H over a period
    const double low = (1.0 - gamma) * fall;
    const double rest = gamma + (1.0 - gamma) * exp(-noise.epsilon);  // 1 - low
    noise.turn = noise.epsilon + (rest < 0.5 ? log(rest) : log1p(-low));
    noise.inverse_fall = rest / fall;
    return noise;
}

// How many modes there are on either side but for those so rare that, all together, they have a
// probability below 2^-254 e^(-2 epsilon): a smaller table is made sooner. Without them, delta at
// an epsilon of e grows by at most (1 + e^e) times that.
int drawn_modes(double epsilon, int modes) {
    const double most = 256.0 * kLog2 / epsilon;
    return most < modes ? static_cast<int>(std::min(most + 2.0, 1.0 * modes)) : modes;
}

}  // namespace

LadderComponents::LadderComponents(double epsilon, int modes)
    : modes_(drawn_modes(epsilon, modes)), choice_(ladder_shares(epsilon, modes_)) {}

AliasTable quasi_gaussian_components(double sigma, double epsilon, double sensitivity) {
    return AliasTable(quasi_gaussian_shares(sigma, epsilon, sensitivity));
}

QuasiGaussianNoise quasi_gaussian_noise(const AliasTable& components, double sigma,
                                        double sensitivity) {
    const double distance = sensitivity / sigma;
    return {components.columns(), sensitivity, sigma, ndtr(distance), ndtr(-distance)};
}

namespace {

std::vector<double> twice(const double* from, std::size_t n, double second_times) {
    std::vector<double> both(from, from + n);
    for (std::size_t i = 0; i < n; ++i) both.push_back(second_times * from[i]);
    return both;
}

}  // namespace

MirroredComponents::MirroredComponents(const double* locations, const double* weights,
                                       const double* sigmas, std::size_t n)
    : choice_(mirrored_shares(weights, n)),
      location_(twice(locations, n, -1.0)),
      sigma_(twice(sigmas, n, 1.0)) {}

ExponentialNoise laplace_noise(double scale) {
    return truncated_laplace_noise(scale, kInfinity);
}

ExponentialNoise truncated_laplace_noise(double scale, double bound) {
    const double most = bound / scale;
    return {scale, bound, -expm1(-most), exp(-most)};
}

SteppedNoise tulap_noise(double width, double epsilon, double bound) {
    SteppedNoise noise = steps(width, epsilon, 1.0);
    noise.start = 0.5;
    noise.bound = bound;
    // In multiples of the fall of H over its first period, so that no two close numbers are
    // subtracted: half a step first, whole ones up to y = k, part of the last.
    const double fall = -expm1(-noise.epsilon);
    const double end = bound / width + 0.5;
    const double k = std::max(std::floor(end), 1.0);
    const double at_k = exp(-k * noise.epsilon);
    const double whole = exp(-noise.epsilon) * -expm1(-(k - 1.0) * noise.epsilon);
    const double part = end < kInfinity ? at_k * fall * (end - k) : 0.0;
    noise.before_start = 0.5 * fall;
    noise.inside = end < 1.0 ? fall * (end - 0.5) : 0.5 * fall + whole + part;
    noise.after_end = end < 1.0 ? 1.0 - fall * end : at_k - part;
    return noise;
}

SteppedNoise staircase_noise(double sensitivity, double epsilon, double gamma) {
    SteppedNoise noise = steps(sensitivity, epsilon, gamma);
    noise.bound = kInfinity;
    noise.inside = 1.0;
    return noise;
}

}  // namespace tightnoise
