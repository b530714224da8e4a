// A tilted law by nodes beside the real axis: section 5.5 of CONTOUR.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cost/contour/shifted_sum.hpp"

namespace tightnoise::contour {

// `whole` is phi, `large` the part of large losses; `plain` knows the tail of phi.
class ShiftedLine : public Line {
  public:
    ShiftedLine(const Moment& moment, double step, ShiftedSum whole, ShiftedSum large,
                std::unique_ptr<Line> plain)
        : moment_(moment),
          step_(step),
          whole_(std::move(whole)),
          large_(std::move(large)),
          plain_(std::move(plain)) {}

    Moment moment() const override { return moment_; }
    double centre() const override { return moment_.slope; }
    double log_tail(double y) const override {
        if (!plain_) return 0.0;
        return std::min(plain_->log_tail(y), log_damped(y));
    }
    double log_large_tail(double y) const override { return large_.log_tail(y); }
    std::size_t block() const override { return ShiftedSum::kBlock; }
    bool holds_beyond_reach() const override { return true; }
    std::size_t work() const override { return whole_.nodes() + large_.nodes(); }

    void at(std::size_t first, std::size_t count, Characteristics* out) const override {
        double real[ShiftedSum::kBlock], imaginary[ShiftedSum::kBlock];
        for (std::size_t start = 0; start < count; start += ShiftedSum::kBlock) {
            const auto y = [&](std::size_t k) {
                return static_cast<double>(first + start + k) * step_;
            };
            whole_.at(first + start, real, imaginary);
            for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {  // sum_j W_j = 1
                out[start + k].whole = {real[k], imaginary[k],
                                        whole_.error(y(k)) + 2.0 * whole_.missing()};
            }
            if (large_.nodes() == 0) {  // all may have been left out
                for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {
                    out[start + k].large = {0.0, 0.0, 2.0 * large_.missing()};
                }
                continue;
            }
            large_.at(first + start, real, imaginary);
            const double error = large_.rounding() + 2.0 * large_.missing();
            for (std::size_t k = 0; k < ShiftedSum::kBlock; ++k) {
                out[start + k].large = {large_.weight() + real[k], imaginary[k],
                                        large_.error(y(k)) + error};
            }
        }
    }

  protected:
    // A bound of |phi| for all larger y, as far as what the nodes miss is known there.
    double log_damped(double y) const {
        const double sum = std::exp(whole_.log_tail(y)) + whole_.missing() + whole_.rounding();
        return std::log(sum) + 1e-12;
    }

  private:
    Moment moment_;
    double step_;
    mutable ShiftedSum whole_, large_;  // which remember where they are
    std::unique_ptr<Line> plain_;
};

}  // namespace tightnoise::contour
