"""The figures, a panel each: what less variance is worth, and what bounded outputs tell."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import IO

import numpy as np

from tightnoise._figures import BLACK, BLUE, DASHED, GREEN, ORANGE, Axes, finish, write_panels
from tightnoise.reproduce.bounded._errata import printed_rectified_information
from tightnoise.reproduce.bounded._leakage import GAUSSIAN, MECHANISMS, eta, one_shift, sound
from tightnoise.reproduce.bounded._noises import (
    EPSILONS,
    LAPLACE,
    MIDDLE,
    SIGMA,
    gaussian_averages,
    laplace_averages,
)
from tightnoise.reproduce.bounded._table_one import PRINTED, percent_less
from tightnoise.reproduce.bounded._univariate import MIDDLE as MIDDLE_OF_ONE
from tightnoise.reproduce.bounded._univariate import average_error, mechanisms

COLUMNS = 4

_PRINTED = np.array(list(PRINTED.values()), dtype=np.float64).T

GRID = [float(epsilon) for epsilon in np.geomspace(0.1, 3.0, 20)]


def _sigmas(method: str) -> list[float]:
    return [SIGMA[method](epsilon) for epsilon in GRID]


def _draw_variance(axes: Axes) -> None:
    for texts in _PRINTED[:2]:
        axes.plot(EPSILONS, texts, "o", color=ORANGE)
    for method, label, style in (
        ("generalized", "generalized Gaussian", {"color": GREEN}),
        ("Theorem 13", "bounded Gaussian, Theorem 13", {"color": ORANGE}),
        ("ball", "exact, L2 sensitivity", {"color": BLUE}),
        ("box", "exact, of each coordinate", {"color": BLACK, "linestyle": DASHED}),
    ):
        axes.plot(GRID, [sigma**2 for sigma in _sigmas(method)], label=label, **style)
    axes.plot([], [], "o", color=ORANGE, label="as printed in Table 1")
    axes.set(title="sigma^2 of the noise (Figure 1)", yscale="log")
    finish(axes, "upper right", xlabel="epsilon")


def _draw_reduction(axes: Axes) -> None:
    axes.plot(EPSILONS, _PRINTED[2], "^", color=ORANGE, label="as printed")
    base = _sigmas("generalized")
    for method, color, name in (
        ("Theorem 13", ORANGE, "Theorem 13"),
        ("ball", BLUE, "exact, L2 sensitivity"),
    ):
        sigmas = _sigmas(method)
        for of, style, label in (
            (lambda sigma: sigma**2, "-", "sigma^2"),
            (lambda sigma: gaussian_averages(sigma).variance, DASHED, "variance of the output"),
        ):
            less = list(map(percent_less, map(of, sigmas), map(of, base)))
            axes.plot(GRID, less, color=color, linestyle=style, label=f"{label}, {name}")
    axes.set(
        title="Below the generalized Gaussian, in %", ylim=(0.0, 125.0), yticks=range(0, 101, 20)
    )
    finish(axes, "upper left", xlabel="epsilon")


def _draw_error(axes: Axes) -> None:
    for method, color, label in (
        ("generalized", GREEN, "generalized Gaussian"),
        ("Theorem 13", ORANGE, "bounded Gaussian, Theorem 13"),
        ("ball", BLUE, "exact, L2 sensitivity"),
    ):
        errors = [gaussian_averages(sigma).square for sigma in _sigmas(method)]
        axes.plot(GRID, errors, color=color, label=label)
    scales = [LAPLACE["ball"](epsilon) for epsilon in GRID]
    errors = [laplace_averages(scale).square for scale in scales]
    axes.plot(GRID, errors, color=BLACK, label="bounded Laplace, L2 sensitivity")
    axes.axhline(MIDDLE, color=BLACK, linestyle=DASHED, label="always the middle, at no cost")
    axes.set(title="Mean squared error of the output", ylim=(0.0, None))
    finish(axes, "lower left", xlabel="epsilon")


def _draw_error_of_one(axes: Axes) -> None:
    for sensitivity, style in ((4.0, "-"), (1.0, DASHED)):
        choices = [mechanisms(epsilon, sensitivity) for epsilon in GRID]
        for name, color, label in (
            ("theorem", ORANGE, "Theorem 6"),
            ("exact", BLUE, "exact"),
            ("laplace", BLACK, "bounded Laplace"),
        ):
            errors = [average_error(getattr(choice, name)) for choice in choices]
            text = f"{label}, sensitivity {sensitivity:g}"
            axes.plot(GRID, errors, color=color, linestyle=style, label=text)
    axes.axhline(MIDDLE_OF_ONE, color=GREEN, label="always the middle, at no cost")
    axes.set(title="The same for one number in [0, 10]", ylim=(0.0, 27.0))
    finish(axes, "upper right", xlabel="epsilon")


COLORS = {"rectified": ORANGE, "truncated": BLUE, "sign": GREEN}
THETAS = np.linspace(-3.0, 3.0, 121)


def _draw_loss(axes: Axes, sigma: float) -> None:
    axes.axhline(GAUSSIAN[sigma][0], color=BLACK, label="Gaussian")
    for name, of_sigma in MECHANISMS.items():
        mechanism = of_sigma(sigma)
        losses = [eta(mechanism, float(theta)) for theta in THETAS]
        axes.plot(THETAS, losses, color=COLORS[name], label=name)
    axes.plot(
        THETAS,
        [_printed_eta(float(theta), sigma) for theta in THETAS],
        color=COLORS["rectified"],
        linestyle=DASHED,
        label="as printed: Eq. (4), if not negative",
    )
    axes.set(title=f"Fisher information loss, sigma {sigma:g}", xlabel="theta")
    _finish(axes, GAUSSIAN[sigma][0])


def _printed_eta(theta: float, sigma: float) -> float:
    squared = printed_rectified_information(theta, sigma)
    return math.sqrt(squared) if squared >= 0.0 else math.nan


def _draw_cost(axes: Axes, sigma: float) -> None:
    axes.axhline(GAUSSIAN[sigma][1], color=BLACK, label="Gaussian")
    for name, of_sigma in MECHANISMS.items():
        mechanism = of_sigma(sigma)
        for rule, style, label in ((sound, "-", name), (one_shift, DASHED, None)):
            costs = [rule(mechanism, float(theta)) for theta in THETAS]
            axes.plot(THETAS, costs, color=COLORS[name], linestyle=style, label=label)
    axes.plot([], [], color=BLACK, linestyle=DASHED, label="as printed: Algorithm 1")
    axes.set(title=f"Per-instance Renyi cost of order 2, sigma {sigma:g}", xlabel="theta")
    _finish(axes, GAUSSIAN[sigma][1])


def _finish(axes: Axes, highest: float) -> None:
    axes.set(ylim=(0.0, 1.35 * highest))  # the legend above the curves
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", ncols=2)


OF_LEAKAGE = tuple(
    functools.partial(draw, sigma=sigma) for draw in (_draw_loss, _draw_cost) for sigma in GAUSSIAN
)
OF_TABLE_ONE = (_draw_variance, _draw_reduction, _draw_error, _draw_error_of_one)
PANELS: tuple[Callable[[Axes], None], ...] = (*OF_TABLE_ONE, *OF_LEAKAGE)
"""What draws each panel into matplotlib axes."""


def draw(file: IO[bytes]) -> None:
    """Draw the panels into a PNG file; ImportError without matplotlib."""
    rows = math.ceil(len(PANELS) / COLUMNS)
    write_panels(file, PANELS, (5.4 * COLUMNS, 4.8 * rows), rows=rows, dpi=110)
