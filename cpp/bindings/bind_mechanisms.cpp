#include "bindings/arrays.hpp"
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
    py::gil_scoped_release nogil;
    parallel_blocks((n + kBlock - 1) / kBlock, [&](std::size_t block) {
        const std::size_t begin = block * kBlock;
        kernel(mechanism, first, second, begin, n - begin < kBlock ? n - begin : kBlock,
               to + begin);
    });
}

// Every mechanism has the same functions; those that need no bounds or levels ignore them.
void bind_mechanism(py::module_ m, const MechanismKernels& kernels) {
    const auto def0 = [&m](const char* name, MechanismKernels::Map kernel) {
        m.def(
            name,
            [kernel](const py::array& theta, const py::array& sigma, const py::array& lower,
                     const py::array& upper, int levels, Float64Array out) {
                const auto mechanism =
                    mechanism_operands(theta, sigma, lower, upper, levels, length(out));
                apply(kernel, mechanism, kNoOperand, kNoOperand, out);
            },
            py::arg("theta"), py::arg("sigma"), py::arg("lower"), py::arg("upper"),
            py::arg("levels"), py::arg("out").noconvert());
    };
    const auto def1 = [&m](const char* name, MechanismKernels::Map kernel, const char* argument) {
        m.def(
            name,
            [kernel](const py::array& first, const py::array& theta, const py::array& sigma,
                     const py::array& lower, const py::array& upper, int levels, Float64Array out) {
                const std::size_t n = length(out);
                const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
                apply(kernel, mechanism, operand(first, n), kNoOperand, out);
            },
            py::arg(argument), py::arg("theta"), py::arg("sigma"), py::arg("lower"),
            py::arg("upper"), py::arg("levels"), py::arg("out").noconvert());
    };
    const auto def2 = [&m](const char* name, MechanismKernels::Map kernel, const char* argument) {
        m.def(
            name,
            [kernel](const py::array& shift, const py::array& second, const py::array& theta,
                     const py::array& sigma, const py::array& lower, const py::array& upper,
                     int levels, Float64Array out) {
                const std::size_t n = length(out);
                const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
                apply(kernel, mechanism, operand(shift, n), operand(second, n), out);
            },
            py::arg("shift"), py::arg(argument), py::arg("theta"), py::arg("sigma"),
            py::arg("lower"), py::arg("upper"), py::arg("levels"), py::arg("out").noconvert());
    };
    def2("renyi", kernels.renyi, "alpha");
    def2("hockey_stick", kernels.hockey_stick, "epsilon");
    def0("fisher_information", kernels.fisher_information);
    def1("log_pdf", kernels.log_pdf, "x");
    def1("cdf", kernels.cdf, "x");
    def1("quantile", kernels.quantile, "q");
    def0("mean", kernels.mean);
    def0("variance", kernels.variance);
    m.def(
        "rdp_sums",
        [&kernels](const Float64Array& alphas, const py::array& c, const py::array& theta,
                   const py::array& sigma, const py::array& lower, const py::array& upper,
                   int levels, std::size_t n, Float64Array forward, Float64Array backward) {
            const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
            const Operand bound = operand(c, n);
            if (length(forward) != length(alphas) || length(backward) != length(alphas)) {
                throw py::type_error("core: one sum an order");
            }
            double* forward_sums = forward.mutable_data();
            double* backward_sums = backward.mutable_data();
            py::gil_scoped_release nogil;
            rdp_sums(kernels, mechanism, bound, alphas.data(), length(alphas), n, forward_sums,
                     backward_sums);
        },
        py::arg("alphas"), py::arg("c"), py::arg("theta"), py::arg("sigma"), py::arg("lower"),
        py::arg("upper"), py::arg("levels"), py::arg("n"), py::arg("forward").noconvert(),
        py::arg("backward").noconvert());
    m.def(
        "fisher_sum",
        [&kernels](const py::array& c, const py::array& theta, const py::array& sigma,
                   const py::array& lower, const py::array& upper, int levels, std::size_t n) {
            const auto mechanism = mechanism_operands(theta, sigma, lower, upper, levels, n);
            const Operand bound = operand(c, n);
            py::gil_scoped_release nogil;
            return fisher_sum(kernels, mechanism, bound, n);
        },
        py::arg("c"), py::arg("theta"), py::arg("sigma"), py::arg("lower"), py::arg("upper"),
        py::arg("levels"), py::arg("n"));
}

}  // namespace

void bind_mechanisms(py::module_& m) {
    const DivergenceKernels& kernels = divergence_kernels();
    bind_mechanism(m.def_submodule("gaussian"), kernels.gaussian);
    bind_mechanism(m.def_submodule("rectified"), kernels.rectified);
    bind_mechanism(m.def_submodule("truncated"), kernels.truncated);
    bind_mechanism(m.def_submodule("quantized"), kernels.quantized);
    bind_mechanism(m.def_submodule("sign"), kernels.sign);
    bind_mechanism(m.def_submodule("bounded_laplace"), kernels.bounded_laplace);
}

}  // namespace tightnoise
