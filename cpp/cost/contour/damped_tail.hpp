// A bound of |sum_j W_j e^(i y l_j) + conj(sum_j V_j e^(i y l_j))| for all larger y, by Im l_j >=
// 0: section 9.2 of CONTOUR.md.
#pragma once

#include <complex>
#include <vector>

namespace tightnoise::contour {

class DampedTail {
  public:
    void add(std::complex<double> loss, double modulus);
    // Where W_j and conj(V_j) nearly cancel, as Re l_j is next to nothing.
    void add_pair(std::complex<double> loss, std::complex<double> w, std::complex<double> v);
    void add_constant(double most) { constant_ += most; }
    double at(double y) const;

  private:
    struct Pair {
        double sum, moduli, turn, damping;
    };
    std::vector<double> modulus_, damping_;
    std::vector<Pair> pairs_;
    double constant_ = 0.0;
};

}  // namespace tightnoise::contour
