#include "bindings/elementwise.hpp"
#include "worst/bounded_laplace_loss.hpp"
#include "worst/rectified_loss.hpp"
#include "worst/scale_calibration.hpp"
#include "worst/theorem_loss.hpp"
#include "worst/truncated_loss.hpp"

namespace tightnoise {
namespace {

// The privacy loss by the scale of the noise, or the scale by the loss.
void define(py::module_& m, const char* name, const char* first,
            double (*function)(double, double, double)) {
    def_scalar_and_elementwise(m, name, function, first, "width", "sensitivity");
}

// The loss itself, not rounded up, and its slope: of the worst pair k apart in [0, w].
template <class Family>
void define_loss(py::module_& m, const char* name) {
    m.def(
        name,
        [](const py::array& k, const py::array& w, Float64Array loss, Float64Array slope) {
            const std::size_t n = length(loss);
            const Column distance(k, n), width(w, n);
            double* slopes = length(slope) == n ? slope.mutable_data() : nullptr;
            if (!slopes) throw py::type_error("core: outputs of different lengths");
            double* to = loss.mutable_data();
            for (std::size_t i = 0; i < n; ++i) {
                const LossPoint point = Family::at(distance[i], width[i]);
                to[i] = point.loss;
                slopes[i] = point.slope;
            }
        },
        py::arg("k"), py::arg("w"), py::arg("loss").noconvert(), py::arg("slope").noconvert());
}

}  // namespace

void bind_domain_exact(py::module_& m) {
    define(m, "truncated_epsilon", "sigma", truncated_epsilon_upper);
    define(m, "rectified_epsilon", "sigma", rectified_epsilon_upper);
    define(m, "bounded_laplace_epsilon", "scale", bounded_laplace_epsilon_upper);
    define(m, "truncated_sigma", "epsilon", truncated_sigma_upper);
    define(m, "rectified_sigma", "epsilon", rectified_sigma_upper);
    define(m, "bounded_laplace_scale", "epsilon", bounded_laplace_scale_upper);
    define(m, "truncated_theorem_sigma", "epsilon", truncated_theorem_sigma_upper);
    define_loss<TruncatedLoss>(m, "truncated_loss");
    define_loss<TheoremLoss>(m, "theorem_loss");
    define_loss<RectifiedLoss>(m, "rectified_loss");
    define_loss<BoundedLaplaceLoss>(m, "bounded_laplace_loss");
}

}  // namespace tightnoise
