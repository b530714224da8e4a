#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/elementwise.hpp"
#include "bindings/released.hpp"
#include "mechanisms/vmf_divergence_kernels.hpp"
#include "mechanisms/vmf_profile.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kSerialBelow = 10000;
constexpr std::size_t kBlock = 4096;

void renyi_divergence(const py::array& nu, const py::array& kappa, const py::array& half_chord,
                      const py::array& half_cosine, const py::array& alpha, Float64Array out) {
    const std::size_t n = length(out);
    const VmfRenyiTask task{operand(nu, n),          operand(kappa, n), operand(half_chord, n),
                            operand(half_cosine, n), operand(alpha, n), out.mutable_data()};
    const std::size_t block = n < kSerialBelow ? kSerialBelow : kBlock;
    Released nogil;
    parallel_ranges(n, block, [&](std::size_t begin, std::size_t end) {
        vmf_divergence_kernels().renyi(task, begin, end - begin);
    });
}

void renyi_sum(const Float64Array& nu, const Float64Array& kappa, const Float64Array& half_chord,
               const Float64Array& half_cosine, const Float64Array& counts,
               const Float64Array& alphas, Float64Array out) {
    const std::size_t functions = length(counts);
    const std::size_t n = length(out);
    const Column order(nu, functions);
    const Column concentration(kappa, functions);
    const Column chord(half_chord, functions);
    const Column cosine(half_cosine, functions);
    const Column count(counts, functions);
    check_lengths(n, alphas);
    const double* alpha = alphas.data();
    double* total = out.mutable_data();
    Released nogil;
    std::fill(total, total + n, 0.0);
    for (std::size_t i = 0; i < functions; ++i) {
        poll();
        vmf_divergence_kernels().add_renyi(order[i], concentration[i], chord[i], cosine[i],
                                           count[i], alpha, total, n);
    }
}

using OfPair = void (*)(double, double, const Operand&, const Operand&, std::size_t, double*);

void def_profile(py::module_& m, const char* name, const char* at, OfPair function) {
    m.def(
        name,
        [function](double kappa, double dim, const py::array& half_chord, const py::array& x,
                   Float64Array out) {
            const std::size_t n = length(out);
            const Operand chords = float64_operand(half_chord, n);
            const Operand points = float64_operand(x, n);
            double* to = out.mutable_data();
            Released nogil;
            function(kappa, dim, chords, points, n, to);
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_chord"), py::arg(at),
        py::arg("out").noconvert());
}

}  // namespace

void bind_von_mises_fisher(py::module_ m) {
    using py::arg;
    m.def("renyi_divergence", renyi_divergence, arg("nu"), arg("kappa"), arg("half_chord"),
          arg("half_cosine"), arg("alpha"), arg("out"));
    // out[j] = sum over i of counts[i] D_alphas[j] of pair i.
    m.def("renyi_sum", renyi_sum, arg("nu"), arg("kappa"), arg("half_chord"), arg("half_cosine"),
          arg("counts"), arg("alphas"), arg("out"));
    def_profile(m, "hockey_stick", "epsilon", vmf_delta_upper);
    def_profile(m, "epsilon", "delta", vmf_epsilon_upper);
}

}  // namespace tightnoise
