// Where the bumps of a multi-Gaussian mixture melt into one.
#pragma once

namespace tightnoise {

// The smallest sigma with which the multi-Gaussian mixture of weights e^(-|k| epsilon), |k| <=
// modes, at distance 1 has a single mode; multiply by the distance for others. Adding Gaussian
// noise to a symmetric density with a single mode leaves it one, so every larger sigma has it as
// well. Range: epsilon from 1e-6 to 700, modes >= 1. Relative error: 1e-10 at epsilon = 1e-6, where
// the slope between bumps is that small beside their height, 1e-13 from 1e-3 on.
double unimodal_sigma(double epsilon, double modes);

// The smallest sigma with which a flank of such a mixture, without its centre and its end, rises
// steadily. What the centre does at a smaller sigma than unimodal_sigma costs no privacy.
double flank_melting_sigma(double epsilon);

}  // namespace tightnoise
