#include <pybind11/complex.h>

#include <vector>

#include "bindings/arrays.hpp"
#include "mechanisms/analytic_bound.hpp"
#include "numeric/complex_normal.hpp"

namespace tightnoise {

void bind_analytic_bound(py::module_ m) {
    py::enum_<BoundedGaussian>(m, "BoundedGaussian")
        .value("rectified", BoundedGaussian::rectified)
        .value("truncated", BoundedGaussian::truncated)
        .value("sign", BoundedGaussian::sign)
        .value("quantized", BoundedGaussian::quantized);
    m.def(
        "renyi_analytic_bounds",
        [](BoundedGaussian kind, double half_width, int levels, double shift,
           const Float64Array& alphas, double t0, double t1, double terms, Float64Array rho,
           Float64Array bound) {
            const std::size_t count = length(alphas);
            std::vector<AnalyticBound> out(count);
            {
                py::gil_scoped_release nogil;
                renyi_analytic_bounds(kind, half_width, levels, shift, alphas.data(), count, t0, t1,
                                      terms, out.data());
            }
            for (std::size_t i = 0; i < count; ++i) {
                rho.mutable_data()[i] = out[i].rho;
                bound.mutable_data()[i] = out[i].bound;
            }
        },
        py::arg("kind"), py::arg("half_width"), py::arg("levels"), py::arg("shift"),
        py::arg("alphas"), py::arg("t0"), py::arg("t1"), py::arg("terms"),
        py::arg("rho").noconvert(), py::arg("bound").noconvert());
    m.def(
        "fisher_analytic_bound",
        [](BoundedGaussian kind, double half_width, int levels, double t0, double t1,
           double terms) {
            const AnalyticBound out =
                fisher_analytic_bound(kind, half_width, levels, t0, t1, terms);
            return py::make_tuple(out.rho, out.bound);
        },
        py::arg("kind"), py::arg("half_width"), py::arg("levels"), py::arg("t0"), py::arg("t1"),
        py::arg("terms"));
    m.def("erfcx_right_half_plane", &erfcx_right_half_plane, py::arg("x"));
}

}  // namespace tightnoise
