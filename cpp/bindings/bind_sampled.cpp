#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/elementwise.hpp"
#include "bindings/released.hpp"
#include "cost/rdp_sum.hpp"
#include "cost/sampled_gaussian.hpp"
#include "cost/sampled_vmf.hpp"
#include "cost/subsampling.hpp"

namespace tightnoise {
namespace {

void def_sum(py::module_& m, const char* name, RdpOf<SampledGaussian> evaluate) {
    m.def(
        name,
        [evaluate](const Float64Array& noise_multipliers, const Float64Array& sampling_rates,
                   const Float64Array& counts, const Float64Array& alphas, Float64Array out) {
            const std::size_t terms = length(counts), n = length(alphas);
            check_lengths(terms, noise_multipliers, sampling_rates);
            check_lengths(n, out);
            std::vector<RdpTerm<SampledGaussian>> sum;
            for (std::size_t i = 0; i < terms; ++i) {
                sum.push_back(
                    {{noise_multipliers.data()[i], sampling_rates.data()[i]}, counts.data()[i]});
            }
            double* rdp = out.mutable_data();
            Released nogil;
            sum_rdp(evaluate, sum, alphas.data(), rdp, n);
        },
        py::arg("noise_multipliers"), py::arg("sampling_rates"), py::arg("counts"),
        py::arg("alphas"), py::arg("out").noconvert());
}

using Subsampling = void (*)(const SampledMechanism&, double, const double*, const double*,
                             std::size_t, double*);

void def_subsampling(py::module_& m, const char* name, Subsampling subsample) {
    m.def(
        name,
        [subsample](const Float64Array& integer_rdp, double max_divergence, double rate,
                    const Float64Array& alphas, const Float64Array& rdp, Float64Array out) {
            const std::size_t n = length(out);
            check_lengths(n, alphas, rdp);
            const SampledMechanism mechanism{integer_rdp.data(), length(integer_rdp),
                                             max_divergence};
            const double* orders = alphas.data();
            const double* costs = rdp.data();
            double* result = out.mutable_data();
            Released nogil;
            subsample(mechanism, rate, orders, costs, n, result);
        },
        py::arg("integer_rdp").noconvert(), py::arg("max_divergence"), py::arg("rate"),
        py::arg("alphas").noconvert(), py::arg("rdp").noconvert(), py::arg("out").noconvert());
}

}  // namespace

void bind_sampled(py::module_ m) {
    def_sum(m, "sampled_gaussian_rdp", sampled_gaussian_rdp);
    def_sum(m, "fixed_size_gaussian_rdp", fixed_size_gaussian_rdp);
    m.def(
        "sampled_vmf_rdp",
        [](const Float64Array& kappas, const Float64Array& dims, const Float64Array& half_chords,
           const Float64Array& sampling_rates, const Float64Array& fixed_sizes,
           const Float64Array& counts, const Float64Array& alphas, Float64Array out) {
            const std::size_t terms = length(counts), n = length(alphas);
            check_lengths(terms, kappas, dims, half_chords, sampling_rates, fixed_sizes);
            check_lengths(n, out);
            std::vector<RdpTerm<SampledVmf>> sum;
            for (std::size_t i = 0; i < terms; ++i) {
                sum.push_back({{kappas.data()[i], dims.data()[i], half_chords.data()[i],
                                sampling_rates.data()[i], fixed_sizes.data()[i] != 0.0},
                               counts.data()[i]});
            }
            double* rdp = out.mutable_data();
            Released nogil;
            sum_rdp(sampled_vmf_rdp, sum, alphas.data(), rdp, n);
        },
        py::arg("kappas"), py::arg("dims"), py::arg("half_chords"), py::arg("sampling_rates"),
        py::arg("fixed_sizes"), py::arg("counts"), py::arg("alphas"), py::arg("out").noconvert());
    m.def(
        "sampled_vmf_max_divergence",
        [](double kappa, double dim, double half_chord, double sampling_rate) {
            return sampled_vmf_max_divergence({kappa, dim, half_chord, sampling_rate, false});
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_chord"), py::arg("sampling_rate"));
    m.attr("LARGEST_SUMMED_ORDER") = kLargestSummedOrder;
    def_subsampling(m, "poisson_subsampled_rdp", poisson_subsampled_rdp);
    def_subsampling(m, "sampled_without_replacement_rdp", sampled_without_replacement_rdp);
    def_elementwise(m, "amplified_epsilon_upper", amplified_epsilon_upper, "rate", "epsilon");
}

}  // namespace tightnoise
