// Where the slope of a divergence turns from rising to falling.
#pragma once

#include <algorithm>

namespace tightnoise {

// An interval that is narrowed by false position; a side that stays twice counts half (Illinois).
// rising > 0 and falling <= 0 are the slopes at its ends.
class SlopeRoot {
  public:
    SlopeRoot(double low, double rising, double high, double falling)
        : low_(low), high_(high), rising_(rising), falling_(falling) {}

    double width() const { return high_ - low_; }

    // Where to look next: a hundredth of the width or more from both ends.
    double next() const {
        const double room = 0.01 * width();
        const double at = low_ + width() * (rising_ / (rising_ - falling_));
        return std::clamp(at, low_ + room, high_ - room);
    }

    void narrow(double at, double slope) {
        if (slope > 0.0) {
            low_ = at;
            rising_ = slope;
            if (last_ == Side::low) falling_ *= 0.5;
            last_ = Side::low;
        } else {
            high_ = at;
            falling_ = slope;
            if (last_ == Side::high) rising_ *= 0.5;
            last_ = Side::high;
        }
    }

  private:
    enum class Side { none, low, high };

    double low_, high_;
    double rising_, falling_;
    Side last_ = Side::none;
};

}  // namespace tightnoise
