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
class Slow:
    def __call__(self, orders):
        begun.set()
        time.sleep(0.2)
        return 0.01 * orders

accountant = tn.RdpAccountant().compose(tn.RdpCurve.of_function(Slow()))
accountant.compose(tn.RdpCurve([2.0, 4.0], [0.1, 0.2]))
reader = threading.Thread(target=lambda: accountant.curve)  # sums up, and lets nobody add
reader.start()
begun.wait()

def goes_on():
    accountant.compose(tn.Gaussian(1.0))
    return accountant.steps == 3

fork(goes_on)
reader.join()
"""

BUSY = """
accountant = tn.RdpAccountant()
stop = threading.Event()

def release():
    number = 0
    while not stop.is_set():
        number += 1
        accountant.step(1.0 + number % 7, 0.01)
        accountant.compose(tn.RdpCurve([2.0, 4.0], [0.1, 0.2]))

def is_whole():
    state = accountant.state_dict()
    resumed = tn.RdpAccountant()
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

IMPORTS = """
import sys
import numpy as np
import tightnoise as tn

before = set(sys.modules)
values = np.ones(50)
accountant = tn.RdpAccountant()
accountant.step(1.0, 0.01)
accountant.load_state_dict(accountant.state_dict())
repr(accountant)
rectified = tn.RectifiedGaussian(1.0, -1.0, 1.0)
rectified.sample(values)
rectified.rdp(values, sensitivity=0.1).epsilon(1e-5)
rectified.rdp(tn.Sketch.of(values, -1.0, 1.0), sensitivity=0.1).epsilon(1e-5)
(tn.accounting.privacy_loss(tn.Laplace(1.0), sensitivity=1.0) * 10).epsilon(1e-5)
tn.accounting.kairouz_oh_viswanath(0.1, 0.0, 1000, 1e-6)
tn.bayes_capacity(tn.VonMisesFisher(75.0, 100))
tn.calibrate.noise_multiplier(2.0, 1e-6, sampling_rate=0.01, steps=100)
tn.calibrate.gaussian_scale_mixture(2.0, 1e-3, 1.0)
tn.release_bounded(41.0, 1.0, 0.0, 120.0, 5.0)
assert set(sys.modules) == before, sorted(set(sys.modules) - before)
"""


def run(code):
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("at_work", [ACCOUNTANT, BUSY, PROPERTY])
def test_a_child_forked_meanwhile_does_not_hang(at_work):
    run(START + at_work)


def test_nothing_is_imported_after_the_package():
    """A module that another thread is importing at the fork stays locked in the child."""
    run(IMPORTS)
