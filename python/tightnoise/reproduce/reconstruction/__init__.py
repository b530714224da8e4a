"""Biswas et al. (2025): what attackers rebuild from noisy gradients, run anew on images.

"Comparing privacy notions for protection against reconstruction attacks in machine learning" trains
a network of 13,700 weights on images of 16 x 16 pixels, with Gaussian noise and with von
Mises-Fisher noise on directions, and attacks the gradients. What its epsilons are is told by
`reproduce.vmf`; here are its experiments (figures 1 to 6, Tables II, III, V and VI), each beside
the printed numbers, and then at equal privacy. Needs PyTorch (extra `torch`), and scikit-learn if
no data are given.

What differs from the paper, and why:

- **Weight decay.** With the stated 0.1 the network learns nothing. All runs are without.
- **Steps, not epochs**; and a record that is replaced, as in the paper's neighbours, moves a sum
  of clipped gradients by 2. The Gaussian that costs what concentration kappa costs has
  sigma = 2/mu = sqrt(p - 3)/kappa.
- **Capacity.** The sum of 128 clipped gradients lies in a ball of radius 128.
- **MSE.** The printed ones are in units of the pixels' variance: all with noise are worse than a
  grey image, and than the mean of all images, for which no gradient is needed.
- The paper attacks for 10,000 iterations: so does `full`.

Beside the runs stands what is printed of MNIST if the data are MNIST's, and of Fashion-MNIST
otherwise.
"""

from __future__ import annotations

from tightnoise.reproduce._study import Plan, Settings, Study

__all__ = ["STUDY"]


def _planned(settings: Settings) -> Plan:
    try:
        import tightnoise.torch  # noqa: F401
    except ImportError as error:
        raise ModuleNotFoundError(str(error)) from error  # says what to install
    from tightnoise.reproduce._images import read_images
    from tightnoise.reproduce.reconstruction import _figures, _network, _plan, _tables

    _plan.check_batches(settings.batches)
    task = _network.task(read_images(settings.data))
    scope = _plan.Scope.of(task, settings.seeds, full=settings.full, batches=settings.batches)
    return Plan(
        about=_plan.about(scope),
        cells=_plan.cells(scope),
        tables=lambda results: _tables.tables(scope, results),
        draw=lambda results, file: _figures.draw(scope, results, file),
    )


STUDY = Study(
    title="Comparing privacy notions for protection against reconstruction attacks in machine "
    "learning",
    authors="Sayan Biswas, Mark Dras, Pedro Faustini, Natasha Fernandes, Annabelle McIver, "
    "Catuscia Palamidessi and Parastoo Sadeghi",
    year=2025,
    seeds=2,
    plan=_planned,
)
"""The study, as `tightnoise reproduce` has it."""
