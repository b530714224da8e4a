// The Fisher information loss of examples of multinomial logistic regression: what is left to do
// for each of them after the products of matrices. tightnoise.leakage.fil_logistic has the formula.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/simd_level.hpp"

namespace tightnoise {

// What all examples share. K classes, p features.
struct FisherModel {
    std::size_t classes, features;
    const double* information;  // (K, p): E
    const double* products;     // (K, K): W W^T
    const double* norms;        // (K): of the rows of W
};

// A row an example.
struct FisherExamples {
    const double* likely;    // (K): softmax(W x)
    const double* residual;  // (K): a = softmax(W x) - e_y
    const double* forms;     // (K + K K): w_k^T x; w_l^T E_k x
    const double* squares;   // (K + K (K + 1)/2): x^T E_k x; x^T E_k E_l x, k <= l
    const double* length;    // x^T x
    const double* error;     // a relative bound of the rounding in a and S, and more
};

struct FisherLossKernels {
    // out[i] = the greatest on the diagonal plus max(0, an upper bound of the greatest eigenvalue
    // of U M U^T), of example which[i], i < count; with the clip that of (1 - u u^T) J. NaN or
    // infinite where squares are too large. `work` has room for fisher_workspace(K).
    void (*bounds)(const FisherModel& model, const FisherExamples& examples,
                   const std::int64_t* which, std::size_t count, bool is_clipped, double* work,
                   double* out);
};
TIGHTNOISE_KERNEL_TABLE(FisherLossKernels, fisher_loss_kernels)

// In doubles, at any level.
constexpr std::size_t fisher_workspace(std::size_t classes) {
    const std::size_t size = 2 * classes + 1;
    return 8 * (3 * size * size + 7 * size + 5 * classes * classes + 6 * classes);
}

}  // namespace tightnoise
