#include "bindings/elementwise.hpp"
#include "cost/subsampling.hpp"

namespace tightnoise {
namespace {

using Subsampling = void (*)(const SampledMechanism&, double, const double*, const double*,
                             std::size_t, double*);

void def_subsampling(py::module_& m, const char* name, Subsampling subsample) {
    m.def(
        name,
        [subsample](const Float64Array& integer_rdp, double max_divergence, double rate,
                    const Float64Array& alphas, const Float64Array& rdp, Float64Array out) {
            const std::size_t n = length(out);
            if (length(alphas) != n || length(rdp) != n) {
                throw py::type_error("core: arrays of different lengths");
            }
            const SampledMechanism mechanism{integer_rdp.data(), length(integer_rdp),
                                             max_divergence};
            const double* orders = alphas.data();
            const double* costs = rdp.data();
            double* result = out.mutable_data();
            py::gil_scoped_release nogil;
            subsample(mechanism, rate, orders, costs, n, result);
        },
        py::arg("integer_rdp").noconvert(), py::arg("max_divergence"), py::arg("rate"),
        py::arg("alphas").noconvert(), py::arg("rdp").noconvert(), py::arg("out").noconvert());
}

}  // namespace

void bind_subsampling(py::module_& m) {
    m.attr("LARGEST_SUMMED_ORDER") = kLargestSummedOrder;
    def_subsampling(m, "poisson_subsampled_rdp", poisson_subsampled_rdp);
    def_subsampling(m, "sampled_without_replacement_rdp", sampled_without_replacement_rdp);
    def_elementwise(m, "amplified_epsilon_upper", amplified_epsilon_upper, "rate", "epsilon");
}

}  // namespace tightnoise
