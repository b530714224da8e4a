#include <memory>
#include <string>
#include <vector>

#include "bindings/elementwise.hpp"
#include "worst/box_loss.hpp"

namespace tightnoise {
namespace {

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
    py::gil_scoped_release nogil;
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

void bind_domain_box(py::module_& m) {
    def_box<double>(m, "ball_epsilon", "scale", epsilon_of_scale, ball_loss);
    def_box<double>(m, "ball_scale", "epsilon", scale_of_epsilon, ball_loss);
    def_box<const py::array&>(m, "corner_epsilon", "scale", epsilon_of_scale, corner_loss);
    def_box<const py::array&>(m, "corner_scale", "epsilon", scale_of_epsilon, corner_loss);
}

}  // namespace tightnoise
