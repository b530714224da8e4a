"""Long calls of the core end when a signal asks for it, and leave things in order."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from noise_laws import refined

import tightnoise as tn
from tightnoise import _core

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")

AFTER = 0.1  # seconds: when the signal comes
LIMIT = 10.0  # seconds from there: a moment, on a machine that is not busy
MANY = 200_000  # elements that take minutes

LATTICE = np.arange(30.0)
LEVELS = np.exp(-0.05 * LATTICE)
MULTI_GAUSSIAN = tn.MultiGaussianMixture(0.2757, 3.0, 1.0, 7)


class Interrupted(Exception):
    pass


@pytest.fixture
def interrupt():
    """Return interrupt(function): call it, send a signal, and return how late it ended."""
    came = []

    def handle(*_):
        came.append(time.perf_counter())
        raise Interrupted

    def run(function):
        signal.setitimer(signal.ITIMER_REAL, AFTER)
        try:
            with pytest.raises(Interrupted):
                function()
            return time.perf_counter() - came[-1]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, handle)
    yield run
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=[1, 2])
def threads(request):
    used = tn.num_threads()
    tn.set_num_threads(request.param)
    yield
    tn.set_num_threads(used)


def deltas(noise, first, last):
    """Ask for the profile of noise on one number at many epsilons in one call."""
    epsilons, out = np.linspace(first, last, MANY), np.empty(MANY)
    noise._law.delta(epsilons, np.ones(()), out)


def exact_pass():
    """Ask for the costs of many coordinates one by one."""
    one, theta = np.ones(1), np.linspace(-1.0, 1.0, 20 * MANY)
    orders = np.linspace(1.1, 40.0, 64)
    sums = np.empty(64), np.empty(64)
    _core.quantized.rdp_sums(orders, one, theta, one, -one, one, 4, theta.size, *sums)


def refined_row():
    """Sample a direction with all bits everywhere."""
    x = np.ones(MANY)
    with refined():
        source = _core.random.NoiseSource(bytes(32))
        _core.random.sample_von_mises_fisher(x, 5.0, np.empty(MANY), source, 2.0**-10)


LONG = {
    "shifts of a multi-Gaussian": lambda: deltas(MULTI_GAUSSIAN, 1.0, 3.0),
    "shifts of a quasi-Gaussian": lambda: deltas(
        tn.QuasiGaussianMixture(0.228, 5.0, 1.0), 1.0, 5.0
    ),
    "shifts of a scale mixture": lambda: deltas(
        tn.GaussianScaleMixture(LATTICE, LEVELS / LEVELS.sum(), np.full(30, 0.4)), 0.01, 3.0
    ),
    "a profile to be composed": lambda: MULTI_GAUSSIAN._law.worst_shift_curve(
        1.0, np.linspace(0.0, 10.0, MANY), 1e-12, np.empty(MANY)
    ),
    "sigmas of intervals": lambda: _core.domain.truncated_sigma_at(
        np.linspace(0.1, 1.0, 20 * MANY), *map(np.array, (1e-5, 10.0, 1.0)), np.empty(20 * MANY)
    ),
    "scales of a box": lambda: _core.domain.ball_scale(
        "truncated", np.linspace(1.0, 2.0, MANY), 1.0, np.geomspace(0.1, 1.0, 9000), np.empty(9000)
    ),
    "coordinates one by one": exact_pass,
    "numbers to be clipped and summed": lambda: tn.exact_sum(
        np.zeros(1000 * MANY, np.float32), bound=1.0, capacity=2**28
    ),
    "a direction with all bits": refined_row,
    "keystream": lambda: _core.random.chacha20_keystream(bytes(32), 0, 0, 10 * MANY),
}


@pytest.mark.parametrize("name", LONG)
def test_long_calls_end(name, interrupt, threads):
    assert interrupt(LONG[name]) < LIMIT


def test_what_was_interrupted_can_be_asked_again(interrupt):
    losses = np.linspace(1.0, 3.0, 40)
    expected = MULTI_GAUSSIAN.cost(sensitivity=1.0).delta(losses)
    interrupt(LONG["shifts of a multi-Gaussian"])
    interrupt(lambda: MULTI_GAUSSIAN.cost(sensitivity=1.0).delta(np.linspace(1.0, 3.0, MANY)))
    assert np.array_equal(MULTI_GAUSSIAN.cost(sensitivity=1.0).delta(losses), expected)


def test_noise_that_was_not_finished_is_never_drawn_again(interrupt):
    theta = np.zeros((20 * MANY, 3))
    theta[:, 0] = 1.0
    mechanism = tn.VonMisesFisher(10.0, 3)
    rng, other = tn.random.NoiseStream(1), tn.random.NoiseStream(1)

    def draw_on():
        while True:
            mechanism.sample(theta, rng=rng)

    interrupt(draw_on)
    first = mechanism.sample(theta[:4], rng=other)
    assert not np.array_equal(mechanism.sample(theta[:4], rng=rng), first)


def test_other_threads_are_left_alone_by_signals_and_end_on_request(interrupt):
    ended = threading.Event()

    def work():
        try:
            LONG["shifts of a multi-Gaussian"]()
        except KeyboardInterrupt:
            ended.set()

    threading.Thread(target=work, daemon=True).start()
    assert interrupt(lambda: ended.wait(60.0)) < LIMIT
    assert not ended.is_set()
    _core.end_long_work(True)
    try:
        assert ended.wait(LIMIT)
    finally:
        _core.end_long_work(False)


def test_a_process_ends_while_daemon_threads_work():
    script = """
import threading, time
import numpy as np
import tightnoise as tn

noise, zeros = tn.Gaussian(1.0), np.zeros(200_000)
step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.01, "poisson")

def sample():
    while True:
        noise.sample(zeros)

def account():
    for count in range(1, 10**9):
        (step * count).epsilon(1e-6)

for work in (sample, account, sample, account):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
