"""Threads that share a stream, an accountant, a filter or a mechanism: nothing is lost or doubled.

With the global lock of the interpreter threads take turns; in a build of Python without it they do
not, and the same must hold (CI runs these tests in one).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import tightnoise as tn

THREADS = 8


@pytest.fixture(autouse=True)
def _take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(work: Callable[[int], object]) -> list[object]:
    """Return what so many threads return that start together."""
    found: list[object] = [None] * THREADS
    failed: list[BaseException] = []
    gate = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            gate.wait()
            found[number] = work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    return found


@pytest.mark.parametrize("seed", [None, 5])
def test_no_two_threads_draw_the_same_from_one_stream(seed):
    stream = tn.random.NoiseStream(seed)
    drawn = at_once(lambda _: [stream.uniform(4).tobytes() for _ in range(200)])
    assert len({one for many in drawn for one in many}) == THREADS * 200
    if seed is not None:  # all of them are those that one thread would have drawn
        again = tn.random.NoiseStream(seed)
        alone = {again.uniform(4).tobytes() for _ in range(THREADS * 200)}
        assert alone == {one for many in drawn for one in many}


@pytest.mark.parametrize("seed", [None, 5])
def test_no_two_threads_draw_the_same_from_one_numpy_generator(seed):
    generator = np.random.Generator(tn.random.NoiseStream(seed).bit_generator())
    drawn = at_once(lambda _: [generator.integers(2**63, size=8).tobytes() for _ in range(200)])
    assert len({one for many in drawn for one in many}) == THREADS * 200


def test_one_mechanism_for_all():
    mechanism = tn.TruncatedGaussian(1.0, -1.0, 1.0)
    theta = np.linspace(-1.0, 1.0, 50)

    def work(number: int) -> bytes:
        cost = mechanism.cost_at(theta, coordinate_sensitivity=0.1).epsilon(1e-5)
        law = mechanism.cdf(theta, 0.3)
        noisy = mechanism.sample(theta, rng=tn.random.NoiseStream(seed=number))
        return np.concatenate([[cost], law, noisy]).tobytes()

    assert at_once(work) == [work(number) for number in range(THREADS)]


def test_an_accountant_counts_every_step():
    accountant = tn.Accountant()
    leaf = tn.Laplace(20.0).cost(sensitivity=1.0)

    def work(number: int) -> None:
        for i in range(100):
            accountant.step(1.0 + number % 3, 0.01)
            if i % 10 == 0:
                accountant.compose(leaf)
                accountant.state_dict()

    at_once(work)
    assert accountant.steps == THREADS * 110
    assert dict(accountant.cost.terms)[leaf.terms[0][0]] == THREADS * 10


def test_a_filter_never_spends_more_than_there_is():
    budget = tn.PrivacyFilter(1.0)
    each = tn.Cost.of_pure(0.01)

    def work(number: int) -> int:
        spent = 0
        for _ in range(50):
            try:
                budget.spend(each)
            except tn.BudgetError:
                continue
            spent += 1
        return spent

    assert sum(at_once(work)) in (99, 100)  # 100 of them round to 1.0000000000000007


def test_costs_are_computed_by_all_and_are_the_same():
    cost = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson") * 100
    expected = (tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson") * 100).epsilon(1e-6)
    assert set(at_once(lambda _: cost.epsilon(1e-6))) == {expected}
