#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <tuple>
#include <vector>

#include "bindings/sampling.hpp"
#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/noise_preparation.hpp"
#include "mechanisms/sampling_kernels.hpp"

namespace tightnoise {
namespace {

// What gives its noise to a task of a law.
template <class Noise>
auto with(const Noise& noise) {
    return [&noise](auto& task) { task.noise = noise; };
}

// Samples noise that is read in the same form on a grid and without one.
template <class Noise>
void sample(const AdditiveSamplers<Noise>& plain, const AdditiveGridSamplers<Noise>& on_grid,
            const Noise& noise, const Place& place) {
    sample(plain, on_grid, Holds::integers_too, place, with(noise));
}

// Samples steps, by what their samplers have of the law.
void sample_steps(const SteppedNoise& plain, const StaircaseNoise& on_grid, const Place& place) {
    if (place.step) {
        sample(additive_grid_kernels().stepped, place, Holds::integers_too, with(on_grid));
    } else {
        sample(additive_sampling_kernels().stepped, place, Holds::floats, with(plain));
    }
}

// More would ask for tables of gigabytes.
constexpr int kMostModes = 1 << 24;

// Refuses steps of which a mixture's largest sigma or farthest location is too many.
void check_steps(double sigma, double location, const Place& place) {
    if (!place.step) return;
    const double least = std::max(sigma / kMostGridSigma, location / kMostGridLocation);
    const Float64Array& steps = *place.step;
    for (std::size_t i = 0; i < length(steps); ++i) {
        const double step = steps.data()[i];
        if (step >= least) continue;
        std::ostringstream text;
        text << "grid must be at least " << least << ", 2^-24 of the largest sigma and 2^-50 of the"
             << " farthest location; got " << step;
        throw py::value_error(text.str());
    }
}

// What `make` makes of these parameters, of the latest of which it is kept: to make it takes as
// long as thousands of samples.
template <class Make, class... Parameters>
auto& latest(Make make, Parameters... parameters) {
    using Made = decltype(make(parameters...));
    thread_local std::tuple<Parameters...> of;
    thread_local std::optional<Made> made;
    if (!made || of != std::tie(parameters...)) {
        made.reset();
        made.emplace(make(parameters...));
        of = {parameters...};
    }
    return *made;
}

void sample_multi_gaussian(const Place& place, double sigma, double epsilon, double sensitivity,
                           int modes) {
    if (modes < 0 || modes > kMostModes) throw py::value_error("core: modes out of range");
    check_steps(sigma, sensitivity * modes, place);
    const auto make = [](double e, int m) { return LadderComponents(e, m); };
    const LadderComponents& components = latest(make, epsilon, modes);
    sample(additive_sampling_kernels().gaussian_ladder, grid_mixture_kernels().gaussian_ladder,
           components.noise(sigma, sensitivity), place);
}

void sample_quasi_gaussian(const Place& place, double sigma, double epsilon, double sensitivity) {
    check_steps(sigma, sensitivity, place);
    const AliasTable& components = latest(quasi_gaussian_components, sigma, epsilon, sensitivity);
    sample(additive_sampling_kernels().quasi_gaussian, grid_mixture_kernels().quasi_gaussian,
           quasi_gaussian_noise(components, sigma, sensitivity), place);
}

// Every location stands for itself and its mirror image, its weight for both.
void sample_scale_mixture(const Place& place, const Float64Array& locations,
                          const Float64Array& weights, const Float64Array& sigmas) {
    const std::size_t n = length(locations);
    if (n == 0 || n > kMostModes || length(weights) != n || length(sigmas) != n) {
        throw py::value_error("core: locations, weights and sigmas must be as many");
    }
    check_steps(*std::max_element(sigmas.data(), sigmas.data() + n),
                *std::max_element(locations.data(), locations.data() + n), place);
    const MirroredComponents components(locations.data(), weights.data(), sigmas.data(), n);
    sample(additive_sampling_kernels().gaussian_components,
           grid_mixture_kernels().gaussian_components, components.noise(), place);
}

void sample_laplace(const Place& place, double scale) {
    sample(additive_sampling_kernels().exponential, additive_grid_kernels().exponential,
           laplace_noise(scale), place);
}

void sample_truncated_laplace(const Place& place, double scale, double bound) {
    sample(additive_sampling_kernels().exponential, additive_grid_kernels().exponential,
           truncated_laplace_noise(scale, bound), place);
}

// Density proportional to e^(-epsilon k), k the integer nearest to |x| / width, |x| < bound.
void sample_tulap(const Place& place, double width, double epsilon, double bound) {
    sample_steps(tulap_noise(width, epsilon, bound), {width, epsilon, 0.5, bound}, place);
}

// Density falling by e^(-epsilon) at (k + gamma) sensitivity, k = 0, 1, ...
void sample_staircase(const Place& place, double sensitivity, double epsilon, double gamma) {
    sample_steps(staircase_noise(sensitivity, epsilon, gamma),
                 {sensitivity, epsilon, gamma, HUGE_VAL}, place);
}

// The parameters of a law are numbers, of a scale mixture arrays, as their Python class has checked
// them.
template <class... Parameters, class... Names>
void def_law(py::module_& m, const char* name, NoiseLaw law,
             void (*sampler)(const Place&, Parameters...), Names... names) {
    m.def(
        name,
        [law, sampler](const py::array& theta, Parameters... parameters, const py::array& out,
                       NoiseSource& source, const std::optional<Float64Array>& step,
                       const std::optional<Float64Array>& low, std::uint64_t first) {
            sampler({law, &theta, out, source, step, low, first}, parameters...);
        },
        py::arg("theta"), py::arg(names)..., py::arg("out"), py::arg("source"),
        py::arg("step") = py::none(), py::arg("low") = py::none(), py::arg("first") = 0);
}

// What AliasColumns has: (upper and lower halves of threshold, packed, index_bits).
using AliasArrays = std::tuple<py::array_t<std::uint64_t>, py::array_t<std::uint64_t>,
                               py::array_t<std::uint32_t>, int>;
AliasArrays arrays_of(const AliasColumns& columns) {
    const py::ssize_t n = py::ssize_t{1} << columns.index_bits;
    py::array_t<std::uint64_t> high(n), low(n);
    for (py::ssize_t i = 0; i < n; ++i) {
        high.mutable_at(i) = static_cast<std::uint64_t>(columns.threshold[i] >> 64);
        low.mutable_at(i) = static_cast<std::uint64_t>(columns.threshold[i]);
    }
    return {high, low, py::array_t<std::uint32_t>(n, columns.packed), columns.index_bits};
}

}  // namespace

void bind_additive_sampling(py::module_ m) {
    using py::arg;
    def_law(m, "sample_multi_gaussian", NoiseLaw::multi_gaussian, sample_multi_gaussian, "sigma",
            "epsilon", "sensitivity", "modes");
    def_law(m, "sample_quasi_gaussian", NoiseLaw::quasi_gaussian, sample_quasi_gaussian, "sigma",
            "epsilon", "sensitivity");
    def_law(m, "sample_scale_mixture", NoiseLaw::scale_mixture, sample_scale_mixture, "locations",
            "weights", "sigmas");
    def_law(m, "sample_laplace", NoiseLaw::laplace, sample_laplace, "scale");
    def_law(m, "sample_truncated_laplace", NoiseLaw::truncated_laplace, sample_truncated_laplace,
            "scale", "bound");
    def_law(m, "sample_tulap", NoiseLaw::tulap, sample_tulap, "width", "epsilon", "bound");
    def_law(m, "sample_staircase", NoiseLaw::staircase, sample_staircase, "sensitivity", "epsilon",
            "gamma");

    // The tables by which components are chosen.
    m.def(
        "multi_gaussian_table",
        [](double epsilon, int modes) {
            return arrays_of(LadderComponents(epsilon, modes).noise(1.0, 1.0).choice);
        },
        arg("epsilon"), arg("modes"));
    m.def(
        "quasi_gaussian_table",
        [](double sigma, double epsilon, double sensitivity) {
            return arrays_of(quasi_gaussian_components(sigma, epsilon, sensitivity).columns());
        },
        arg("sigma"), arg("epsilon"), arg("sensitivity"));
    m.def(
        "scale_mixture_table",
        [](const Float64Array& weights) {
            if (length(weights) == 0) throw py::value_error("core: weights must not be empty");
            const std::vector<double> ones(length(weights), 1.0);
            const MirroredComponents components(ones.data(), weights.data(), ones.data(),
                                                length(weights));
            return arrays_of(components.noise().choice);
        },
        arg("weights"));
}

}  // namespace tightnoise
