"""The tables: every number beside the expected one.

Expected figures of ours were computed apart from this package, in 30-digit arithmetic where they
are sums and by quadrature elsewhere. Those by privacy-loss distributions (PLD) are certified from
both sides by the package itself: printed are the digits on which both bounds agree, or both bounds.
What the paper prints stands in columns of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

from tightnoise.costs import Sampling
from tightnoise.reproduce._table import Cell, Table, beside, figures
from tightnoise.reproduce.vmf._costs import (
    BATCH,
    EPOCHS,
    LAYERS,
    STEPS,
    approach_1,
    approach_2,
    equal_sigma,
    exact_epsilon,
    gaussian_capacity,
    gaussian_epsilon,
    layers_capacity,
    tight_epsilon_bounds,
    tight_gaussian_bounds,
    unsound_approach_2,
    vmf_capacity,
)

PRINTED_EPSILON, PRINTED_SIGMA, THREE_RELEASES, ALL_RELEASES, GAUSSIAN = figures(
    """
 25 0.0139   NA   0.0137   0.0851  0.0851     2.294     0.164   0.131      NA     NA
 50 0.0867   NA   0.0840   0.4516  0.4516    32.239     0.555   0.538      NA     NA
 75   0.49 1.23   0.4804   1.1854  1.1854        NA     1.644   1.513   0.483 0.7802
100   2.48 .660   2.4349   2.4825  2.4825  4192.026     4.638   3.609   2.480 0.5852
125   4.59 .544   7.4425   4.5855  4.5855  8076.759    10.221   7.564   4.589 0.4681
150   7.97 .461  14.3012   8.1762  7.9659 12298.913    14.149  14.041   7.980 0.3901
175   9.72 .435  21.9536   9.7176  9.7176 16794.229    57.379  23.590   9.721 0.3344
200   10.9 .420  30.2014  10.8928 10.8928 21556.084   608.529  36.600  10.977 0.2926
225  17.25 .367  39.0193  17.2446 17.2446 26582.240  3587.500  53.269  17.286 0.2601
250  27.38 .321  48.4014  27.3772 26.4055 31871.107  8339.713  73.619  27.411 0.2341
275  38.84 .287  58.3446  38.8237 34.1256 37421.413 13708.099  97.549  39.022 0.2128
300  41.02 .282  68.8460  51.3596 41.0086 43232.100 19587.465 124.892  41.308 0.1951
325  64.98 .245  79.9036  64.9751 47.4037 49302.270 25973.127 155.463  65.198 0.1801
350  79.68 .229  91.5153  79.6673 53.5005 55631.136 32863.764 189.099  80.046 0.1672
375  95.44 .214 103.6797  95.4333 59.3565 62218.000 40258.039 225.664  96.293 0.1560
400 112.28 .204 116.3952 112.2702 65.0479 69062.228 48154.526 265.057 113.885 0.1463
500    173 .174 172.7430 190.2584 86.8351 99001.642 84730.978 449.774 173.798 0.1170
""",
    *(1, 1, 3, 3, 2),
)
"""By kappa. As printed: epsilon (Table IV; 25 and 50 in Table I), and the noise multiplier of the
Gaussian to which the paper ascribes it. Of three releases: epsilon by approach 1, approach 2, and
approach 2 with the unsound chord. Of all: by approach 1, approach 2, and the exact RDP with the
paper's conversion. Of the Gaussian: epsilon by RDP at the printed sigma; sigma as private as kappa.
"""

ANGLES = (180, 90, 60, 30, 10)
"""In degrees, with which kappa 300 and 500 are tried."""

CAPACITY, OTHER_CAPACITIES = figures(
    """
 75  74.7947  94.9934 95.687  283.9932 123.7 9862.9150
100       NA 176.7680     NA        NA    NA        NA
150       NA 252.7207     NA        NA    NA        NA
175 173.8824       NA     NA        NA    NA        NA
300    296.7 411.9248     NA        NA    NA        NA
500 490.8820    664.5     NA 1945.5203    NA        NA
""",
    *(2, 4),
)
"""By kappa, logarithms. Of the mechanism, and of the Gaussian at the printed sigma; of this one as
printed, on a ball of radius 3, on 3 layers, on a sum of 128."""


def _tight(
    kappa: float, count: int = STEPS, *, degrees: float = 180.0, sampling: Sampling = "poisson"
) -> Cell:
    angle = math.radians(degrees)
    return Cell.between(tight_epsilon_bounds(kappa, count, angle=angle, sampling=sampling))


def _paper_table(kappas: Iterable[int] = PRINTED_EPSILON) -> Table:
    ways = approach_1, approach_2, unsound_approach_2
    return Table.of(
        "von Mises-Fisher, p 13700: epsilon at delta 1/60000 after 3 releases, the paper's count",
        "kappa",
        ("printed", "approach 1", "approach 2", "with chord", "PLD"),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                *beside((way(kappa, EPOCHS) for way in ways), THREE_RELEASES[kappa]),
                _tight(kappa, EPOCHS),
            )
            for kappa in kappas
        },
        "Approach 2: Theorem 3 with 1/(alpha - 1), at integer orders; with 1/alpha, as printed, it "
        "is no bound. With chord: the divergence interpolated between integer orders (1.02, 1.04, "
        "...), as in the paper, which is no bound either. The paper prints",
        "- approach 1 for kappa 25 to 75, 1 to 3 % above the best split of delta, and 500;",
        "- approach 2 with chord for 150 and 300, and approach 2 without for all others.",
        "At 100 approach 1 is the lower one.",
        "PLD: privacy-loss distributions, proved from both sides.",
    )


def _steps_table() -> Table:
    return Table.of(
        "The same after 1407 releases, which three epochs of batches are",
        "kappa",
        ("printed", "approach 1", "optimal", "approach 2"),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                Cell(approach_1(kappa, STEPS), first),
                approach_1(kappa, STEPS, "optimal"),
                Cell(approach_2(kappa, STEPS), second),
            )
            for kappa, (first, second, _) in ALL_RELEASES.items()
        },
        "Approach 1: with Theorem 2, or with the optimal composition. Theorem 2 lacks a factor N "
        "epsilon_s as printed. With it and a coarse grid of splits of delta it gives 674.149 for "
        "kappa 75; a search finds a better split.",
    )


def _gaussian_table() -> Table:
    return Table.of(
        "The Gaussian noise to which the paper ascribes the same epsilon (Table IV), 1407 steps",
        "kappa",
        ("printed", "sigma", "orders of Opacus", "best order", "PLD", "sigma as private"),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                PRINTED_SIGMA[kappa],
                Cell(gaussian_epsilon(float(PRINTED_SIGMA[kappa]), on_grid=True), grid),
                gaussian_epsilon(float(PRINTED_SIGMA[kappa])),
                Cell.between(tight_gaussian_bounds(float(PRINTED_SIGMA[kappa]))),
                Cell(equal_sigma(kappa), sigma),
            )
            for kappa, (grid, sigma) in GAUSSIAN.items()
        },
        "The paper counts 1407 steps for the Gaussian, 3 for the von Mises-Fisher mechanism: its "
        "pairs are not equally private. As private: sqrt(p - 3)/(2 kappa), the noise multiplier "
        "with which the Gaussian costs at least what kappa does, and hardly more.",
        "Orders of Opacus: those that its RDP accountant tries, and its conversion.",
    )


def _exact_table(kappas: Iterable[int] = PRINTED_EPSILON) -> Table:
    return Table.of(
        "The same after 1407 releases: exactly, with two ways to draw batches",
        "kappa",
        ("printed", "exact RDP", "optimal", "as Gaussian", "PLD", "fixed size", "its PLD"),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                Cell(exact_epsilon(kappa, conversion="canonne"), ALL_RELEASES[kappa][-1]),
                exact_epsilon(kappa),
                gaussian_epsilon(equal_sigma(kappa)),
                _tight(kappa),
                exact_epsilon(kappa, sampling="fixed-size"),
                _tight(kappa, sampling="fixed-size"),
            )
            for kappa in kappas
        },
        "Exact RDP: of the sampled mechanism at the best real order, with the paper's conversion "
        "(Proposition 4), or with the optimal one as in the columns that follow.",
        "As Gaussian: what the sampled Gaussian with noise multiplier sqrt(p - 3)/(2 kappa) costs; "
        "its privacy is never better.",
        "Fixed size: batches of 128 records each, and neighbours that differ in the value of one "
        "record, as in the paper's algorithms.",
    )


def _angle_table(angles: Iterable[int] = ANGLES) -> Table:
    return Table.of(
        "The same if no record turns the direction by more than an angle (degrees)",
        "angle",
        ("kappa 300", "PLD", "kappa 500", "PLD of 500"),
        {
            degrees: (
                exact_epsilon(300, angle=math.radians(degrees)),
                _tight(300, degrees=degrees),
                exact_epsilon(500, angle=math.radians(degrees)),
                _tight(500, degrees=degrees),
            )
            for degrees in angles
        },
        "The mechanism of the paper promises 180 only: one record may turn the sum of the others "
        "around. `LiftedVonMisesFisher` promises less for every data set.",
    )


def _capacity_table() -> Table:
    return Table.of(
        "Logarithm of the Bayes capacity of one release, for the pairs of Table IV",
        "kappa",
        ("von Mises-Fisher", "sigma", "Gaussian", "sigma as private", "its capacity"),
        {
            kappa: (
                Cell(vmf_capacity(kappa), CAPACITY.get(kappa, (None, None))[0]),
                sigma,
                Cell(gaussian_capacity(float(sigma)), CAPACITY.get(kappa, (None, None))[1]),
                equal_sigma(kappa),
                gaussian_capacity(equal_sigma(kappa)),
            )
            for kappa, sigma in PRINTED_SIGMA.items()
        },
        "Gaussian: on the ball of radius 1, by Theorem 5 with the right factor.",
    )


def _domain_table() -> Table:
    def capacities(sigma: float) -> tuple[float, ...]:
        return (
            gaussian_capacity(sigma, as_printed=True),
            gaussian_capacity(sigma, radius=len(LAYERS)),
            layers_capacity(sigma),
            gaussian_capacity(sigma, radius=BATCH),
        )

    return Table.of(
        "The same of the Gaussian, for other readings of Theorem 5",
        "kappa",
        ("as printed", "radius 3", "3 layers", "sum of 128"),
        {
            kappa: beside(capacities(float(sigma)), OTHER_CAPACITIES.get(kappa, (None,) * 4))
            for kappa, sigma in PRINTED_SIGMA.items()
        },
        "As printed: radius 1, a factor 2 too many. Radius 3: the paper's R, the number of layers. "
        "3 layers: each clipped to norm 1, a product of balls. Sum of 128: what noise of standard "
        "deviation sigma is added to, the sum of a batch's gradients of norm at most 1.",
    )


TABLES: tuple[Callable[[], Table], ...] = (
    _paper_table,
    _steps_table,
    _exact_table,
    _angle_table,
    _gaussian_table,
    _capacity_table,
    _domain_table,
)
"""What computes each table, in the order in which they are printed."""

CELLS: tuple[Callable[[], object], ...] = (
    *(partial(_tight, kappa, degrees=degrees) for degrees in ANGLES[1:] for kappa in (500, 300)),
    *(
        partial(compute, kappa)
        for kappa in PRINTED_EPSILON
        for compute in (
            _tight,
            partial(_tight, count=EPOCHS),
            partial(_tight, sampling="fixed-size"),
        )
    ),
)
"""Their columns by privacy-loss distributions, each number apart."""
