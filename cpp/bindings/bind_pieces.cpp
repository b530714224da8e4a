#include "bindings/law.hpp"
#include "mechanisms/laplace_law.hpp"
#include "mechanisms/laplace_renyi.hpp"
#include "mechanisms/staircase_law.hpp"

namespace tightnoise {

void bind_pieces(py::module_& m) {
    def_law<LaplaceLaw>(m, "Laplace", py::init<double, double>(), py::arg("scale"),
                        py::arg("bound"));
    def_law<StaircaseLaw>(m, "Staircase", py::init<double, double, double, double>(),
                          py::arg("epsilon"), py::arg("step"), py::arg("gamma"), py::arg("bound"));
    def_elementwise(m, "laplace_renyi", laplace_renyi, "ratio", "alpha");
}

}  // namespace tightnoise
