#include "bindings/arrays.hpp"
#include "numeric/special_kernels.hpp"
#include "runtime/parallel.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 14;

void apply(SpecialKernels::Unary kernel, const Float64Array& x, Float64Array& out) {
    const double* from = x.data();
    double* to = out.mutable_data();
    const std::size_t n = length(out);
    py::gil_scoped_release nogil;
    parallel_blocks((n + kBlock - 1) / kBlock, [=](std::size_t block) {
        const std::size_t begin = block * kBlock;
        kernel(from + begin, to + begin, n - begin < kBlock ? n - begin : kBlock);
    });
}

}  // namespace

void bind_special(py::module_ m) {
    m.def(
        "exp",
        [](const Float64Array& x, Float64Array out) { apply(special_kernels().exp, x, out); },
        py::arg("x"), py::arg("out").noconvert());
}

}  // namespace tightnoise
