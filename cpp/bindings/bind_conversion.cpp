#include "bindings/arrays.hpp"
#include "cost/conversion.hpp"

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
            py::gil_scoped_release nogil;
            convert_array(function, conversion, orders, from, at, to, n);
        },
        py::arg("conversion"), py::arg("alpha"), py::arg(second), py::arg(third),
        py::arg("out").noconvert());
}

}  // namespace

void bind_conversion(py::module_& m) {
    // Its names are what callers write: the core takes either.
    py::enum_<Conversion>(m, "Conversion")
        .value("classic", Conversion::classic)
        .value("canonne", Conversion::canonne)
        .value("closed_form", Conversion::closed_form)
        .value("optimal", Conversion::optimal);
    def_conversion(m, "epsilon_upper", &epsilon_upper, "rdp", "delta");
    def_conversion(m, "delta_upper", &delta_upper, "rdp", "epsilon");
    def_conversion(m, "rdp_lower", &rdp_lower, "epsilon", "delta");
}

}  // namespace tightnoise
