// What Python sees of a law of additive noise, the same for every law.
//
// A law is symmetric about 0 and has a density. It is an immutable class with
//     double log_density(double x) const;  double distribution(double x) const;
//     double mass(double from, double to) const;  (from <= to, finite)
//     double quantile(double q) const;  double mean_abs() const;  double variance() const;
// and the free functions, in namespace tightnoise,
//     double hockey_stick(const Law&, double shift, double epsilon);
//     WorstShift worst_shift(const Law&, double epsilon, double sensitivity);
//     double epsilon_at(const Law&, double delta, double sensitivity);
//     void worst_shift_curve(const Law&, double sensitivity, const double* epsilon, std::size_t n,
//                            double tolerance, double* out);      (worst_shift.hpp has one for all)
// None of them throws, but for what poll does (interruption.hpp).
#pragma once

#include <cmath>
#include <utility>

#include "additive/shift_divergence.hpp"
#include "additive/worst_shift.hpp"
#include "bindings/elementwise.hpp"

namespace tightnoise {

inline const char* proof_name(Proof proof) {
    return proof == Proof::unimodal ? "unimodal" : "semiconvex";
}

// def_law<Law>(m, "Name", py::init<double, int>(), py::arg("sigma"), py::arg("modes"));
template <class Law, class... Constructor>
py::class_<Law> def_law(py::module_& m, const char* name, Constructor&&... constructor) {
    py::class_<Law> law(m, name);
    law.def(std::forward<Constructor>(constructor)...);
    const auto map = [&law](const char* method, const char* argument, auto function) {
        law.def(
            method,
            [function](const Law& self, const py::array& x, Float64Array out) {
                const Column at(x, length(out));
                fill(out, [&](std::size_t i) { return function(self, at[i]); });
            },
            py::arg(argument), py::arg("out").noconvert());
    };
    const auto map2 = [&law](const char* method, const char* first, const char* second,
                             auto function) {
        law.def(
            method,
            [function](const Law& self, const py::array& x, const py::array& y, Float64Array out) {
                const Column at_x(x, length(out)), at_y(y, length(out));
                fill(out, [&](std::size_t i) { return function(self, at_x[i], at_y[i]); });
            },
            py::arg(first), py::arg(second), py::arg("out").noconvert());
    };
    map("log_pdf", "x", [](const Law& self, double x) { return self.log_density(x); });
    map("cdf", "x", [](const Law& self, double x) { return self.distribution(x); });
    map2("mass", "lower", "upper",
         [](const Law& self, double lower, double upper) { return self.mass(lower, upper); });
    map("quantile", "q", [](const Law& self, double q) { return self.quantile(q); });
    map2("hockey_stick", "shift", "epsilon", [](const Law& self, double shift, double epsilon) {
        return hockey_stick(self, std::fabs(shift), epsilon);  // the law is symmetric
    });
    map2("delta", "epsilon", "sensitivity",
         [](const Law& self, double epsilon, double sensitivity) {
             return worst_shift(self, epsilon, sensitivity).delta;
         });
    const auto nogil = py::call_guard<py::gil_scoped_release>();
    law.def("mean_abs", &Law::mean_abs, nogil);
    law.def("variance", &Law::variance, nogil);
    law.def(
        "worst_shift",
        [](const Law& self, double epsilon, double sensitivity) {
            const WorstShift worst = [&] {
                py::gil_scoped_release released;
                return worst_shift(self, epsilon, sensitivity);
            }();
            return py::make_tuple(worst.delta, worst.shift, proof_name(worst.proof));
        },
        py::arg("epsilon"), py::arg("sensitivity"));
    law.def(
        "epsilon_at",
        [](const Law& self, double delta, double sensitivity) {
            return epsilon_at(self, delta, sensitivity);
        },
        nogil, py::arg("delta"), py::arg("sensitivity"));
    law.def(
        "worst_shift_curve",
        [](const Law& self, double sensitivity, const Float64Array& epsilon, double tolerance,
           Float64Array out) {
            const std::size_t n = length(out);
            if (length(epsilon) != n) throw py::type_error("core: operand of the wrong length");
            const double* from = epsilon.data();
            double* to = out.mutable_data();
            py::gil_scoped_release released;
            worst_shift_curve(self, sensitivity, from, n, tolerance, to);
        },
        py::arg("sensitivity"), py::arg("epsilon").noconvert(), py::arg("tolerance"),
        py::arg("out").noconvert());
    return law;
}

}  // namespace tightnoise
