// Lengths in a unit in which they are no tiny numbers. Only for .cpp files.
#pragma once

namespace tightnoise {

// Of noise in an interval.
struct Lengths {
    double sigma, width, sensitivity;
};

// The same ratios. Next to a subnormal sigma the rest of a division underflows, and k and w would
// have the digits of one double only: not enough for the squares of large ones.
inline Lengths ordinary_lengths(double sigma, double width, double sensitivity) {
    // Of a width beyond the second the ratio to such a sigma is no number.
    const double unit = sigma < 0x1p-900 && width < 0x1p500 ? 0x1p500 : 1.0;
    return {unit * sigma, unit * width, unit * sensitivity};
}

}  // namespace tightnoise
