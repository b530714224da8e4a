#include <vector>

#include "bindings/arrays.hpp"
#include "cost/fixed_size_gaussian.hpp"

namespace tightnoise {
namespace {

template <class Sum>
void def_sum(py::module_& m, const char* name) {
    m.def(
        name,
        [](const Float64Array& noise_multipliers, const Float64Array& sampling_rates,
           const Float64Array& counts, const Float64Array& alphas, Float64Array out) {
            const std::size_t terms = length(counts), n = length(alphas);
            if (length(noise_multipliers) != terms || length(sampling_rates) != terms ||
                length(out) != n) {
                throw py::type_error("core: arrays of the wrong length");
            }
            std::vector<typename Sum::Term> sum;
            for (std::size_t i = 0; i < terms; ++i) {
                sum.push_back(
                    {{noise_multipliers.data()[i], sampling_rates.data()[i]}, counts.data()[i]});
            }
            double* rdp = out.mutable_data();
            py::gil_scoped_release nogil;
            Sum(std::move(sum))(alphas.data(), rdp, n);
        },
        py::arg("noise_multipliers"), py::arg("sampling_rates"), py::arg("counts"),
        py::arg("alphas"), py::arg("out").noconvert());
}

}  // namespace

void bind_sampled_gaussian(py::module_& m) {
    def_sum<SampledGaussianSum>(m, "sampled_gaussian_rdp");
    def_sum<FixedSizeGaussianSum>(m, "fixed_size_gaussian_rdp");
}

}  // namespace tightnoise
