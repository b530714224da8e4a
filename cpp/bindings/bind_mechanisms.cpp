#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "mechanisms/divergence_kernels.hpp"
#include "mechanisms/divergence_sums.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 10;
constexpr double kUnused = 0.0;
constexpr Operand kNoOperand = {&kUnused, false, true};

MechanismOperands mechanism_operands(const py::array& theta, const py::array& sigma,
                                     const py::array& lower, const py::array& upper, int levels,
                                     std::size_t n) {
    return {operand(theta, n), operand(sigma, n), operand(lower, n), operand(upper, n), levels};
}

void apply(MechanismKernels::Map kernel, const MechanismOperands& mechanism, const Operand& first,
           const Operand& second, Float64Array& out) {
    double* to = out.mutable_data();
    const std::size_t n = length(out);
    Released nogil;
    parallel_ranges(n, kBlock, [&](std::size_t begin, std::size_t end) {
        kernel(mechanism, first, second, begin, end - begin, to + begin);
    });
}

// A map of up to two arguments, which come before the parameters of the mechanism.
template <class... Arguments>
void def_map(py::class_<MechanismKernels>& functions, const char* name,
             MechanismKernels::Map MechanismKernels::* map, Arguments... arguments) {
    functions.def(
        name,
        [map](const MechanismKernels& kernels, ArrayOf<Arguments>... given, const py::array& theta,
              const py::array& sigma, const py::array& lower, const py::array& upper, int levels,
              Float64Array out) {
            const std::size_t n = length(out);
            const Operand operands[] = {operand(given, n)..., kNoOperand, kNoOperand};
            apply(kernels.*map, mechanism_operands(theta, sigma, lower, upper, levels, n),
                  operands[0], operands[1], out);
        },
        py::arg(arguments)..., py::arg("theta"), py::arg("sigma"), py::arg("lower"),
        py::arg("upper"), py::arg("levels"), py::arg("out").noconvert());
}

}  // namespace

// Every mechanism has the same functions; those that need no bounds or levels ignore them.
void bind_mechanisms(py::module_ m) {
    py::class_<MechanismKernels> functions(m, "MechanismKernels");
    def_map(functions, "renyi", &MechanismKernels::renyi, "shift", "alpha");
    def_map(functions, "hockey_stick", &MechanismKernels::hockey_stick, "shift", "epsilon");
    def_map(functions, "fisher_information", &MechanismKernels::fisher_information);
    def_map(functions, "log_pdf", &MechanismKernels::log_pdf, "x");
    def_map(functions, "cdf", &MechanismKernels::cdf, "x");
    def_map(functions, "log_cdf", &MechanismKernels::log_cdf, "x");
    def_map(functions, "log_sf", &MechanismKernels::log_sf, "x");
    def_map(functions, "quantile", &MechanismKernels::quantile, "q");
    def_map(functions, "upper_quantile", &MechanismKernels::upper_quantile, "q");
    def_map(functions, "mean", &MechanismKernels::mean);
    def_map(functions, "variance", &MechanismKernels::variance);
    functions.def(
        "rdp_sums",
        [](const MechanismKernels& kernels, const Float64Array& alphas, const py::array& c,
           const py::array& theta, const py::array& sigma, const py::array& lower,
           const py::array& upper, int levels, std::size_t n, Float64Array forward,
           Float64Array backward) {
            const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
            const Operand bound = operand(c, n);
            check_lengths(length(alphas), forward, backward);
            double* forward_sums = forward.mutable_data();
            double* backward_sums = backward.mutable_data();
            Released nogil;
            rdp_sums(kernels, mechanism, bound, alphas.data(), length(alphas), n, forward_sums,
                     backward_sums);
        },
        py::arg("alphas"), py::arg("c"), py::arg("theta"), py::arg("sigma"), py::arg("lower"),
        py::arg("upper"), py::arg("levels"), py::arg("n"), py::arg("forward").noconvert(),
        py::arg("backward").noconvert());
    functions.def(
        "fisher_sum",
        [](const MechanismKernels& kernels, const py::array& c, const py::array& theta,
           const py::array& sigma, const py::array& lower, const py::array& upper, int levels,
           std::size_t n) {
            const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
            const Operand bound = operand(c, n);
            Released nogil;
            return fisher_sum(kernels, mechanism, bound, n);
        },
        py::arg("c"), py::arg("theta"), py::arg("sigma"), py::arg("lower"), py::arg("upper"),
        py::arg("levels"), py::arg("n"));

    const DivergenceKernels& all = divergence_kernels();
    m.attr("gaussian") = &all.gaussian;
    m.attr("rectified") = &all.rectified;
    m.attr("truncated") = &all.truncated;
    m.attr("quantized") = &all.quantized;
    m.attr("sign") = &all.sign;
    m.attr("bounded_laplace") = &all.bounded_laplace;
}

}  // namespace tightnoise
