#include "additive/laplace_law.hpp"
#include "additive/laplace_renyi.hpp"
#include "additive/staircase_law.hpp"
#include "bindings/law.hpp"

namespace tightnoise {

void bind_pieces(py::module_& m) {
    def_law<LaplaceLaw>(m, "Laplace", py::init<double, double>(), py::arg("scale"),
                        py::arg("bound"));
    def_law<StaircaseLaw>(m, "Staircase", py::init<double, double, double, double>(),
                          py::arg("epsilon"), py::arg("step"), py::arg("gamma"), py::arg("bound"));
    m.def(
        "laplace_renyi",
        [](const py::array& ratio, const py::array& alpha, Float64Array out) {
            const Column t(ratio, length(out)), a(alpha, length(out));
            fill(out, [&](std::size_t i) { return laplace_renyi(t[i], a[i]); });
        },
        py::arg("ratio"), py::arg("alpha"), py::arg("out").noconvert());
}

}  // namespace tightnoise
