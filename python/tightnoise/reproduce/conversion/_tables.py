"""The tables: every number beside the expected one.

The paper has plots, no tables. Every expected figure was computed apart from this package and with
other formulas, to digits that are all right: composed Gaussians in 30-digit arithmetic, the Renyi
divergences of the sampled Gaussian by quadrature. Its exact epsilon has no expected one: both of
its bounds, 1e-9 apart, are the package's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from tightnoise.reproduce._table import Table, beside, figures
from tightnoise.reproduce.conversion._costs import (
    CLASSIC_RDP,
    CONVERSIONS,
    EXACT,
    EXACT_RDP,
    epsilon_after,
    rounds_within,
    sgd_epsilon_after,
)

EPSILON_AFTER = {
    100: ("2.5243", "2.1657", "2.1657", "1.9931"),
    600: ("6.6270", "5.9785", "5.9785", "5.5448"),
    1000: ("8.8371", "8.0784", "8.0784", "7.5113"),
    2000: ("13.2298", "12.2997", "12.2997", "11.4800"),
}
"""T: epsilon by the moments accountant, Lemma 1, Theorem 3, and exactly."""

ROUNDS_WITHIN, ROUNDS_GAINED = figures(
    """
 1   16.7   24.4   24.4   28.7   7.8   7.8  12.1
 3  138.8  179.4  179.4  206.9  40.6  40.6  68.1
 6  501.5  603.7  603.7  685.9 102.2 102.2 184.4
 8  839.3  983.8  983.8 1110.3 144.5 144.5 271.0
10 1240.3 1426.2 1426.2 1600.7 185.9 185.9 360.4
""",
    *(4, 3),
)
"""By epsilon. The T, a real number, at which each of the four reaches it; and that of Lemma 1,
Theorem 3 and the exact curve, less that of the moments accountant."""

(SGD_EPSILON_AFTER,) = figures(
    """
 0.01   10 0.5455 0.4256 0.3011 NA
 0.01  100 1.7682 1.4863 1.0354 NA
 0.01  400 3.6627 3.2071 2.2097 NA
 0.01 1000 6.0233 5.4091 3.6880 NA
0.001   10 0.1704 0.1221 0.0856 NA
0.001  100 0.5430 0.4235 0.2966 NA
0.001  400 1.0985 0.8971 0.6268 NA
0.001 1000 1.7599 1.4789 1.0303 NA
""",
    4,
    settings=2,
)
"""q, epochs: epsilon by moments accountant and Lemma 1 with Abadi's rho, and by exact RDP; what is
exact is certified from both sides by the package itself."""

SGD_EPOCHS_WITHIN, SGD_EPOCHS_PROVEN = figures(
    """
 0.01 1   33.0   48.4   15.4    93.8   63.6    93.8   30.2 NA NA
 0.01 2  126.8  171.5   44.7   333.9  246.4   333.9   87.5 NA NA
 0.01 3  274.8  355.2   80.4   692.9  535.5   692.9  157.4 NA NA
 0.01 4  471.5  591.1  119.6  1154.0  919.9  1154.0  234.1 NA NA
0.001 1  332.8  488.4  155.6   946.6  644.7   946.6  301.9 NA NA
0.001 2 1279.4 1730.4  450.9  3355.3 2480.4  3355.3  874.8 NA NA
0.001 3 2773.0 3584.4  811.4  6951.6 5377.3  6951.6 1574.3 NA NA
0.001 4 4757.7 5964.3 1206.7 11568.2 9227.1 11568.2 2341.1 NA NA
""",
    *(4, 5),
    settings=2,
)
"""q, epsilon: epochs within it by moments accountant, by Lemma 1, the gain, and by exact RDP.
Proven: by exact RDP with the classic conversion, with Theorem 3's, and the gain; then without."""

BEYOND_THE_LEMMA = {1: ("0.0537", "0.0597", None)}
"""Epochs at q = 0.001: epsilon by the moments accountant with Abadi's rho, with exact moments."""


@functools.cache
def _rounds(epsilon: float, method: str) -> float:
    return rounds_within(epsilon, lambda rounds: epsilon_after(rounds, method))


def _gain(epsilon: float, method: str) -> float:
    return _rounds(epsilon, method) - _rounds(epsilon, "moments accountant")


GAINS = {
    "gain": ("Lemma 1", "moments accountant"),
    "gain of Theorem 3": (EXACT_RDP, CLASSIC_RDP),
    "gain of exact": (EXACT, CLASSIC_RDP),
}


@functools.cache
def _epochs(epsilon: float, method: str, sampling_rate: float) -> float:
    if method in GAINS:
        better, worse = (_epochs(epsilon, name, sampling_rate) for name in GAINS[method])
        return better - worse
    return rounds_within(epsilon, lambda epochs: sgd_epsilon_after(epochs, method, sampling_rate))


def _table(
    title: str,
    setting: str,
    columns: Sequence[str],
    expected: Mapping[int, Sequence[str | None]],
    ours: Callable[[float, str], float],
    *notes: str,
) -> Table:
    """Put ours(setting, column) beside every expected figure."""
    rows = {
        number: beside((ours(number, column) for column in columns), texts)
        for number, texts in expected.items()
    }
    return Table.of(title, setting, columns, rows, *notes)


NOT_PROVEN = (
    "Moments accountant and Lemma 1 as in the paper, with rho = q^2 / ((1 - q) sigma^2) at every",
    "order: not valid bounds, since Lemma 3 of Abadi et al. has a remainder and a range of orders.",
)

ON_A_GRID = (
    "Exact RDP by Theorem 3 at the best real order; `canonne` on a grid of orders gives 0.3012",
    "for 10 epochs, 2.2099 for 400 and 3.6881 for 1000.",
)


def _sgd_tables(sampling_rate: float, figure: str, *notes: str) -> tuple[Callable[[], Table], ...]:
    """Return what computes the tables of noisy SGD with a sampling rate."""
    q = f"q {sampling_rate:g}"
    return (
        functools.partial(
            _table,
            f"Noisy SGD, sigma 4, {q}: epsilon at delta 1e-5{figure}",
            "epochs",
            ["moments accountant", "Lemma 1", EXACT_RDP, EXACT],
            SGD_EPSILON_AFTER[sampling_rate],
            lambda epochs, column: sgd_epsilon_after(epochs, column, sampling_rate),
            *NOT_PROVEN,
            *notes,
        ),
        functools.partial(
            _table,
            f"Noisy SGD, sigma 4, {q}: how many epochs a budget allows",
            "epsilon",
            ["moments accountant", "Lemma 1", "gain", EXACT_RDP],
            SGD_EPOCHS_WITHIN[sampling_rate],
            lambda epsilon, column: _epochs(epsilon, column, sampling_rate),
            *NOT_PROVEN,
            "gain: of Lemma 1 over the moments accountant.",
        ),
        functools.partial(
            _table,
            f"The same with proven costs: epochs that the conversion buys, {q}",
            "epsilon",
            [CLASSIC_RDP, EXACT_RDP, "gain of Theorem 3", EXACT, "gain of exact"],
            SGD_EPOCHS_PROVEN[sampling_rate],
            lambda epsilon, column: _epochs(epsilon, column, sampling_rate),
            "Exact moments by the classic conversion and by Theorem 3, and the composed sampled",
            "Gaussian without a conversion.",
        ),
    )


BEYOND = {
    "as in the paper": "moments accountant",
    "with exact moments": CLASSIC_RDP,
    EXACT: EXACT,
}
"""The columns of the last table, and the method of each."""

TABLES: tuple[Callable[[], Table], ...] = (
    functools.partial(
        _table,
        "Gaussian releases, sigma 20: epsilon at delta 1e-5 after T of them (Figure 2)",
        "T",
        [*CONVERSIONS, EXACT],
        EPSILON_AFTER,
        epsilon_after,
    ),
    functools.partial(
        _table,
        "The same: how many releases T a budget allows, as a real number",
        "epsilon",
        [*CONVERSIONS, EXACT],
        ROUNDS_WITHIN,
        _rounds,
    ),
    functools.partial(
        _table,
        "The same: releases gained over the moments accountant",
        "epsilon",
        ["Lemma 1", "Theorem 3", EXACT],
        ROUNDS_GAINED,
        _gain,
        "The paper says: about 100 more for any epsilon above 6. Theorem 3 gains less than",
        "0.001 on Lemma 1 here: the gain is that of its first branch, which is the conversion",
        "of Canonne, Kamath and Steinke and of Balle et al. (`canonne`).",
    ),
    *_sgd_tables(0.01, " (Figure 3)", *ON_A_GRID),
    *_sgd_tables(0.001, ""),
    functools.partial(
        _table,
        "Noisy SGD, sigma 4, q 0.001: the moments accountant beyond the reach of Abadi's Lemma 3",
        "epochs",
        list(BEYOND),
        BEYOND_THE_LEMMA,
        lambda epochs, column: sgd_epsilon_after(epochs, BEYOND[column], 0.001),
        "The paper's figure is below what its method gives with the exact moments, so it is",
        "not proven, although the truth is lower.",
    ),
)
"""What computes each table, in the order in which they are printed."""
