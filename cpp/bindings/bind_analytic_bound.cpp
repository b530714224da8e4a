#include <pybind11/complex.h>

#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "numeric/complex_normal.hpp"
#include "sketch/analytic_bound.hpp"

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
           const Float64Array& alphas, const Float64Array& t0, const Float64Array& t1, double terms,
           const Float64Array& enough, Float64Array rho, Float64Array bound) {
            const RenyiQuestion question = {kind,          half_width,     levels,       shift,
                                            alphas.data(), length(alphas), t0.data(),    t1.data(),
                                            length(t0),    terms,          enough.data()};
            const std::size_t count = question.orders * question.intervals;
            check_lengths(question.intervals, t1);
            check_lengths(question.orders, enough);
            check_lengths(count, rho, bound);
            std::vector<AnalyticBound> out(count);
            {
                Released nogil;
                renyi_analytic_bounds(question, out.data());
            }
            for (std::size_t i = 0; i < count; ++i) {
                rho.mutable_data()[i] = out[i].rho;
                bound.mutable_data()[i] = out[i].bound;
            }
        },
        py::arg("kind"), py::arg("half_width"), py::arg("levels"), py::arg("shift"),
        py::arg("alphas"), py::arg("t0"), py::arg("t1"), py::arg("terms"), py::arg("enough"),
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
