// Coefficients of z^0, z^1, ...: Chebyshev fits, rounded to the type they are used in. The error
// beside each array is that of the whole function with the rounded coefficients, in exact
// arithmetic: absolute for sine and cosine, relative for the logarithm.
//
// Written by cpp/generate: do not edit.
// clang-format off
#pragma once

namespace tightnoise {
namespace {
namespace box_muller {

template <class Real>
struct Coefficients;

template <>
struct Coefficients<double> {
    // error 2.6e-17
    static constexpr double kSin[7] = {
        1.5707963267948966, -0.6459640975062443, 0.07969262624604301, -0.004681754132340976,
        0.0001604411507421909, -3.59864335298231e-06, 5.633933781537854e-08,
    };
    // error 1.8e-17
    static constexpr double kCos[7] = {
        -1.2337005501361697, 0.2536695079010478, -0.020863480763340773, 0.0009192602745468447,
        -2.5202039028029178e-05, 4.710678405505227e-07, -6.329396344967424e-09,
    };
    // error 4.6e-18
    static constexpr double kLog[7] = {
        -1.333333333333334, -0.7999999999979901, -0.5714285725195097, -0.4444442226959016,
        -0.36365778250523445, -0.30663443201112084, -0.2923289937008681,
    };
};

template <>
struct Coefficients<float> {
    // error 2.4e-8
    static constexpr double kSin[4] = {
        1.5707963705062866, -0.6459634900093079, 0.07968021929264069, -0.004602149128913879,
    };
    // error 9.1e-9
    static constexpr double kCos[4] = {
        -1.2337005138397217, 0.253669410943985, -0.02086152881383896, 0.0009067399078048766,
    };
    // error 2.6e-9
    static constexpr double kLog[3] = {
        -1.3333337306976318, -0.7997756004333496, -0.5915989875793457,
    };
};

}  // namespace box_muller
}  // namespace
}  // namespace tightnoise
