#include <vector>

#include "bindings/arrays.hpp"
#include "cost/sampled_vmf.hpp"

namespace tightnoise {

void bind_sampled_vmf(py::module_& m) {
    m.def(
        "sampled_vmf_rdp",
        [](const Float64Array& kappas, const Float64Array& dims, const Float64Array& half_chords,
           const Float64Array& sampling_rates, const Float64Array& fixed_sizes,
           const Float64Array& counts, const Float64Array& alphas, Float64Array out) {
            const std::size_t terms = length(counts), n = length(alphas);
            for (const Float64Array* column :
                 {&kappas, &dims, &half_chords, &sampling_rates, &fixed_sizes}) {
                if (length(*column) != terms) throw py::type_error("core: array of wrong length");
            }
            if (length(out) != n) throw py::type_error("core: array of wrong length");
            std::vector<SampledVmfSum::Term> sum;
            for (std::size_t i = 0; i < terms; ++i) {
                sum.push_back({{kappas.data()[i], dims.data()[i], half_chords.data()[i],
                                sampling_rates.data()[i], fixed_sizes.data()[i] != 0.0},
                               counts.data()[i]});
            }
            double* rdp = out.mutable_data();
            py::gil_scoped_release nogil;
            SampledVmfSum(std::move(sum))(alphas.data(), rdp, n);
        },
        py::arg("kappas"), py::arg("dims"), py::arg("half_chords"), py::arg("sampling_rates"),
        py::arg("fixed_sizes"), py::arg("counts"), py::arg("alphas"), py::arg("out").noconvert());
    m.def(
        "sampled_vmf_max_divergence",
        [](double kappa, double dim, double half_chord, double sampling_rate) {
            return sampled_vmf_max_divergence({kappa, dim, half_chord, sampling_rate, false});
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_chord"), py::arg("sampling_rate"));
}

}  // namespace tightnoise
