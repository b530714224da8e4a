"""Asoodeh, Liao, Calmon, Kosut and Sankar (2020): how many rounds a better conversion gives.

"A Better Bound Gives a Hundred Rounds: Enhanced Privacy Guarantees via f-Divergences" converts the
Renyi divergence of composed Gaussian releases to epsilon at a given delta in three ways:

- moments accountant: the conversion of Abadi et al. (2016), here `classic`;
- Lemma 1: the paper's closed form, here `closed_form`;
- Theorem 3: the paper's optimal conversion, here `optimal`;

each at the best real order. T releases of sensitivity 1 with standard deviation sigma have the
curve alpha T / (2 sigma^2), and are together one Gaussian release with mu = sqrt(T) / sigma, whose
exact epsilon (Balle and Wang 2018) is the fourth way.

For noisy SGD with sampling rate q the paper takes the curve alpha rho a step at every order, where
rho = q^2 / ((1 - q) sigma^2) is Lemma 3 of Abadi et al. without its remainder of order q^3. That
lemma reaches only orders with alpha - 1 <= sigma^2 log(1 / (q sigma)), so these are **not valid
bounds**: at sigma 4 and delta 1e-5, the order that the moments accountant picks is within reach
from 6.9 epochs on at q = 0.01, from 23.6 on at q = 0.001, and the last table shows a figure below
what the method gives with exact moments. They are printed to compare conversions. Proven are the
columns "exact RDP", the exact Renyi divergence of the sampled Gaussian (Mironov, Talwar and Zhang
2019) converted by Theorem 3, and "exact", the composed sampled Gaussian itself. What the paper's
conversion buys is known without its rho, too: at epsilon 1 and q = 0.01 exact moments allow 63.6
epochs by the classic conversion, 93.8 by Theorem 3, and 110.5 with no conversion at all.
"""

from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce.conversion._costs import epsilon_after, rounds_within, sgd_epsilon_after
from tightnoise.reproduce.conversion._figures import draw
from tightnoise.reproduce.conversion._tables import TABLES

__all__ = ["PAPER", "epsilon_after", "rounds_within", "sgd_epsilon_after"]

PAPER = Paper(
    title="A Better Bound Gives a Hundred Rounds: Enhanced Privacy Guarantees via f-Divergences",
    authors="Shahab Asoodeh, Jiachun Liao, Flavio P. Calmon, Oliver Kosut and Lalitha Sankar",
    year=2020,
    tables=TABLES,
    draw=draw,
)
"""The paper, as `tightnoise reproduce` has it."""
