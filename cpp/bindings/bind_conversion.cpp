#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "cost/best_order.hpp"
#include "cost/conversion.hpp"
#include "cost/curve_growth.hpp"

namespace tightnoise {
namespace {

void def_conversion(py::module_& m, const char* name, ConversionFunction function,
                    const char* second, const char* third) {
    m.def(
        name,
        [function](Conversion conversion, const py::array& alpha, const py::array& y,
                   const py::array& z, Float64Array out) {
            const std::size_t n = length(out);
            const Operand orders = operand(alpha, n), from = operand(y, n), at = operand(z, n);
            double* to = out.mutable_data();
            Released nogil;
            convert_array(function, conversion, orders, from, at, to, n);
        },
        py::arg("conversion"), py::arg("alpha"), py::arg(second), py::arg(third),
        py::arg("out").noconvert());
}

std::size_t first_decrease_of(const Float64Array& alphas, const Float64Array& values) {
    check_lengths(length(alphas), values);
    return first_decrease(alphas.data(), values.data(), length(alphas));
}

// A Python function of an array of orders. What it raises passes through the search.
RdpFunction rdp_function(const py::object& function) {
    return [function](const double* alpha, double* rdp, std::size_t n) {
        Float64Array orders(static_cast<py::ssize_t>(n));
        std::copy_n(alpha, n, orders.mutable_data());
        const py::object result = function(orders);
        if (!py::isinstance<Float64Array>(result)) {
            throw py::type_error("core: expected a C-contiguous float64 array");
        }
        const auto values = py::reinterpret_borrow<Float64Array>(result);
        check_lengths(n, values);
        std::copy_n(values.data(), n, rdp);
    };
}

using BestOf = BestOrder (*)(const RdpFunction&, Conversion, double);

void def_best(py::module_& m, const char* name, BestOf best_of, const char* at) {
    m.def(
        name,
        [best_of](const py::object& function, Conversion conversion, double target) {
            return best_of(rdp_function(function), conversion, target);
        },
        py::arg("function"), py::arg("conversion"), py::arg(at));
}

}  // namespace

void bind_conversion(py::module_ m) {
    // Its names are what callers write: the core takes either.
    py::enum_<Conversion>(m, "Conversion")
        .value("classic", Conversion::classic)
        .value("canonne", Conversion::canonne)
        .value("closed_form", Conversion::closed_form)
        .value("optimal", Conversion::optimal);
    def_conversion(m, "epsilon_upper", &epsilon_upper, "rdp", "delta");
    def_conversion(m, "delta_upper", &delta_upper, "rdp", "epsilon");
    def_conversion(m, "rdp_lower", &rdp_lower, "epsilon", "delta");
    m.def("first_decrease", &first_decrease_of, py::arg("alphas"), py::arg("values"));
    m.attr("least_searched_order") = 1.0 + kLeastSearched;
    m.attr("greatest_searched_order") = 1.0 + kGreatestSearched;
    py::class_<BestOrder>(m, "BestOrder")
        .def_readonly("value", &BestOrder::value)
        .def_readonly("alpha", &BestOrder::alpha)
        .def_readonly("at_edge", &BestOrder::at_edge);
    def_best(m, "best_epsilon", &best_epsilon, "delta");
    def_best(m, "best_delta", &best_delta, "epsilon");
}

}  // namespace tightnoise
