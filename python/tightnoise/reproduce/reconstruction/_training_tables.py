"""The tables of what is learned, and of what it costs."""

from __future__ import annotations

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Table, mean_and_error
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import DECAY
from tightnoise.reproduce.reconstruction._printed import ACCURACY, ALONE, BATCHES, SIGMA
from tightnoise.reproduce.reconstruction._scope import Scope
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON

__all__ = ["accuracies", "baselines", "epsilons", "equal_accuracies"]


def epsilons(scope: Scope) -> Table:
    return Table.of(
        f"Epsilon at delta 1/{len(scope.task.train)} of {scope.steps} batches of {BATCH}, "
        "and log capacities of one release",
        "kappa",
        (
            *("printed", "add-remove", "replace-one", "capacity"),
            *("sigma", "add-remove", "replace-one", "radius 1", f"radius {BATCH}"),
        ),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                scope.paper_epsilon(directions),
                scope.epsilon(directions),
                capacity(directions, scope.weights, 1),
                f"{SIGMA[kappa]:g}",
                scope.paper_epsilon(gaussian),
                scope.epsilon(gaussian),
                capacity(gaussian, scope.weights, 1),
                capacity(gaussian, scope.weights, BATCH),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        },
        "Printed: of 3 releases with directions, 1407 with the Gaussian. Add-remove: of Poisson "
        "samples. Replace-one: of batches of a fixed size, as the paper's algorithms and its "
        "neighbours have them; a replaced record moves the sum by 2. Directions may turn around in "
        "either relation.",
        f"The sum of {BATCH} clipped gradients lies in a ball of radius {BATCH}; the paper takes 1 "
        "(and prints the number of layers).",
    )


def baselines(scope: Scope, results: Results) -> Table:
    none = Noise("none")
    decayed = scope.accuracies(results, none, decay=DECAY)
    return Table.of(
        "Accuracy without noise (section VII-A)",
        "training",
        ("printed", "ours", "se"),
        {
            "without noise": (ALONE, *mean_and_error(scope.accuracies(results, none))),
            f"the same, weight decay {DECAY:g}": (ALONE, *mean_and_error(decayed)),
            "clipped, without noise": (
                None,
                *mean_and_error(scope.accuracies(results, Noise("clip"))),
            ),
        },
        f"{scope.what}. Adam with a rate of 0.005 and the paper's weight decay shrinks all weights "
        "until the network tells nothing apart. All other runs are without decay.",
    )


def accuracies(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    return Table.of(
        f"Accuracy, batches of {batch} (Figure 2, Table V)",
        "kappa",
        ("printed", "directions", "se", "sigma", "printed", "Gaussian", "se"),
        {
            kappa: (
                ACCURACY[kappa][0][at],
                *mean_and_error(scope.accuracies(results, directions, batch)),
                f"{SIGMA[kappa]:g}",
                ACCURACY[kappa][1][at],
                *mean_and_error(scope.accuracies(results, gaussian, batch)),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        },
        f"{scope.what}. Pairs to which the paper ascribes one epsilon; see the first table.",
    )


def equal_accuracies(scope: Scope, results: Results) -> Table:
    return Table.of(
        "Accuracy at equal privacy: all batches counted, a replaced record in all three",
        "kappa",
        ("epsilon", "directions", "se", "sigma", "Gaussian", "se", "kappa'", "lifted", "se"),
        {
            kappa: (
                scope.epsilon(directions),
                *mean_and_error(scope.accuracies(results, directions)),
                gaussian.parameter,
                *mean_and_error(scope.accuracies(results, gaussian)),
                lifted.parameter,
                *mean_and_error(scope.accuracies(results, lifted)),
            )
            for kappa, (directions, gaussian, lifted) in scope.equals()
        },
        "Sigma: 2/mu, where the directions are mu-GDP: the Gaussian costs within 1 % of what they "
        "cost. Lifted: directions beside an anchor of 64, with the same mu; they cost less.",
    )
