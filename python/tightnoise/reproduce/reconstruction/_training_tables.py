"""The tables of what is learned, and of what it costs."""

from __future__ import annotations

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Cell, Row, Table, wrapped
from tightnoise.reproduce.reconstruction._cells import of_what, spread
from tightnoise.reproduce.reconstruction._costs import epsilon, paper_epsilon
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import DECAY
from tightnoise.reproduce.reconstruction._printed import ACCURACY, ALONE, BATCHES, SIGMA
from tightnoise.reproduce.reconstruction._scope import Scope
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON

__all__ = ["accuracies", "baselines", "epsilons", "equal_accuracies"]


def epsilons(scope: Scope) -> Table:
    return Table(
        f"Epsilon at delta 1/{len(scope.task.train)} of {scope.steps} batches of {BATCH}, "
        "and log capacities of one release",
        "kappa",
        (
            *("printed", "add-remove", "replace-one", "capacity"),
            *("sigma", "add-remove", "replace-one", "radius 1", f"radius {BATCH}"),
        ),
        tuple(
            Row(
                kappa,
                (
                    Cell(None, PRINTED_EPSILON[kappa]),
                    Cell(paper_epsilon(scope, directions)),
                    Cell(epsilon(scope, directions)),
                    Cell(capacity(directions, scope.weights, 1)),
                    Cell(None, f"{SIGMA[kappa]:g}"),
                    Cell(paper_epsilon(scope, gaussian)),
                    Cell(epsilon(scope, gaussian)),
                    Cell(capacity(gaussian, scope.weights, 1)),
                    Cell(capacity(gaussian, scope.weights, BATCH)),
                ),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        ),
        wrapped(
            "Printed: of 3 releases with directions, 1407 with the Gaussian. Add-remove: of "
            "Poisson samples. Replace-one: of batches of a fixed size, as the paper's algorithms "
            "and its neighbours have them; a replaced record moves the sum by 2. Directions may "
            "turn around in either relation.",
            f"The sum of {BATCH} clipped gradients lies in a ball of radius {BATCH}; the paper "
            "takes 1 (and prints the number of layers).",
        ),
    )


def baselines(scope: Scope, results: Results) -> Table:
    none = Noise("none")
    rows = (
        ("without noise", scope.accuracies(results, none), ALONE),
        (f"the same, weight decay {DECAY:g}", scope.accuracies(results, none, decay=DECAY), ALONE),
        ("clipped, without noise", scope.accuracies(results, Noise("clip")), None),
    )
    return Table(
        "Accuracy without noise (section VII-A)",
        "training",
        ("printed", "ours", "se"),
        tuple(Row(name, (Cell(None, printed), *spread(values))) for name, values, printed in rows),
        wrapped(
            f"{of_what(scope)}. Adam with a rate of 0.005 and the paper's weight decay shrinks all "
            "weights until the network tells nothing apart. All other runs are without decay.",
        ),
    )


def accuracies(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    return Table(
        f"Accuracy, batches of {batch} (Figure 2, Table V)",
        "kappa",
        ("printed", "directions", "se", "sigma", "printed", "Gaussian", "se"),
        tuple(
            Row(
                kappa,
                (
                    Cell(None, ACCURACY[kappa][0][at]),
                    *spread(scope.accuracies(results, directions, batch)),
                    Cell(None, f"{SIGMA[kappa]:g}"),
                    Cell(None, ACCURACY[kappa][1][at]),
                    *spread(scope.accuracies(results, gaussian, batch)),
                ),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        ),
        wrapped(
            f"{of_what(scope)}. Pairs to which the paper ascribes one epsilon; see the first table."
        ),
    )


def equal_accuracies(scope: Scope, results: Results) -> Table:
    return Table(
        "Accuracy at equal privacy: all batches counted, a replaced record in all three",
        "kappa",
        ("epsilon", "directions", "se", "sigma", "Gaussian", "se", "kappa'", "lifted", "se"),
        tuple(
            Row(
                kappa,
                (
                    Cell(epsilon(scope, directions)),
                    *spread(scope.accuracies(results, directions)),
                    Cell(gaussian.parameter),
                    *spread(scope.accuracies(results, gaussian)),
                    Cell(lifted.parameter),
                    *spread(scope.accuracies(results, lifted)),
                ),
            )
            for kappa, (directions, gaussian, lifted) in scope.equals()
        ),
        wrapped(
            "Sigma: 2/mu, where the directions are mu-GDP: the Gaussian costs within 1 % of what "
            "they cost. Lifted: directions beside an anchor of 64, with the same mu; they cost "
            "less.",
        ),
    )
