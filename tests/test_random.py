"""Keystream, uniforms, normals and the noise stream.

Statistical tests use fixed seeds; each would fail a correct generator with probability below 1e-7
under a random seed (thresholds are stated as such), all together below 1e-6.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import os
import pickle
import subprocess
import sys
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from noise_laws import LAWS, NoiseSource, keystream, normals_of
from reference import chacha20
from scipy import special, stats
from thread_counts import with_threads

import tightnoise as tn
from tightnoise import _core
from tightnoise.random import NoiseStream, default_stream

ALARM = 1e-7
COUNTING = bytes(range(32))


def keystream_block(key: bytes, counter: int, stream: int) -> bytes:
    words = _core.random.chacha20_keystream(key, stream=stream, first=counter // 16, batches=1)
    return words.reshape(16, 16)[:, counter % 16].astype("<u4").tobytes()


# RFC 8439: (section, key, nonce, 32-bit counter, keystream)
RFC_8439 = [
    (
        "2.3.2", COUNTING.hex(), "000000090000004a00000000", 1,
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    (
        "2.4.2, first block", COUNTING.hex(), "000000000000004a00000000", 1,
        "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf78"
        "8a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7",
    ),
    (
        "2.4.2, second block", COUNTING.hex(), "000000000000004a00000000", 2,
        "69a6749f3f630f4122cafe28ec4dc47e26d4346d70b98c73f3e9c53ac40c5945"
        "398b6eda1a832c89c167eacd901d7e2bf363",
    ),
    (
        "A.1 #1", "00" * 32, "00" * 12, 0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        "A.1 #2", "00" * 32, "00" * 12, 1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        "A.1 #3", "00" * 31 + "01", "00" * 12, 1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    (
        "A.1 #4", "00ff" + "00" * 30, "00" * 12, 2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    (
        "A.1 #5", "00" * 32, "00" * 11 + "02", 0,
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "nonce", "counter", "expected"), [v[1:] for v in RFC_8439], ids=[v[0] for v in RFC_8439]
)
def test_rfc_8439_vectors(key: str, nonce: str, counter: int, expected: str) -> None:
    n0, n1, n2 = np.frombuffer(bytes.fromhex(nonce), "<u4").tolist()
    wide = counter | n0 << 32, n1 | n2 << 32
    length = len(expected) // 2
    assert keystream_block(bytes.fromhex(key), *wide)[:length].hex() == expected
    assert chacha20.block(bytes.fromhex(key), *wide)[:length].hex() == expected


@pytest.mark.parametrize("first", [0, 7, 2**28 - 1, 2**32 + 5, 2**60 - 2])
def test_keystream_against_the_reference(first: int) -> None:
    key = hashlib.sha256(str(first).encode()).digest()
    stream = 0xFEDCBA9876543210
    words = _core.random.chacha20_keystream(key, stream, first, 2).reshape(2, 16, 16)
    for batch in range(2):
        for lane in range(16):
            expected = chacha20.block(key, 16 * (first + batch) + lane, stream)
            assert words[batch, :, lane].astype("<u4").tobytes() == expected


def keystream_words(kind: str, key: bytes, law: str, n: int) -> np.ndarray:
    """The keystream words that n elements are made of, a row a batch."""
    per_batch = 1024 // np.dtype(kind).itemsize
    batches = -(-n // per_batch)
    words = keystream(key, law, 0, batches).astype("<u4")
    return words.view(kind.replace("f", "u")).reshape(batches, per_batch)


@pytest.mark.parametrize(("kind", "bits"), [("f8", 52), ("f4", 23)])
def test_uniforms_are_their_formula_and_never_0_or_1(kind: str, bits: int) -> None:
    def uniform(words: np.ndarray) -> np.ndarray:
        shift = words.dtype.type(8 * words.dtype.itemsize - bits)
        return ((words >> shift).astype(kind) + np.dtype(kind).type(0.5)) * 0.5**bits

    n = 100_003
    out = np.empty(n, kind)
    _core.random.uniform(out, NoiseSource(COUNTING))
    words = keystream_words(kind, COUNTING, "uniform", n)
    np.testing.assert_array_equal(out, uniform(words).ravel()[:n])
    extremes = uniform(np.array([0, np.iinfo(words.dtype).max], words.dtype))
    assert extremes.dtype == kind
    assert extremes[0] == 0.5 ** (bits + 1)
    assert extremes[1] == 1 - 0.5 ** (bits + 1) < 1


@pytest.mark.parametrize(
    ("kind", "limit", "reach"), [("f8", 2e-15, 9.49), ("f4", 1e-6, 6.76)], ids=["f8", "f4"]
)
def test_normals_are_box_muller_of_the_keystream(kind, limit, reach, check_error) -> None:
    n = 8 * 1024 // np.dtype(kind).itemsize
    out = np.empty(n, kind)
    _core.random.standard_normal(out, NoiseSource(COUNTING))
    words = keystream_words(kind, COUNTING, "standard_normal", n)
    size = 8 * words.dtype.itemsize
    fraction = 52 if kind == "f8" else 23
    half = words.shape[1] // 2

    def pair(radius_word: int, angle_word: int) -> tuple[mp.mpf, mp.mpf]:
        near = (radius_word % 2 ** (size - 1) + mp.mpf(0.5)) / 2**size
        u = 1 - near if radius_word >> (size - 1) else near
        angle = mp.pi / 2 * ((angle_word >> (size - fraction)) + mp.mpf(0.5)) / 2**fraction
        x, y = mp.cos(angle - mp.pi / 4), mp.sin(angle - mp.pi / 4)
        if angle_word & 1:
            x, y = y, x
        r = mp.sqrt(-2 * mp.log(u)) * (-1 if angle_word & 2 else 1)
        return r * x, r * y

    with mp.workdps(30):
        worst = mp.mpf(0)
        for row, z in zip(words.tolist(), out.reshape(words.shape).tolist(), strict=True):
            for i in range(half):
                x, y = pair(row[i], row[half + i])
                worst = max(worst, abs(z[i] - x), abs(z[half + i] - y))
        longest = mp.sqrt(2 * (size + 1) * mp.log(2))
    check_error(f"standard_normal {kind} (absolute)", float(worst), limit)
    assert abs(longest - reach) < 0.01


def run_python(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("draw", ["uniform", "standard_normal"])
def test_bits_do_not_depend_on_threads_or_length(draw: str, dtype) -> None:
    def noise(n: int, threads: int) -> np.ndarray:
        return with_threads(lambda: getattr(NoiseStream(seed=3), draw)(n, dtype=dtype), threads)[0]

    whole = noise(300_001, 1)
    for n in (0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 99_999, 100_000, 300_001):
        np.testing.assert_array_equal(whole[:n], noise(n, 5))


def test_seeds() -> None:
    seeds = [0, 1, 2**256 - 1, b"", b"\0", b"\1" + bytes(31), bytes(32), b"long" * 100]
    first = [NoiseStream(seed=seed).standard_normal(4).tobytes() for seed in seeds]
    assert len(set(first)) == len(seeds)
    assert first == [NoiseStream(seed=seed).standard_normal(4).tobytes() for seed in seeds]
    assert NoiseStream(seed=np.uint32(1)).standard_normal(4).tobytes() == first[1]


def test_unseeded_streams_differ() -> None:
    first = {NoiseStream().uniform() for _ in range(100)}
    assert len(first) == 100
    assert default_stream() is default_stream()


def test_successive_calls_differ() -> None:
    stream = NoiseStream(seed=1)
    draws = [stream.standard_normal(8) for _ in range(3)]
    assert all((a != b).all() for a, b in pairwise(draws))
    assert stream.uniform() != stream.uniform()


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads alive is the point
import numpy as np
from tightnoise import _core
from tightnoise.random import NoiseStream, default_stream
_core.set_num_threads(2)
secure, seeded = NoiseStream(), NoiseStream(seed=5)
streams = secure, seeded, default_stream()
for stream in streams:
    stream.standard_normal(500_000)  # threads are in use before the fork

def draw():
    return b"".join(stream.standard_normal(200_000)[:4].tobytes() for stream in streams)

def child():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, draw() + grandchild())
        os._exit(0)
    data = os.read(read, 1000)
    assert os.waitpid(pid, 0)[1] == 0
    return data

def grandchild():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, draw())
        os._exit(0)
    os.waitpid(pid, 0)
    return os.read(read, 1000)

first, second = child(), child()
own = draw()
print(own.hex(), first.hex(), second.hex())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_takes_a_new_key_and_does_not_hang() -> None:
    draws = []
    for text in run_python(FORK).split():
        data = bytes.fromhex(text)
        assert len(data) % 96 == 0
        draws += [data[i : i + 96] for i in range(0, len(data), 96)]
    assert len(draws) == 5  # the parent, two children with a grandchild each
    for part in (slice(0, 32), slice(64, 96)):  # unseeded, default
        assert len({draw[part] for draw in draws}) == 5
    own, child_1, grandchild_1, child_2, grandchild_2 = (draw[32:64] for draw in draws)
    assert own == child_1 == child_2  # documented: a seeded stream repeats
    assert grandchild_1 == grandchild_2 != own


# --- one seed, several laws -----------------------------------------------------------------------

DRAWS = {
    "uniform": lambda stream, n: stream.uniform(n) - 0.5,
    "standard_normal": lambda stream, n: stream.standard_normal(n),
    **{
        law: lambda stream, n, m=m: m.sample(np.zeros(n), rng=stream)
        for law, m in {
            "gaussian": tn.Gaussian(1.0),
            "stochastic_sign": tn.StochasticSign(1.0),
            "rectified_gaussian": tn.RectifiedGaussian(1.0, -2.0, 2.0),
            "truncated_gaussian": tn.TruncatedGaussian(1.0, -2.0, 2.0),
            "quantized_gaussian": tn.QuantizedGaussian(1.0, -2.0, 2.0, 64),
            "bounded_laplace": tn.BoundedLaplace(1.0, -2.0, 2.0),
            "multi_gaussian": tn.MultiGaussianMixture(1.0, 1.0, 1.0, 3),
            "quasi_gaussian": tn.QuasiGaussianMixture(1.0, 1.0, 1.0),
            "scale_mixture": tn.GaussianScaleMixture([0.0, 1.0], [0.5, 0.5], [1.0, 2.0]),
            "laplace": tn.Laplace(1.0),
            "truncated_laplace": tn.TruncatedLaplace(1.0, 5.0),
            "tulap": tn.Tulap(1.0, 1.0, 0.1),
            "staircase": tn.Staircase(1.0, 1.0, 0.3),
        }.items()
    },
    "von_mises_fisher": lambda stream, n: tn.VonMisesFisher(kappa=1.0, dim=n).sample(
        np.zeros(n), rng=stream
    ),
}


def test_every_law_has_streams_of_its_own() -> None:
    """Rank correlations of the noise of one seed, and of its magnitude: 29 rows, 406 pairs."""
    assert DRAWS.keys() == LAWS.keys()
    n, laws, rows = 20_000, [], []
    for law, draw in DRAWS.items():
        x = draw(NoiseStream(seed=1), n)
        for row in (x, np.abs(x)):
            if np.ptp(row) > 0:  # signs have no magnitude
                laws.append(law)
                rows.append(row)
    other = np.array([[one != another for one in laws] for another in laws])
    correlation = stats.spearmanr(rows, axis=1).statistic
    assert np.abs(correlation[other]).max() < -special.ndtri(ALARM / 2 / other.sum()) / np.sqrt(n)


@pytest.mark.parametrize(
    ("law", "parameters", "noise"),
    [
        ("gaussian", (), lambda z: z),
        ("stochastic_sign", (), np.sign),
        ("rectified_gaussian", (-1.0, 1.5), lambda z: np.clip(z, -1.0, 1.5)),
        ("quantized_gaussian", (-1.0, 1.5, 2**30), lambda z: np.clip(z, -1.0, 1.5)),
    ],
)
def test_normals_of_mechanisms_are_those_of_their_streams(law, parameters, noise) -> None:
    operands = [x if isinstance(x, int) else np.array([x]) for x in (0.0, 1.0, *parameters)]
    out = np.empty(1000)
    getattr(_core.random, f"sample_{law}")(*operands, out, NoiseSource(COUNTING, 3))
    expected = noise(normals_of(COUNTING, law, 1000, number=3))
    np.testing.assert_allclose(out, expected, atol=1e-8)


def test_the_last_number_of_a_stream() -> None:
    last = NoiseSource(COUNTING, 2**56 - 1)
    out = np.empty(3)
    _core.random.uniform(out, last)
    words = keystream(COUNTING, "uniform", 0, 1, number=2**56 - 1).view(np.uint64)[:3]
    np.testing.assert_array_equal(out, ((words >> np.uint64(12)) + 0.5) * 2.0**-52)
    for _ in range(2):
        with pytest.raises(OverflowError, match="2\\*\\*56 arrays"):
            _core.random.uniform(out, last)


def test_what_is_refused_takes_no_number() -> None:
    source, out = NoiseSource(COUNTING), np.empty(10)
    with pytest.raises(ValueError, match="must not overlap"):
        _core.random.sample_laplace(out[:-1], 1.0, out[1:], source)
    _core.random.uniform(out, source)
    expected = np.empty(10)
    _core.random.uniform(expected, NoiseSource(COUNTING))
    np.testing.assert_array_equal(out, expected)


# --- keys -----------------------------------------------------------------------------------------


def test_no_message_shows_a_key() -> None:
    """A call of the core that fits no signature shows its arguments: keys are not among them."""
    stream = NoiseStream(seed=COUNTING)
    key = hashlib.blake2b(b"bytes" + COUNTING, digest_size=32, person=b"tightnoise seed").digest()
    _core.random.uniform(check := np.empty(2), NoiseSource(key))
    assert (check == NoiseStream(seed=COUNTING).uniform(2)).all()  # it is the key
    messages = []
    for name, core in vars(_core.random).items():
        if name.startswith("sample_") or name in ("uniform", "standard_normal"):
            with pytest.raises(TypeError, match="incompatible function arguments") as refused:
                core(stream._source, 1.5, "nonsense")
            messages.append(str(refused.value))
    with pytest.raises(TypeError, match="incompatible constructor arguments") as refused:
        NoiseSource(memoryview(key), "nonsense")
    messages += [str(refused.value), repr(stream._source)]
    assert len(messages) == len(LAWS) + 2
    for shown in (key.hex(), repr(key), repr(key)[2:14]):
        assert not any(shown in message for message in messages)
    for wrong in (b"short", bytes(33), np.zeros(32)):
        with pytest.raises(ValueError, match="key of the wrong length"):
            NoiseSource(wrong)


# Prints the noise drawn, in hexadecimal, then all memory that this process may write to.
REMAINS = """
import os, sys
import numpy as np
from tightnoise import _core
from tightnoise.random import NoiseStream
_core.set_num_threads(2)
{body}
sys.stdout.flush()
regions = [line.split() for line in open("/proc/self/maps") if " rw" in line]
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for region in regions:
        first, last = (int(end, 16) for end in region[0].split("-"))
        while first < last:
            memory.seek(first)
            try:
                part = memory.read(min(1 << 20, last - first))
            except OSError:  # a guard page: since glibc 2.42 a stack's lies within its mapping
                part = b""
            os.write(1, part)
            first += len(part) or 4096
"""
LEAVES_MEMORY = pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs /proc")


def remains_of(body: str, given: bytes = b"") -> tuple[np.ndarray, np.ndarray]:
    """Return what a process printed in its first line, and the words of its memory."""
    program = [sys.executable, "-c", REMAINS.format(body=body)]
    printed = subprocess.run(program, input=given, capture_output=True, timeout=120)
    assert printed.returncode == 0, printed.stderr
    drawn, memory = printed.stdout.split(b"\n", 1)
    return np.frombuffer(bytes.fromhex(drawn.decode())), np.frombuffer(memory, "<u4")


# A source of a known key draws with every sampler, also on other threads, and is gone.
SPENT = """
key = bytearray(32)
assert os.readv(0, [key]) == 32
source = _core.random.NoiseSource(memoryview(key))
kept = source if {keep} else None
key[:] = bytes(32)
core = _core.random
one = [np.array([x]) for x in (1.0, -1.0, 1.5)]
for n in (3, 200_000):
    for dtype in (np.float64, np.float32):
        out, theta = np.empty(n, dtype), np.linspace(-3, 3, n).astype(dtype)
        core.uniform(out, source)
        core.standard_normal(out, source)
        for bounded in (core.sample_rectified_gaussian, core.sample_truncated_gaussian,
                        core.sample_bounded_laplace):
            bounded(theta, *one, out, source)
        core.sample_gaussian(theta, one[0], out, source)
        core.sample_stochastic_sign(theta, one[0], out, source)
        core.sample_quantized_gaussian(theta, *one, 9, out, source)
        core.sample_multi_gaussian(theta, 0.3, 0.1, 1.0, 100_000, out, source)
        core.sample_quasi_gaussian(theta, 0.3, 1.0, 1.0, out, source)
        core.sample_scale_mixture(theta, one[0], one[0], one[0], out, source)
        core.sample_laplace(theta, 1.0, out, source)
        core.sample_truncated_laplace(theta, 1.0, 3.0, out, source)
        core.sample_tulap(theta, 1.0, 1.0, 3.7, out, source)
        core.sample_staircase(theta, 1.0, 1.0, 0.3, out, source)
        some = min(n, 40_000)  # of more than one thread, too
        for dim in (some, 3, 200):
            x = theta[: some - some % dim].reshape(-1, dim)
            core.sample_von_mises_fisher(x, 5.0, np.empty_like(x), source)
            core.sample_von_mises_fisher(x, 5.0, np.empty_like(x), source, 2.0**-36)
del source
print("")
"""


@LEAVES_MEMORY
@pytest.mark.parametrize("keep", [True, False])
def test_a_source_leaves_no_key_in_memory(keep) -> None:
    """Not even registers on the stack of a thread.

    Of some 1e7 other words in memory one equals a given word of the key with probability 0.003;
    four do, of different words, with less than 1e-8.
    """
    key = hashlib.sha256(b"spent").digest()
    _, memory = remains_of(SPENT.format(keep=keep), key)
    found = sum(bool((memory == word).any()) for word in np.frombuffer(key, "<u4"))
    assert (found == 8) if keep else (found < 4)


@LEAVES_MEMORY
@pytest.mark.parametrize("seed", [None, 5])
def test_memory_does_not_reveal_the_noise_of_an_unseeded_stream(seed) -> None:
    """Tries as a key all that looks random: that of a seed is there, no other is."""
    last = 39
    body = f"""
stream = NoiseStream(seed={seed})
for _ in range({last}):
    stream.uniform(3)
out = np.empty(3)
noise = stream.uniform(out=out).tobytes().hex()
out[:] = 0
print(noise)
"""
    drawn, memory = remains_of(body)
    windows = np.lib.stride_tricks.sliding_window_view(memory, 8)
    looks_random = np.ones(len(windows), bool)
    small = (memory & 0xFFFF0000 == 0) | (memory >= 0xFFFF0000)
    for i in range(8):
        looks_random &= ~small[i : len(small) - 7 + i]
    candidates = windows[looks_random]
    kinds = np.sort(candidates.view(np.uint8).reshape(len(candidates), 32), axis=1)
    candidates = candidates[(np.diff(kinds, axis=1) > 0).sum(axis=1) >= 22]
    keys = {candidate.tobytes() for candidate in candidates}
    first = np.floor(drawn[0] * 2**52)
    found = 0
    for key in keys:
        word = keystream(key, "uniform", 0, 1, number=last)[:2].view(np.uint64)[0]
        found += int(word) >> 12 == int(first)
    assert found == (0 if seed is None else 1)


@pytest.mark.parametrize("seed", [None, 7])
def test_streams_are_not_copied_or_shown(seed) -> None:
    stream = NoiseStream(seed=seed)
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            duplicate(stream)
    assert repr(stream) in ("<NoiseStream, seeded>", "<NoiseStream, keyed by the operating system>")


@pytest.mark.parametrize("seed", [1.5, "1", True, [1], np.float64(1)])
def test_seed_of_a_wrong_type(seed) -> None:
    with pytest.raises(TypeError, match="seed must be"):
        NoiseStream(seed=seed)


@pytest.mark.parametrize("seed", [-1, 2**256])
def test_seed_out_of_range(seed) -> None:
    with pytest.raises(ValueError, match="seed must be between 0 and"):
        NoiseStream(seed=seed)


@pytest.mark.parametrize("draw", ["uniform", "standard_normal"])
def test_shapes_and_out(draw: str) -> None:
    draw_from = getattr(NoiseStream(seed=1), draw)
    assert isinstance(draw_from(), np.float64)
    assert isinstance(draw_from(dtype="float32"), np.float32)
    assert draw_from(3).shape == (3,)
    assert draw_from((2, 0, 3)).shape == (2, 0, 3)
    assert draw_from([2, 3], dtype=np.float32).dtype == np.float32
    for out in (np.empty((2, 3), np.float32), np.empty(()), np.empty(0)):
        assert draw_from(out=out) is out
        assert draw_from(out.shape, dtype=out.dtype, out=out) is out


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (ValueError, "out must have shape", {"shape": 3, "out": np.empty(4)}),
        (ValueError, "out must have shape", {"dtype": np.float32, "out": np.empty(4)}),
        (ValueError, "C-contiguous", {"out": np.empty(8)[::2]}),
        (ValueError, "writeable", {"out": np.broadcast_to(0.0, (1,))}),
        (TypeError, "out must be a numpy array", {"out": [0.0]}),
        (TypeError, "dtype must be float32 or float64", {"shape": 3, "dtype": np.int64}),
        (TypeError, "dtype must be float32 or float64", {"out": np.empty(3, object)}),
        (ValueError, "shape must be between 0", {"shape": -1}),
        (TypeError, "shape must be an integer", {"shape": 2.5}),
        (TypeError, "shape must be an integer", {"shape": (2, "3")}),
        (ValueError, "big|large|maximum|Maximum", {"shape": (10**9, 10**9, 10**9)}),
    ],
)
def test_bad_arguments(error, message, arguments) -> None:
    for draw in (NoiseStream(seed=1).uniform, NoiseStream(seed=1).standard_normal):
        with pytest.raises(error, match=message):
            draw(**arguments)


# --- as NumPy's generators see it ----------------------------------------------------------------


def numpy_generator(seed=None):
    return np.random.Generator(NoiseStream(seed).bit_generator())


def test_numpy_draws_the_keystream():
    key = bytes(range(32))
    stream = NoiseStream(seed=1)
    stream._source = NoiseSource(key)
    stream.uniform(3)
    generator = np.random.Generator(stream.bit_generator())  # the second array of the stream
    words = _core.random.chacha20_keystream(key, 17 << 56 | 1, 0, 2).reshape(-1)
    raw = words.astype(np.uint64)
    pairs = raw[::2] | raw[1::2] << np.uint64(32)
    assert np.array_equal(generator.integers(0, 2**64, size=100, dtype=np.uint64), pairs[:100])
    assert np.array_equal(generator.random(100), (pairs[100:200] >> np.uint64(11)) * 2.0**-53)
    narrow = generator.integers(0, 2**32, size=40, dtype=np.uint32)
    assert np.array_equal(narrow, words[400:440])


def test_numpy_draws_the_same_from_the_same_seed():
    first, second = numpy_generator(4), numpy_generator(4)
    assert np.array_equal(first.standard_normal(1000), second.standard_normal(1000))
    assert np.array_equal(first.permutation(50), second.permutation(50))
    assert first.choice(10) == second.choice(10)


def test_numpy_draws_apart_from_two_bit_generators_of_a_stream():
    stream = NoiseStream(seed=4)
    first, second = (np.random.Generator(stream.bit_generator()) for _ in range(2))
    assert not np.array_equal(first.random(8), second.random(8))
    unseeded = NoiseStream()
    first, second = (np.random.Generator(unseeded.bit_generator()) for _ in range(2))
    assert not np.array_equal(first.random(8), second.random(8))


def test_a_bit_generator_keeps_its_stream_and_is_not_copied():
    bits = NoiseStream(seed=2).bit_generator()
    gc.collect()  # the stream is no one else's
    assert np.random.Generator(bits).random() < 1
    assert repr(bits) == "<bit generator of <NoiseStream, seeded>>"
    for copied in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            copied(bits)


def test_the_legacy_generator_takes_it_too():
    state = np.random.RandomState(NoiseStream(seed=2).bit_generator())
    assert 0 < state.random_sample() < 1
