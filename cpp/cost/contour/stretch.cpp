#include "cost/contour/stretch.hpp"

#include <cmath>

namespace tightnoise::contour {

double Stretch::at(double s) const {
    return length * std::asinh(least * std::sinh(s / length));
}

double Stretch::reaching(double v, double angle) const {
    return length * std::asinh(std::sinh(v / length) / (least * std::cos(angle)));
}

double Stretch::slope(double s) const {
    const double grown = std::sinh(s / length);
    return least * std::cosh(s / length) / std::hypot(1.0, least * grown);
}

Stretch::Point Stretch::beside(double s, double angle) const {
    const double sine = std::sin(angle), cosine = std::cos(angle);
    const double grown = std::sinh(s / length), even = std::cosh(s / length);
    const double re = least * grown * cosine, im = least * even * sine;
    const double rest = 1.0 - re * re - im * im, size = std::hypot(rest, 2.0 * re);
    const double square = rest > 0.0 ? 2.0 * re * re / (rest + size) : 0.5 * (size - rest);
    const double across = std::copysign(std::sqrt(square), s);  // sinh(v/l)
    const double root =
        std::sqrt((least * least * cosine * cosine + square) / (cosine * cosine + square));
    const double turned = sine * root, straight = std::sqrt((1.0 - turned) * (1.0 + turned));
    const std::complex<double> slope =
        least * std::complex<double>(even * cosine, grown * sine) /
        std::complex<double>(std::sqrt(1.0 + square) * straight, across * turned);
    return {length * std::asinh(across), length * std::asin(turned), slope};
}

double Stretch::shift_at(double v, double angle) const {
    const double cosine = std::cos(angle), across = std::sinh(v / length);
    const double square = across * across, floor = cosine * cosine;
    if (!(square < 1e300)) return length * std::fabs(angle);
    const double root = std::sqrt((least * least * floor + square) / (floor + square));
    return length * std::asin(std::sin(angle) * root);
}

}  // namespace tightnoise::contour
