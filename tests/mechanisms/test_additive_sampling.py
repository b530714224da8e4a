"""Samplers of additive noise against their distribution functions.

Fixed seeds. A comparison fails a correct sampler with probability 1e-9 under a random seed, and
there are fewer than 1000 of them: 1e-6 in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from noise_laws import COINS, block, draw, key_of, keystream
from reference import rounded_noise
from scipy import stats

import tightnoise as tn
from tightnoise import _core

ALARM = 1e-9
BOTH_TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


# What knows the distribution functions: of 50 digits in test_scipy_protocol.
MECHANISMS = {
    "multi_gaussian": tn.MultiGaussianMixture,
    "quasi_gaussian": tn.QuasiGaussianMixture,
    "scale_mixture": tn.GaussianScaleMixture,
    "laplace": tn.Laplace,
    "truncated_laplace": tn.TruncatedLaplace,
    "tulap": lambda width, epsilon, bound: tn.Tulap(epsilon, width, bound),
    "staircase": lambda width, epsilon, gamma: tn.Staircase(epsilon, width, gamma),
}


@dataclass(frozen=True)
class Case:
    law: str
    parameters: tuple

    def __str__(self) -> str:
        shown = (p if np.ndim(p) == 0 else f"{len(p)} numbers" for p in self.parameters)
        return f"{self.law} {', '.join(map(str, shown))}"


MIXTURE = (
    np.array([0.0, 0.43, 2.0, 3.0, 3.0]),
    np.array([0.6, 0.2, 0.1, 0.05, 0.05]),
    np.array([0.01, 0.3, 0.1, 2.0, 1e-3]),
)
CASES = [
    *(
        Case("multi_gaussian", (sigma, epsilon, sensitivity, modes))
        for (sigma, sensitivity), (epsilon, modes) in product(
            [(0.3, 1.0), (1e-3, 1.0), (5.0, 0.1)], [(1.0, 0), (2.0, 1), (0.25, 20), (0.01, 500)]
        )
    ),
    *(
        Case("quasi_gaussian", parameters)
        for parameters in [
            (0.5, 1.0, 1.0),
            (0.05, 0.1, 2.0),
            (10.0, 0.5, 1.0),
            (1e6, 1e-9, 1.0),
            (0.3, 20.0, 1.0),
            (1e-8, 2.0, 3.0),
            (1.0, 700.0, 1.0),
        ]
    ),
    Case("scale_mixture", MIXTURE),
    Case("scale_mixture", (np.array([0.0]), np.array([1.0]), np.array([2.0]))),
    Case("scale_mixture", (np.arange(400.0), np.full(400, 1 / 400), np.full(400, 0.1))),
    *(Case("laplace", (scale,)) for scale in [1.0, 1e-6, 2e5]),
    *(
        Case("truncated_laplace", parameters)
        for parameters in [(1.0, 3.0), (0.2, 12.0), (1.0, 700.0), (3.0, 1e-3), (1e-3, 1e-3)]
    ),
    *(
        Case("tulap", parameters)
        for parameters in [
            (1.0, 1.0, 5.3),
            (1.0, 1.0, np.inf),
            (2.0, 0.1, 41.0),
            (1.0, 1.0, 0.3),
            (1.0, 3.0, 0.5),
            (0.5, 2.0, 0.75),
            (1.0, 10.0, 1.0),
            (1.0, 0.02, 100.2),
        ]
    ),
    *(
        Case("staircase", parameters)
        for parameters in [
            (1.0, 1.0, 0.37754),
            (2.0, 0.1, 0.4875),
            (1.0, 6.0, 0.0474),
            (1.0, 2.0, 0.0),
            (1.0, 2.0, 1.0),
            (1.0, 1e-3, 0.5),
            (1.0, 40.0, 2e-9),
        ]
    ),
]
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=str)


@EVERY_CASE
def test_follows_its_distribution(case) -> None:
    x = draw(case.law, 0.0, *case.parameters, n=30_000)
    assert stats.kstest(x, MECHANISMS[case.law](*case.parameters).cdf).pvalue > ALARM


HAS_NORMALS = ("multi_gaussian", "scale_mixture")  # in float32: of 32 bits


@pytest.mark.parametrize("case", [c for c in CASES if c.law in HAS_NORMALS], ids=str)
def test_float32_follows_its_distribution(case) -> None:
    x = draw(case.law, 0.0, *case.parameters, n=10_000, dtype=np.float32).astype(float)
    assert stats.kstest(x, MECHANISMS[case.law](*case.parameters).cdf).pvalue > ALARM


@pytest.mark.parametrize("case", [c for c in CASES if c.law not in HAS_NORMALS], ids=str)
def test_float32_is_float64_rounded(case) -> None:
    theta = np.random.default_rng(2).uniform(-9, 9, 1000).astype(np.float32)
    wide = draw(case.law, theta.astype(float), *case.parameters, key=bytes(32))
    x = draw(case.law, theta, *case.parameters, dtype=np.float32, key=bytes(32))
    np.testing.assert_array_equal(x, wide.astype(np.float32))


@EVERY_CASE
def test_theta_is_what_noise_is_added_to(case) -> None:
    theta = np.random.default_rng(2).uniform(-9, 9, 1000)
    noise = draw(case.law, 0.0, *case.parameters, n=1000, key=bytes(32))
    np.testing.assert_array_equal(
        draw(case.law, theta, *case.parameters, key=bytes(32)), theta + noise
    )
    np.testing.assert_array_equal(
        draw(case.law, theta[7], *case.parameters, n=1000, key=bytes(32)), theta[7] + noise
    )


# --- where the random bits put a sample -----------------------------------------------------------


def words_of(law: str, key: bytes, n: int) -> list[int]:
    return keystream(key, law, 0, -(-n // 128)).view(np.uint64).tolist()[:n]


def exact_survival(law, x, *parameters):
    """P(|noise| > x), by mpmath."""
    if law.endswith("laplace"):
        return 2 * rounded_noise.laplace(*parameters)(mp.mpf(x))
    period, epsilon, last = parameters
    gamma, bound = (last, mp.inf) if law == "staircase" else (0.5, last)
    tail = rounded_noise.staircase(epsilon, period, gamma, bound if bound < mp.inf else None)
    return 2 * tail(mp.mpf(x))


@pytest.mark.parametrize(
    "case", [c for c in CASES if not c.law.endswith(("gaussian", "mixture"))], ids=str
)
def test_is_the_exact_inverse(case, check_error) -> None:
    """The magnitude is where its 63 bits put it, the sign the 64th: both ends keep their digits."""
    n = 128
    key = key_of("inverse", str(case))
    x = draw(case.law, 0.0, *case.parameters, n=n, key=key).tolist()
    with mp.workdps(40):
        worst = 0.0
        for value, word in zip(x, words_of(case.law, key, n), strict=True):
            share = (word % 2**63 + mp.mpf(0.5)) / 2**63
            assert (value < 0) == (word >> 63 == 1)
            # a relative change of x by 4e-15 or an absolute one by 4e-16 of the period goes past
            scale = case.parameters[0]
            step = 4e-15 * abs(value) + 4e-16 * scale
            bound = case.parameters[-1] if case.law in ("truncated_laplace", "tulap") else mp.inf
            low, high = max(abs(value) - step, 0), min(abs(value) + step, bound)
            above = exact_survival(case.law, low, *case.parameters)
            below = exact_survival(case.law, high, *case.parameters)
            excess = max(float((share - above) / share), float((below - share) / share), 0.0)
            worst = max(worst, excess)
    check_error("magnitude's survival, beyond the rounding of x", worst, 4e-15)


@pytest.mark.parametrize("case", [c for c in CASES if c.law == "quasi_gaussian"], ids=str)
def test_quasi_gaussian_keeps_its_upper_tail(case, check_error) -> None:
    """Algorithm 5's 1 - p loses the digits of the upper tail; compare with its exact value."""
    sigma, _, sensitivity = case.parameters
    n = 128
    key = key_of("tail", str(case))
    x = draw(case.law, 0.0, *case.parameters, n=n, key=key)
    component = Table.of(case.law, *case.parameters).components(case.law, key, n, batches=2)
    words = keystream(key, case.law, 1, 1).view(np.uint64).tolist()
    worst = 0.0
    with mp.workdps(40):
        for value, index, word in zip(x.tolist(), component.tolist(), words[:n], strict=True):
            near = (word % 2**63 + mp.mpf(0.5)) / 2**64
            above = 1 - near if word >> 63 else near
            at = mp.mpf(sensitivity) if index else mp.mpf(0)
            kept = mp.ncdf(at / sigma) if index else mp.mpf(1)
            z = (mp.mpf(value) * (-1 if index == 2 else 1) - at) / sigma
            rounding = 4e-16 * (1 + abs(value) / sigma + float(at) / sigma)
            high, low = mp.ncdf(-z + rounding) / kept, mp.ncdf(-z - rounding) / kept
            excess = max((above - high) / above, (low - above) / above, 0)
            worst = max(worst, float(excess))
    check_error("upper mass, beyond the rounding of x", worst, 1e-13)


# --- choosing components --------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """How a word chooses: the upper bits a column, the others, and 96 more, a coin."""

    threshold: list[int]  # of 2^128, times 2^bits
    alias: np.ndarray
    bits: int

    @classmethod
    def of(cls, law, *parameters):
        if law == "multi_gaussian":
            _, epsilon, _, modes = parameters
            arrays = _core.random.multi_gaussian_table(epsilon, modes)
        elif law == "quasi_gaussian":
            arrays = _core.random.quasi_gaussian_table(*parameters)
        else:
            arrays = _core.random.scale_mixture_table(np.asarray(parameters[1], float))
        high, low, packed, bits = arrays
        threshold = [h << 64 | t for h, t in zip(high.tolist(), low.tolist(), strict=True)]
        return cls(threshold, packed & np.uint32(2**bits - 1), bits)

    def shares(self) -> list[int]:
        """Return the share of 2^128 of every component."""
        total = [0] * len(self.threshold)
        for column, own in enumerate(self.threshold):
            assert own % 2**self.bits == 0
            total[column] += own >> self.bits
            total[self.alias[column]] += 2 ** (128 - self.bits) - (own >> self.bits)
        return total

    def components(self, law, key, n, batches) -> np.ndarray:
        """Return what is chosen; `batches` of words follow each of those for components."""
        first = [256 * g * (1 + batches) for g in range(-(-n // 256))]
        words = np.concatenate([keystream(key, law, f // 256, 1) for f in first])
        column = (words >> np.uint32(32 - self.bits)).astype(int)
        mask = 2**32 - 2**self.bits
        coin = (words.astype(np.uint64) << np.uint64(self.bits)) & np.uint64(0xFFFFFFFF)
        known = np.array([t >> 96 & mask for t in self.threshold], np.uint64)[column]
        own = coin < known
        for i in np.nonzero(coin == known)[0].tolist():
            a, b, c, *_ = block(key, law, COINS, first[i // 256] + i % 256)
            more = int(coin[i]) << 96 | (a << 64 | b << 32 | c) << self.bits
            own[i] = more < self.threshold[column[i]]
        return np.where(own, column, self.alias[column])[:n]


def exact_weights(law, *parameters):
    """The weights of all components, by mpmath."""
    if law == "multi_gaussian":
        _, epsilon, _, modes = parameters
        return [mp.exp(-abs(k) * mp.mpf(epsilon)) for k in range(-modes, modes + 1)]
    if law == "quasi_gaussian":
        sigma, epsilon, sensitivity = map(mp.mpf, parameters)
        side = mp.exp(-epsilon) * mp.erfc(-sensitivity / sigma / mp.sqrt(2)) / 2
        return [mp.mpf(1), side, side]
    return [mp.mpf(w) for w in parameters[1].tolist()] * 2


def mixture_of(weights):
    return Case("scale_mixture", (None, np.asarray(weights, float), None))


@pytest.mark.parametrize(
    "case",
    [
        mixture_of([1.0]),
        mixture_of([0.3, 0.7]),
        mixture_of([1e-19, 1.0, 1e-19]),
        mixture_of([1e-30, 1.0, 1e-300]),
        mixture_of([5e-324, 1e308]),
        mixture_of(np.random.default_rng(3).random(1000) ** 20),
        mixture_of(np.ones(32)),
        mixture_of(np.ones(33)),
        *(
            Case("multi_gaussian", (1.0, epsilon, 1.0, modes))
            for epsilon, modes in [(1.0, 0), (1.0, 12), (0.1, 300), (40.0, 1), (700.0, 1)]
        ),
        *(
            Case("quasi_gaussian", (sigma, epsilon, 1.0))
            for sigma, epsilon in [(0.45, 2.0), (1.0, 0.1), (0.1, 1.0), (0.03, 700.0), (99.0, 50.0)]
        ),
    ],
    ids=str,
)
def test_components_have_their_shares(case) -> None:
    """Every one next above its weight times 2^128 less their number; the largest what is left."""
    shares = Table.of(case.law, *case.parameters).shares()
    with mp.workdps(150):
        weights = exact_weights(case.law, *case.parameters)
        n = len(weights)
        total = mp.fsum(weights)
        expected = [int(mp.floor(w / total * (2**128 - n))) + 1 for w in weights]
        largest = max(range(n), key=expected.__getitem__)
        assert 0 <= 2**128 - sum(expected) < n
        expected[largest] += 2**128 - sum(expected)
        assert sum(shares) == 2**128
        assert shares[:n] == expected
        for share, weight in zip(shares, weights, strict=False):
            assert share >= weight / total * (2**128 - n)
            if weight / total >= n * mp.mpf(2) ** -26:
                ratio = share / (weight / total) / 2**128
                assert abs(mp.log(ratio)) < mp.mpf(2) ** -100


def test_modes_that_are_never_drawn_are_left_out() -> None:
    """With all their weights below 2^-254 e^(-2 epsilon)."""
    for epsilon, modes in [(1.0, 10**6), (700.0, 5)]:
        shares = [x for x in Table.of("multi_gaussian", 1.0, epsilon, 1.0, modes).shares() if x]
        kept = len(shares) // 2
        assert kept < modes
        with mp.workdps(30):
            rest = 2 * mp.exp(-(kept + 1) * mp.mpf(epsilon)) / (1 - mp.exp(-mp.mpf(epsilon)))
            assert rest < mp.mpf(2) ** -254 * mp.exp(-2 * epsilon)


@BOTH_TYPES
@pytest.mark.parametrize("modes", [0, 3, 15, 16, 500, 1 << 17])
def test_components_by_all_128_bits(modes, dtype) -> None:
    """Also where 32 bits do not decide: at 2^17 modes once in 2^14 words."""
    n, epsilon = 50_001, 3 / (modes + 1)
    key = key_of("components", modes)
    x = draw("multi_gaussian", 0.0, 1e-20, epsilon, 1.0, modes, n=n, dtype=dtype, key=key)
    table = Table.of("multi_gaussian", 1e-20, epsilon, 1.0, modes)
    batches = 2 if dtype == np.float64 else 1
    expected = table.components("multi_gaussian", key, n, batches) - modes
    np.testing.assert_array_equal(np.round(x), expected)


def test_shares_of_components() -> None:
    n, epsilon, modes = 1_000_000, 1.0, 12
    x = draw("multi_gaussian", 0.0, 0.05, epsilon, 1.0, modes, n=n)
    counts = np.bincount(np.round(x).astype(int) + modes, minlength=2 * modes + 1)
    weights = np.exp(-epsilon * np.abs(np.arange(-modes, modes + 1)))
    # From half of all to three in a million.
    for count, weight in zip(counts, weights / weights.sum(), strict=True):
        assert stats.binomtest(int(count), n, weight).pvalue > ALARM


def test_rare_components_have_their_probability() -> None:
    """Many releases that should meet the outermost of a mixture some 80 times."""
    n, epsilon, modes = 4_000_000, 11.5, 1
    rare = draw("multi_gaussian", 0.0, 0.01, epsilon, 1.0, modes, n=n)
    expected = n / (2 + np.exp(epsilon))
    for sign in (-1, 1):
        count = int((np.abs(rare - sign) < 0.1).sum())
        assert stats.poisson.sf(count - 1, expected) > ALARM / 2
        assert stats.poisson.cdf(count, expected) > ALARM / 2
    mixture = np.array([0.0, 7.0]), np.array([1.0, 4e-5]), np.array([1.0, 0.1])
    count = int((np.abs(np.abs(draw("scale_mixture", 0.0, *mixture, n=n)) - 7) < 1).sum())
    expected = n * 4e-5 / (1 + 4e-5)  # the wide component is there with probability 1e-9
    assert stats.poisson.sf(count - 1, expected) > ALARM / 2
    assert stats.poisson.cdf(count, expected) > ALARM / 2


# --- the ends of the range -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "parameters", "largest"),
    [
        ("multi_gaussian", (1e-300, 1e-300, 1e-300, 3), 1e-298),
        ("multi_gaussian", (1e300, 700.0, 1e300, 1000), 1e301),
        ("quasi_gaussian", (1e-300, 0.0, 1e300), 1.1e300),
        ("quasi_gaussian", (1e300, 1e-300, 1e-300), 1e301),
        ("quasi_gaussian", (1.0, 1e300, 40.0), 50),
        ("laplace", (1e-305,), 1e-303),
        ("laplace", (1e305,), 1e307),
        ("truncated_laplace", (1e300, 1e-5), 1e-5),
        ("truncated_laplace", (1e-300, 1e5), 1e-298),
        ("tulap", (1.0, 1e-12, 3e11), 3e11),
        ("tulap", (1.0, 1e-17, 3.0), 3.0),
        ("tulap", (1.0, 1e3, 1e-9), 1e-9),
        ("tulap", (1e-300, 1e3, np.inf), 1e-300),
        ("staircase", (1.0, 1e-17, 0.5), 1e19),
        ("staircase", (1.0, 1e3, 1e-200), 1.001e-200),
        ("staircase", (1.0, 60.0, 0.0), 1.0),
        ("staircase", (1.0, 1e3, 0.0), 1.0),
    ],
)
@BOTH_TYPES
def test_at_the_ends_of_the_range(law, parameters, largest, dtype) -> None:
    x = draw(law, 0.0, *parameters, n=10_000, dtype=dtype)
    assert not np.isnan(x).any()
    if dtype == np.float64 or largest < 1e38:  # else infinite
        assert np.abs(x.astype(float)).max() <= largest
    if dtype == np.float64 or 1e-30 < largest < 1e38:  # else 0
        assert (x > 0).any()
        assert (x < 0).any()
        assert len(np.unique(x)) > 1000
