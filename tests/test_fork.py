"""A child that is forked while another thread is at work finds no lock held and no import begun."""

import os
import subprocess
import sys

import pytest

START = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads alive is the point
import tightnoise as tn
from tightnoise._cached import cached_property

begun = threading.Event()

def fork(check):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # ends a child that hangs
        os._exit(0 if check() else 1)
    assert os.waitpid(pid, 0)[1] == 0, "the child hangs, or its past is half changed"
"""

ACCOUNTANT = """
import tightnoise._accountant as ledger

def slowly(*arguments):
    begun.set()
    time.sleep(0.2)
    return summed(*arguments)

accountant = tn.Accountant().compose(tn.Cost.of_rdp([2.0, 4.0], [0.1, 0.2]))
accountant.step(1.0, 0.01)
summed, ledger.Cost._of = tn.Cost._of, slowly
reader = threading.Thread(target=lambda: accountant.cost)  # sums up, and lets nobody add
reader.start()
begun.wait()
ledger.Cost._of = summed

def goes_on():
    accountant.compose(tn.Gaussian(1.0).cost(sensitivity=1.0))
    return accountant.steps == 3

fork(goes_on)
reader.join()
"""

BUSY = """
accountant, budget = tn.Accountant(), tn.PrivacyFilter(1e9)
stop = threading.Event()

def release():
    number = 0
    while not stop.is_set():
        number += 1
        accountant.step(1.0 + number % 7, 0.01)
        accountant.compose(tn.Cost.of_rdp([2.0, 4.0], [0.1, 0.2]))
        budget.spend(tn.Cost.of_pure(0.1))

def is_whole():
    budget.spend(tn.Cost.of_pure(0.1))
    state = accountant.state_dict()
    resumed = tn.Accountant()
    resumed.load_state_dict(state)  # counts what is there
    accountant.step(1.0, 0.01)
    return accountant.steps == resumed.steps + 1

sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=release) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(40):
    fork(is_whole)
stop.set()
for thread in threads:
    thread.join()
"""

PROPERTY = """
class Computed:
    @cached_property
    def value(self):
        begun.set()
        time.sleep(0.2)
        return 7

shared = Computed()
reader = threading.Thread(target=lambda: shared.value)
reader.start()
begun.wait()
fork(lambda: shared.value == 7)
reader.join()
"""

GENERATOR = """
import numpy as np

generator = np.random.Generator(tn.random.NoiseStream().bit_generator())
seen = generator.integers(2**63, size=3)  # the rest of the batch is in memory
stop = threading.Event()

def draw():
    while not stop.is_set():
        generator.standard_normal(5000)  # holds the lock

def is_new():
    child = generator.integers(2**63, size=200)
    os.write(writing, child.tobytes())
    return True

thread = threading.Thread(target=draw)
thread.start()
drawn = []
for _ in range(20):
    reading, writing = os.pipe()
    fork(is_new)
    drawn.append(os.read(reading, 1600))
    os.close(reading), os.close(writing)
stop.set()
thread.join()
words = np.frombuffer(b"".join(drawn), np.int64)
assert words.size == 4000 and np.unique(words).size == 4000  # each child has words of its own

quiet = np.random.Generator(tn.random.NoiseStream().bit_generator())
quiet.integers(2**63, size=3)
reading, writing = os.pipe()

def is_apart():
    os.write(writing, quiet.integers(2**63, size=20).tobytes())
    return True

fork(is_apart)
theirs = np.frombuffer(os.read(reading, 160), np.int64)
assert not np.isin(quiet.integers(2**63, size=20), theirs).any()
"""

IMPORTS = """
import sys
import numpy as np
import tightnoise as tn

before = set(sys.modules)
values = np.ones(50)
accountant = tn.Accountant()
accountant.step(1.0, 0.01)
accountant.load_state_dict(accountant.state_dict())
repr(accountant)
repr(tn.PrivacyFilter(1.0, 1e-5, by="gdp").spend(tn.Gaussian(9.0).cost(sensitivity=1.0)))
repr(tn.PrivacyOdometer(1e-5).spend(tn.Cost.of_pure(0.1)))
rectified = tn.RectifiedGaussian(1.0, -1.0, 1.0)
rectified.sample(values)
rectified.cost_at(values, coordinate_sensitivity=0.1).epsilon(1e-5)
sketch = tn.Sketch.of(values, -1.0, 1.0)
rectified.cost_at(sketch, coordinate_sensitivity=0.1).epsilon(1e-5)
rectified.cost(sensitivity=0.1, domain=(-1.0, 1.0)).epsilon(1e-5)
plan = tn.Laplace(1.0).cost(sensitivity=1.0) * 10 + tn.Cost.of_approximate(0.1, 0.0) * 1000
plan.sampled(0.1, "poisson").explain(1e-5)
plan.tradeoff(0.1)
tn.log_bayes_capacity(tn.VonMisesFisher(75.0, 100))
tn.calibrate.noise_multiplier(2.0, 1e-6, sampling_rate=0.01, steps=100)
tn.calibrate.multi_gaussian(1.0, 1e-3, sensitivity=1.0)
tn.release_bounded(41.0, 1.0, lower=0.0, upper=120.0, sensitivity=5.0)
assert set(sys.modules) == before, sorted(set(sys.modules) - before)
"""


def run(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("at_work", [ACCOUNTANT, BUSY, PROPERTY, GENERATOR])
def test_a_child_forked_meanwhile_does_not_hang(at_work):
    child = run(START + at_work)  # raises where it hangs
    assert child.returncode == 0, child.stderr


def test_nothing_is_imported_after_the_package():
    """A module that another thread is importing at the fork stays locked in the child."""
    process = run(IMPORTS)
    assert process.returncode == 0, process.stderr
