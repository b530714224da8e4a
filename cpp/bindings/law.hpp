// What Python sees of a law of additive noise, the same for every law.
//
// A law is symmetric about 0 and has a density. It is an immutable class with
//     double log_density(double x) const;  double distribution(double x) const;
//     double mass(double from, double to) const;  (from <= to, finite)
//     double log_tail(double x) const;  (log P(noise > x), x >= 0)
//     double quantile(double q) const;  double mean_abs() const;  double variance() const;
// and the free function, in namespace tightnoise,
//     double hockey_stick(const Law&, double shift, double epsilon);
// and worst_shift.hpp knows it.
// None of them throws, but for what poll does (interruption.hpp).
#pragma once

#include <cmath>
#include <functional>
#include <utility>

#include "bindings/elementwise.hpp"
#include "bindings/released.hpp"
#include "mechanisms/shift_divergence.hpp"
#include "worst/worst_shift.hpp"

namespace tightnoise {

inline const char* proof_name(Proof proof) {
    return proof == Proof::unimodal ? "unimodal" : "semiconvex";
}

// def_law<Law>(m, "Name", py::init<double, int>(), py::arg("sigma"), py::arg("modes"));
template <class Law, class... Constructor>
py::class_<Law> def_law(py::module_& m, const char* name, Constructor&&... constructor) {
    py::class_<Law> law(m, name);
    law.def(std::forward<Constructor>(constructor)...);
    const auto worst_delta = [](const Law& self, double epsilon, double sensitivity) {
        return worst_shift(self, epsilon, sensitivity).delta;
    };
    // The law is symmetric.
    const auto shifted = [](const Law& self, double shift, double epsilon) {
        return hockey_stick(self, std::fabs(shift), epsilon);
    };
    const auto shift_delta = [](const Law& self, double shift, double epsilon) {
        return cost_of_shift(self, epsilon, std::fabs(shift));
    };
    def_elementwise<Law>(law, "log_pdf", std::mem_fn(&Law::log_density), "x");
    def_elementwise<Law>(law, "cdf", std::mem_fn(&Law::distribution), "x");
    def_elementwise<Law>(law, "mass", std::mem_fn(&Law::mass), "lower", "upper");
    def_elementwise<Law>(law, "log_tail", std::mem_fn(&Law::log_tail), "x");
    def_elementwise<Law>(law, "quantile", std::mem_fn(&Law::quantile), "q");
    def_elementwise<Law>(law, "hockey_stick", shifted, "shift", "epsilon");
    def_elementwise<Law>(law, "shift_delta", shift_delta, "shift", "epsilon");
    def_elementwise<Law>(law, "delta", worst_delta, "epsilon", "sensitivity");
    const auto nogil = py::call_guard<Released>();
    law.def("mean_abs", &Law::mean_abs, nogil);
    law.def("variance", &Law::variance, nogil);
    law.def(
        "worst_shift",
        [](const Law& self, double epsilon, double sensitivity) {
            const WorstShift worst = [&] {
                Released released;
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
            check_lengths(n, epsilon);
            const double* from = epsilon.data();
            double* to = out.mutable_data();
            Released released;
            worst_shift_curve(self, sensitivity, from, n, tolerance, to);
        },
        py::arg("sensitivity"), py::arg("epsilon").noconvert(), py::arg("tolerance"),
        py::arg("out").noconvert());
    return law;
}

}  // namespace tightnoise
