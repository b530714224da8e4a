"""Private coordinate descent with each mechanism, at one price: the paper's section D.7."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tightnoise.compare import best_noise
from tightnoise.mechanisms import Gaussian
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.random import NoiseStream
from tightnoise.reproduce._table import Table, mean_and_error
from tightnoise.reproduce.mixtures import _cancer, _noises
from tightnoise.reproduce.mixtures._descent import (
    Array,
    Schedule,
    descend,
    draw_schedule,
    error_rates,
    sensitivity,
)

EPSILON = 5.0
SPLITS = 100

Mechanism = Gaussian | AdditiveNoise

NOISES: dict[str, Callable[[_noises.Budget], Mechanism]] = {
    "Gaussian": _noises.gaussian,
    "quasi-Gaussian": _noises.quasi_gaussian,
    "multi-Gaussian": _noises.multi_gaussian,
}


def coordinate_descent() -> Table:
    """Return the errors on scikit-learn's breast-cancer data, over random splits.

    Raises
    ------
    ModuleNotFoundError
        Without scikit-learn.
    """
    rng = np.random.default_rng(20260)
    features, labels = _cancer.load()
    splits = _cancer.split(features, labels, SPLITS, rng)
    schedule = draw_schedule(features.shape[1], rng)
    records = splits.train.shape[-1]
    budget = _noises.Budget(EPSILON, records**-2.0, sensitivity(records), schedule.releases)
    mechanisms = {name: calibrated(budget) for name, calibrated in NOISES.items()}
    best = best_noise(
        budget.epsilon,
        budget.delta,
        sensitivity=budget.sensitivity,
        loss="l2",
        count=budget.releases,
    ).best
    mechanisms[f"best of all ({best.name})"] = best.mechanism
    return errors_table(splits, schedule, budget, mechanisms)


def errors_table(
    splits: _cancer.Splits,
    schedule: Schedule,
    budget: _noises.Budget,
    mechanisms: dict[str, Mechanism],
) -> Table:
    """Return the errors with each mechanism; the first of them is what the others are held to."""
    shape = (*schedule.coordinates.shape, splits.train.shape[1])
    zeros = np.zeros(shape)
    noises = {"none": zeros} | {
        name: mechanism.sample(zeros, rng=NoiseStream(seed))
        for seed, (name, mechanism) in enumerate(mechanisms.items())
    }
    inside, outside = {}, {}
    for name, noise in noises.items():
        h = descend(splits.train, schedule, noise)
        inside[name], outside[name] = error_rates(h, splits.train), error_rates(h, splits.test)
    first = next(iter(mechanisms))
    variance = {"none": 0.0} | {name: float(m.var(0.0)) for name, m in mechanisms.items()}
    return Table.of(
        f"Logistic regression by {schedule.releases} noisy scalars, ({budget.epsilon:g}, "
        f"{budget.delta:.1e})-DP together: errors in %",
        "noise",
        (
            *("deviation", "variance, +%", "in-sample", "its sd"),
            *("out-of-sample", "sd of it", "difference", "its se"),
        ),
        {
            name: (
                variance[name] ** 0.5 / budget.sensitivity,
                100.0 * (variance[name] / variance[first] - 1.0),
                *_spread(inside[name]),
                *_spread(outside[name]),
                *mean_and_error(100.0 * (outside[name] - outside[first])),
            )
            for name in noises
        },
        f"Over {shape[-1]} random splits of {splits.train.shape[-1]} records to learn from and "
        f"{splits.test.shape[-1]} to test. Deviation: of the noise, over the sensitivity. "
        f"Variance: above the {first}'s. Difference: of the out-of-sample error from the {first}'s "
        "on the same splits, and its standard error, which leaves out that splits overlap.",
    )


def _spread(errors: Array) -> tuple[float, float]:
    return 100.0 * float(errors.mean()), 100.0 * float(errors.std(ddof=1))


EXAMPLES: tuple[Callable[[], Table], ...] = (coordinate_descent,)
"""What computes each example."""
