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
    def_elementwise(m, "laplace_renyi", laplace_renyi, "ratio", "alpha");
}

}  // namespace tightnoise
