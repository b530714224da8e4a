// Laws of additive noise as their samplers read them: all that elements share, computed once.
#pragma once

#include <cstdint>

namespace tightnoise {

// Of 2^128.
__extension__ using Share = unsigned __int128;

// What a sampler reads of an AliasTable. 2^index_bits equally likely columns, each shared by two
// components: a random coin of 128 bits less index_bits chooses the column's own one (of the same
// number) below the threshold, else its alias.
struct AliasColumns {
    const Share* threshold;       // times 2^index_bits
    const std::uint32_t* packed;  // upper 32 bits of threshold, its lowest index_bits the alias
    int index_bits;
};

constexpr int kSmallestAliasTable = 32;  // entries of `packed` there are at least

// Gaussians of one sigma at k sensitivity, component number modes + k.
struct GaussianLadder {
    AliasColumns choice;
    int modes;
    double sensitivity;
    double sigma;
};

// Gaussians at location[i] with standard deviation sigma[i], component number i.
struct GaussianComponents {
    AliasColumns choice;
    const double* location;
    const double* sigma;
};

// Component 0 is N(0, sigma^2); 1 and 2 are N(sensitivity, sigma^2) given that it is positive, and
// its mirror image.
struct QuasiGaussianNoise {
    AliasColumns choice;
    double sensitivity;
    double sigma;
    double positive;  // mass of N(sensitivity, sigma^2) above 0
    double negative;
};

// Either sign of scale times a standard exponential variable below bound / scale.
struct ExponentialNoise {
    double scale;
    double bound;
    double below;  // mass of the exponential variable below bound / scale
    double above;
};

// Either sign of period (y - start), start < y < end, where the density of y is proportional to
// e^(-k epsilon) on [k, k + gamma] and to e^(-(k + 1) epsilon) on [k + gamma, k + 1]. The survival
// function H of such a y on all of (0, inf) is e^(-k epsilon) at y = k, and linear in between.
struct SteppedNoise {
    double period;
    double start;
    double bound;         // period (end - start)
    double epsilon;       // at most kMostSteppedEpsilon
    double turn;          // -log H(gamma)
    double inverse_fall;  // width / fall of H from 0 to gamma
    double before_start;  // 1 - H(start)
    double inside;        // H(start) - H(end)
    double after_end;     // H(end)
};

// Either sign of a magnitude below the bound, of a density proportional to e^(-k epsilon) on
// [k, k + gamma] periods and to e^(-(k + 1) epsilon) on [k + gamma, k + 1]: SteppedNoise by its
// parameters (Tulap noise with gamma = 1/2).
struct StaircaseNoise {
    double period;
    double epsilon;
    double gamma;
    double bound;
};

}  // namespace tightnoise
