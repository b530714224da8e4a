// Phi^-1(1/2 + q) = q above(v) / below(v) for |q| <= Q = Phi(2) - 1/2, v = Q^2 - q^2: the rational
// function that interpolates at Chebyshev points of Phi^-1. In v both polynomials have positive
// coefficients (the poles lie at v < 0), so no digits cancel. The error is absolute, with the
// rounded coefficients in exact arithmetic.
//
// Written by cpp/generate: do not edit.
// clang-format off
#pragma once

namespace tightnoise {
namespace {
namespace truncated {

constexpr double kEdgeSquare = 0.22776743655548035;  // (Phi(2) - 1/2)^2

// error 5.3e-16
constexpr double kQuantileAbove[12] = {
    4.190676905085776, 631.6133423928418, 38480.9628559907, 1226454.4532435273,
    22193717.833683323, 232850959.34733742, 1397768284.377269, 4603884321.256612,
    7704504040.954657, 5714092261.413888, 1425955121.5896046, 52873208.85718207,
};

constexpr double kQuantileBelow[12] = {
    1.0, 158.22573458765166, 10206.776103250264, 348151.48002633423,
    6834728.878136126, 79161613.71607973, 536733735.3476625, 2060346356.8102198,
    4207379304.635817, 4106802372.529881, 1571121274.7564862, 147765964.93041614,
};

// The Chebyshev points cos(pi (2 k + 1) / (2 n)).
constexpr double kChebyshevPoints[10] = {
    0.9876883405951378, 0.8910065241883679, 0.7071067811865476, 0.4539904997395468,
    0.15643446504023087, -0.15643446504023087, -0.4539904997395468, -0.7071067811865476,
    -0.8910065241883679, -0.9876883405951378,
};

}  // namespace truncated
}  // namespace
}  // namespace tightnoise
