// (epsilon, delta)-DP of the rectified Gaussian clip(N(s, sigma^2), lower, upper) on a bounded
// domain: its worst case over all true values in closed form, and the noise that a guarantee needs.
//
// In units of sigma, measured from the lower bound: k = sensitivity/sigma, w = width/sigma. Values
// farther apart are less private (the family has a monotone likelihood ratio; Karlin and Rubin,
// Blackwell), and the mirror image turns a pair around: the worst pair is (s, s + k) for some s in
// [0, w - k]. The likelihood ratio falls with the output, so the best tests are the sets of outputs
// below a point, those of z = y - s <= t with t >= -s, the least one being the atom alone:
//     delta(s) = max over t in [-s, w - s) of g(t), and 0,   g(t) = Phi(t) - e^epsilon Phi(t - k).
// g' = phi(t) - e^epsilon phi(t - k) is > 0 for t < T and < 0 beyond, T = k/2 - epsilon/k <= w - s.
// So delta(s) = g(T), the Gaussian's own delta, if -s <= T, else (g(-s))_+, which rises with s up
// to s = -T. Hence delta(s) never falls, and the worst s is w - k:
//     worst delta = g(T)                                                if epsilon <= k (w - k/2),
//                 = (Phi(-(w - k)) - e^epsilon Phi(-w))_+                              beyond.
// The second is Phi(-(w - k)) (1 - e^(epsilon - H)) with the loss H = log Phi(-(w - k)) - log
// Phi(-w): 0 from epsilon = H on.
//
// It falls as sigma grows: the first as the Gaussian mechanism's does (less noise, then more, is
// more noise); the second because its derivative by log sigma is u phi(u) - e^epsilon w phi(w), u =
// w - k, which is <= (u - w) phi(u) <= 0 as e^epsilon phi(w)/phi(u) = e^(epsilon - k (w - k/2)) >=
// 1; and the two agree where they meet.
//
// Answers err towards privacy only. Everywhere: numbers greater than 0 and finite, epsilon >= 0,
// sensitivity clipped to the width (no two values are farther apart).
#pragma once

namespace tightnoise {

// An upper bound of the smallest delta: at most 1e-12 above it, relative, and where epsilon is
// close to the loss H, 5e-15 log(M(w - k)/M(w))/(H - epsilon) in addition, with the Mills ratio M.
// Beyond k = 100 it is above by what a unit of the last place of k changes, 2e-16 k |epsilon/k -
// k/2|. At least the smallest subnormal unless it is 0.
double rectified_worst_delta(double sigma, double width, double sensitivity, double epsilon);

// The smallest epsilon >= 0 for which rectified_worst_delta is at most delta, 0 < delta < 1, up to
// 1e-12 in epsilon/(1 + epsilon).
double rectified_epsilon_at(double sigma, double width, double sensitivity, double delta);

// The smallest sigma for which rectified_worst_delta is at most delta, 0 < delta < 1, up to 1e-12;
// never more than the one that pure epsilon-DP needs.
double rectified_sigma_at(double epsilon, double delta, double width, double sensitivity);

}  // namespace tightnoise
