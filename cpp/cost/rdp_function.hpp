// A cost as a function of the order.
#pragma once

#include <cstddef>

namespace tightnoise {

class RdpFunction {
  public:
    virtual ~RdpFunction() = default;
    // Upper bounds of the Renyi divergence at n increasing, finite orders above 1: not negative,
    // infinity where there is none.
    virtual void operator()(const double* alpha, double* rdp, std::size_t n) const = 0;
};

}  // namespace tightnoise
