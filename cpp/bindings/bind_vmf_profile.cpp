#include "bindings/arrays.hpp"
#include "mechanisms/vmf_profile.hpp"

namespace tightnoise {
namespace {

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
            py::gil_scoped_release nogil;
            function(kappa, dim, chords, points, n, to);
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_chord"), py::arg(at),
        py::arg("out").noconvert());
}

}  // namespace

void bind_vmf_profile(py::module_& m) {
    def_profile(m, "hockey_stick", "epsilon", vmf_delta_upper);
    def_profile(m, "epsilon", "delta", vmf_epsilon_upper);
}

}  // namespace tightnoise
