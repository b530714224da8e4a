#include "mechanisms/vmf_divergence_kernels.hpp"

#include "mechanisms/vmf_divergence.hpp"
#include "runtime/operand_block.hpp"

namespace tightnoise {
namespace {

constexpr std::size_t kChunk = 512;

void renyi(const VmfRenyiTask& task, std::size_t begin, std::size_t n) {
    OperandBlock<kChunk> from_nu, from_kappa, from_chord, from_cosine, from_alpha;
    for (std::size_t offset = 0; offset < n; offset += kChunk) {
        const std::size_t m = n - offset < kChunk ? n - offset : kChunk;
        const std::size_t first = begin + offset;
        const double* nu = from_nu.load(task.nu, first, m);
        const double* kappa = from_kappa.load(task.kappa, first, m);
        const double* chord = from_chord.load(task.half_chord, first, m);
        const double* cosine = from_cosine.load(task.half_cosine, first, m);
        const double* alpha = from_alpha.load(task.alpha, first, m);
        double* out = task.out + first;
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) {
            out[i] = vmf_renyi({nu[i], kappa[i], chord[i], cosine[i]}, alpha[i]);
        }
    }
}

void add_renyi(double nu, double kappa, double half_chord, double half_cosine, double count,
               const double* alpha, double* out, std::size_t n) {
    const VmfPair pair{nu, kappa, half_chord, half_cosine};
#pragma omp simd
    for (std::size_t j = 0; j < n; ++j) out[j] += count * vmf_renyi(pair, alpha[j]);
}

}  // namespace

extern const VmfDivergenceKernels TIGHTNOISE_AT_LEVEL(vmf_divergence_kernels) = {renyi, add_renyi};

}  // namespace tightnoise
