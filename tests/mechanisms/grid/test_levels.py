"""Samples on a grid are the same at every SIMD level, though their arithmetic is not."""

from __future__ import annotations

from simd_levels import digests_at_levels

DIGEST = """
import hashlib, numpy as np, tightnoise as tn
from noise_laws import ON_A_GRID
rng, digest = np.random.default_rng(9), hashlib.sha256()
theta = np.ldexp(rng.random(120_001) - 0.5, rng.integers(-6, 12, 120_001))
for threads in (1, 3):
    tn._core.set_num_threads(threads)
    for dtype in (np.float64, np.float32):
        for m in ({mechanisms}):
            digest.update(m.sample(theta.astype(dtype), rng=tn.random.NoiseStream(1)).tobytes())
print(tn._core.simd_level(), digest.hexdigest()[:16])
"""

FAMILY = """
    tn.Gaussian(1.3), tn.RectifiedGaussian(1.3, -1.0, 1.25), tn.StochasticSign(1.3),
    tn.QuantizedGaussian(1.3, -1.0, 1.25, 9), tn.Gaussian(0.01 + 2 * np.arange(120_001.0)),
"""


def test_a_seed_means_the_same_at_every_level_and_on_every_machine() -> None:
    assert digests_at_levels(DIGEST.format(mechanisms=FAMILY)) == {"a1987d0cc697c704"}


def test_every_mechanism_is_the_same_at_every_level_and_on_every_machine() -> None:
    everyone = "law(1.3) for law in ON_A_GRID.values()"
    assert digests_at_levels(DIGEST.format(mechanisms=everyone)) == {"58b085658ed08761"}
