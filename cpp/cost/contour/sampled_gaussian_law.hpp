// The Gaussian mechanism on a Poisson sample, a record more or less: Q0 = N(0, 1) and
// (1 - q) Q0 + q N(1/sigma, 1). Section 5 of CONTOUR.md proves every bound here.
#pragma once

#include "cost/contour/law.hpp"

namespace tightnoise::contour {

enum class Direction { remove, add };  // P is the mixture, or Q is

class SampledGaussianLaw : public Law {
  public:
    // sigma in [1e-3, 1e6], rate in [1e-100, 1).
    SampledGaussianLaw(double sigma, double rate, Direction direction)
        : sigma_(sigma), q_(rate), direction_(direction) {}

    Moment moment(double t) const override;
    std::unique_ptr<Line> line(const LineRequest& request) const override;
    std::optional<Interval> profile(double x) const override;
    double log_small_moment(double t, const Split& split) const override;
    bool can_split() const override { return true; }

  private:
    struct Nodes;
    class TiltedLine;

    bool is_remove() const { return direction_ == Direction::remove; }
    // The power of w that M(t) is the mean of, under Q0.
    double order(double t) const { return is_remove() ? 1.0 + t : -t; }
    double share(double z) const;  // p = q e^a / w
    // |share of a split at z + id| <= e^((spread - 1) d^2 / 2) that at z; no split has spread 1.
    double step(double order, double reach, double log_error, double spread) const;
    struct Cut {
        double z, width;  // the share of small losses is Phi(-+(z' - z)/width)
        double spread() const { return 1.0 + 1.0 / (width * width); }
    };
    Cut cut_at(const Split& split) const;
    std::optional<Nodes> nodes(double order, double width) const;
    Moment careful_moment(const Nodes& nodes, double t, const Moment& plain,
                          double log_error) const;

    double sigma_, q_;
    Direction direction_;
};

}  // namespace tightnoise::contour
