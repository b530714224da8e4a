#include <memory>
#include <string>
#include <vector>

#include "bindings/elementwise.hpp"
#include "bindings/released.hpp"
#include "worst/bounded_laplace_loss.hpp"
#include "worst/bounded_laplace_profile.hpp"
#include "worst/box_loss.hpp"
#include "worst/rectified_loss.hpp"
#include "worst/rectified_profile.hpp"
#include "worst/scale_calibration.hpp"
#include "worst/theorem_loss.hpp"
#include "worst/truncated_loss.hpp"
#include "worst/truncated_profile.hpp"

namespace tightnoise {
namespace {

// The loss itself, not rounded up, and its slope: of the worst pair k apart in [0, w].
template <class Family>
void define_loss(py::module_& m, const char* name) {
    m.def(
        name,
        [](const py::array& k, const py::array& w, Float64Array loss, Float64Array slope) {
            const std::size_t n = length(loss);
            const Column distance(k, n), width(w, n);
            check_lengths(n, slope);
            double *to = loss.mutable_data(), *slopes = slope.mutable_data();
            for (std::size_t i = 0; i < n; ++i) {
                const LossPoint point = Family::at(distance[i], width[i]);
                to[i] = point.loss;
                slopes[i] = point.slope;
            }
        },
        py::arg("k"), py::arg("w"), py::arg("loss").noconvert(), py::arg("slope").noconvert());
}

BoundedNoise noise_named(const std::string& name) {
    if (name == "truncated") return BoundedNoise::truncated;
    if (name == "rectified") return BoundedNoise::rectified;
    if (name == "bounded_laplace") return BoundedNoise::bounded_laplace;
    if (name == "truncated_theorem") return BoundedNoise::truncated_theorem;
    throw py::value_error("core: unknown noise " + name);
}

// out[i] = function(loss, from[i]). A large box has threads of its own; of a small one every thread
// takes some elements.
template <class Make>
void fill_losses(double (*function)(BoxLoss&, double), Make make, std::size_t dim,
                 const py::array& from, Float64Array& out) {
    constexpr std::size_t kManyCoordinates = 4096, kElements = 64;
    const std::size_t n = length(out);
    const Column values(from, n);
    double* to = out.mutable_data();
    Released nogil;
    const std::size_t together = dim < kManyCoordinates ? kElements : std::max(n, kElements);
    std::vector<std::unique_ptr<BoxLoss>> losses((n + together - 1) / together);
    for (auto& loss : losses) loss = make();
    const auto run = [&](std::size_t block) {
        const std::size_t end = std::min(n, (block + 1) * together);
        for (std::size_t i = block * together; i < end; ++i) {
            to[i] = function(*losses[block], values[i]);
        }
    };
    if (losses.size() == 1) {
        run(0);
    } else {
        parallel_blocks(losses.size(), [&](std::size_t block) { run(block); });
    }
}

// A number bounds the L2 norm of a change, an array its coordinates.
double sensitivity_in(double sensitivity, std::size_t) {
    return sensitivity;
}
Operand sensitivity_in(const py::array& sensitivity, std::size_t dim) {
    return float64_operand(sensitivity, dim);
}

template <class Sensitivity, class Make>
void def_box(py::module_& m, const char* name, const char* from,
             double (*function)(BoxLoss&, double), Make make) {
    m.def(
        name,
        [function, make](const std::string& noise, const Float64Array& width,
                         Sensitivity sensitivity, const py::array& from_values, Float64Array out) {
            const BoundedNoise which = noise_named(noise);
            const double* widths = width.data();
            const std::size_t dim = length(width);
            const auto bound = sensitivity_in(sensitivity, dim);
            fill_losses(
                function, [=] { return make(which, widths, bound, dim); }, dim, from_values, out);
        },
        py::arg("noise"), py::arg("width").noconvert(), py::arg("sensitivity"), py::arg(from),
        py::arg("out").noconvert());
}

}  // namespace

void bind_domain(py::module_ m) {
    const auto define = [&m](const char* name, auto function, auto... names) {
        def_scalar_and_elementwise(m, name, function, names...);
    };
    define("truncated_epsilon", truncated_epsilon_upper, "sigma", "width", "sensitivity");
    define("rectified_epsilon", rectified_epsilon_upper, "sigma", "width", "sensitivity");
    define("bounded_laplace_epsilon", bounded_laplace_epsilon_upper, "scale", "width",
           "sensitivity");
    define("truncated_sigma", truncated_sigma_upper, "epsilon", "width", "sensitivity");
    define("rectified_sigma", rectified_sigma_upper, "epsilon", "width", "sensitivity");
    define("bounded_laplace_scale", bounded_laplace_scale_upper, "epsilon", "width", "sensitivity");
    define("truncated_theorem_sigma", truncated_theorem_sigma_upper, "epsilon", "width",
           "sensitivity");
    define_loss<TruncatedLoss>(m, "truncated_loss");
    define_loss<TheoremLoss>(m, "theorem_loss");
    define_loss<RectifiedLoss>(m, "rectified_loss");
    define_loss<BoundedLaplaceLoss>(m, "bounded_laplace_loss");
    define("truncated_worst_delta", truncated_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define("rectified_worst_delta", rectified_worst_delta, "sigma", "width", "sensitivity",
           "epsilon");
    define("bounded_laplace_worst_delta", bounded_laplace_worst_delta, "scale", "width",
           "sensitivity", "epsilon");
    define("truncated_epsilon_at", truncated_epsilon_at, "sigma", "width", "sensitivity", "delta");
    define("rectified_epsilon_at", rectified_epsilon_at, "sigma", "width", "sensitivity", "delta");
    define("bounded_laplace_epsilon_at", bounded_laplace_epsilon_at, "scale", "width",
           "sensitivity", "delta");
    define("truncated_sigma_at", truncated_sigma_at, "epsilon", "delta", "width", "sensitivity");
    define("rectified_sigma_at", rectified_sigma_at, "epsilon", "delta", "width", "sensitivity");
    def_box<double>(m, "ball_epsilon", "scale", epsilon_of_scale, ball_loss);
    def_box<double>(m, "ball_scale", "epsilon", scale_of_epsilon, ball_loss);
    def_box<const py::array&>(m, "corner_epsilon", "scale", epsilon_of_scale, corner_loss);
    def_box<const py::array&>(m, "corner_scale", "epsilon", scale_of_epsilon, corner_loss);
}

}  // namespace tightnoise
