#include "cost/contour/damped_tail.hpp"

#include <algorithm>
#include <cmath>

#include "cost/contour/shifted_kernels.hpp"

namespace tightnoise::contour {

void DampedTail::add(std::complex<double> loss, double modulus) {
    modulus_.push_back(modulus);
    damping_.push_back(std::max(loss.imag(), 0.0));
}

void DampedTail::add_pair(std::complex<double> loss, std::complex<double> w,
                          std::complex<double> v) {
    pairs_.push_back({std::abs(w + std::conj(v)), std::abs(w) + std::abs(v), std::fabs(loss.real()),
                      std::max(loss.imag(), 0.0)});
}

// |W e^(i y l) + conj(V e^(i y l))| <= e^(-y Im l) (|W + conj(V)| + (|W| + |V|) min(y |Re l|, 2)),
// and y e^(-y b) is at most 1/(e b).
double DampedTail::at(double y) const {
    double sum = shifted_kernels().tail(modulus_.size(), modulus_.data(), damping_.data(), y);
    for (const Pair& pair : pairs_) {
        const double decay = std::exp(-y * pair.damping);
        const double most = std::max(y, 1.0 / (pair.damping + 1e-300));
        const double turned =
            std::min(most * pair.turn * std::exp(-most * pair.damping), 2.0 * decay);
        sum += pair.sum * decay + pair.moduli * turned;
    }
    return (sum + constant_) * (1.0 + 1e-9);
}

}  // namespace tightnoise::contour
