"""Training with PyTorch: clipped sums, noise on tensors, Opacus' engine, two workers."""

import doctest
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: extra torch")
LOSS = torch.nn.functional.cross_entropy
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


def network(*sizes):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
    return torch.nn.Sequential(
        layers[0], *(m for layer in layers[1:] for m in (torch.nn.Tanh(), layer))
    )


def examples(count, width=4, classes=3):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(count, width, generator=generator)
    return x, torch.randint(classes, (count,), generator=generator)


@pytest.fixture
def opacus():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("opacus", reason="Opacus is not installed: extra opacus")


def one_by_one(net, x, y, l2, linf):
    sums = [torch.zeros_like(p) for p in net.parameters()]
    for i in range(len(x)):
        net.zero_grad()
        LOSS(net(x[i : i + 1]), y[i : i + 1]).backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in net.parameters()])
        if linf is not None:
            gradient = gradient.clamp(-linf, linf)
        if l2 is not None:
            gradient = gradient * min(1.0, l2 / float(gradient.norm()))
        at = 0
        for total in sums:
            total += gradient[at : at + total.numel()].view_as(total)
            at += total.numel()
    return sums


@pytest.mark.parametrize(("l2", "linf"), [(0.3, None), (None, 0.05), (0.3, 0.1), (1e9, None)])
def test_clipped_sums_are_those_of_a_loop(l2, linf):
    net, (x, y) = network(4, 5, 3), examples(23)
    sums = tn.torch.clipped_sum(net, LOSS, x, y, l2=l2, linf=linf, chunk=10)
    assert list(sums) == [name for name, _ in net.named_parameters()]
    for ours, theirs in zip(sums.values(), one_by_one(net, x, y, l2, linf), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("autocast", [False, True])  # matrix products in bfloat16
def test_a_clipped_gradient_is_no_longer_than_the_clip(autocast):
    net, (x, y) = network(4, 300, 3), examples(40)
    for i in range(len(x)):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            sums = tn.torch.clipped_sum(net, LOSS, x[i : i + 1], y[i : i + 1], l2=0.1)
        squares = sum(float(part.double().square().sum()) for part in sums.values())
        assert squares <= 0.1**2


def hard_to_clip(dtype=torch.float32):
    """Return gradients, each by itself in two parts, of which single precision makes too little."""
    flat = torch.full((4, 200_000), 2.4e-4, dtype=dtype)  # of which each square is lost beside 1
    flat[0, 0] = 1.0
    flat[1], flat[1, 100_000] = flat[1] * 1e3, 1e3
    flat[2] = 1e38  # of which the scale is subnormal
    flat[3] = torch.linspace(-1e36, 3e38, 200_000)
    return [flat[:, :100_000].reshape(4, 10, 10_000), flat[:, 100_000:]]


def squared(parts):
    return sum(float(part.double().square().sum()) for part in parts)


def test_a_clipped_number_is_no_larger_than_the_clip():
    net, (x, y) = network(4, 3), examples(1)
    for linf in (0.01, 0.05, 0.07):  # of which float32 has no more than the next below or above
        sums = tn.torch.clipped_sum(net, LOSS, x, y, linf=linf)
        assert linf * (1 - 1e-6) <= max(float(part.abs().max()) for part in sums.values()) <= linf


@pytest.mark.parametrize("clip", [1e-3, 0.5, 100.0])
def test_no_gradient_is_longer_than_the_clip_for_its_rounding(clip):
    parts = hard_to_clip()
    scales = tn.torch._clipping.clip_scales(parts, clip)
    for i, scale in enumerate(scales.float()):
        assert squared(scale * part[i] for part in parts) <= clip**2
    assert scales[0] == pytest.approx(min(clip / np.sqrt(squared(p[0] for p in parts)), 1), 1e-5)


def test_sums_of_short_floats_are_float32():
    net, (x, y) = network(4, 3), examples(3000)
    wide = tn.torch.clipped_sum(net.bfloat16(), LOSS, x.bfloat16(), y, l2=0.1)
    for name, part in wide.items():
        assert part.dtype == torch.float32
        alone = [
            tn.torch.clipped_sum(net, LOSS, x[i : i + 1].bfloat16(), y[i : i + 1], l2=0.1)[name]
            for i in range(0, 3000, 100)
        ]
        some = tn.torch.clipped_sum(net, LOSS, x[::100].bfloat16(), y[::100], l2=0.1)[name]
        torch.testing.assert_close(some, torch.stack(alone).sum(dim=0), rtol=1e-5, atol=1e-6)


def test_an_empty_sample_has_a_sum():
    net, (x, y) = network(4, 3), examples(0)
    sums = tn.torch.clipped_sum(net, LOSS, x, y, l2=1.0)
    assert all(not part.any() for part in sums.values())


def test_what_has_no_clipped_sum():
    net, (x, y) = network(4, 3), examples(5)
    with pytest.raises(ValueError, match="l2 or linf"):
        tn.torch.clipped_sum(net, LOSS, x, y)
    with pytest.raises(ValueError, match="l2 must"):
        tn.torch.clipped_sum(net, LOSS, x, y, l2=0.0)
    with pytest.raises(ValueError, match="targets must be as many"):
        tn.torch.clipped_sum(net, LOSS, x, y[1:], l2=1.0)
    x[2, 1] = torch.nan
    with pytest.raises(ValueError, match=r"NaN or infinity at '0.weight', example 2"):
        tn.torch.clipped_sum(net, LOSS, x, y, l2=1.0)
    normed = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    with pytest.raises(ValueError, match="batch norm"):
        tn.torch.clipped_sum(normed, LOSS, x, y, l2=1.0)
    uneven = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 3).double())
    with pytest.raises(ValueError, match=r"of one dtype; got torch.float32.* at '1.weight'"):
        tn.torch.clipped_sum(uneven, LOSS, x, y, l2=1.0)
    with pytest.raises(ValueError, match=r"on one device.* on meta at 'targets'"):
        tn.torch.clipped_sum(net, LOSS, x, y.to("meta"), l2=1.0)
    for p in net.parameters():
        p.requires_grad = False
    with pytest.raises(ValueError, match="requires a gradient"):
        tn.torch.clipped_sum(net, LOSS, x, y, l2=1.0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_release_is_one_sample_of_all_numbers(dtype):
    kind, stream = getattr(torch, dtype), tn.random.NoiseStream
    tensors = [torch.arange(6, dtype=kind).view(2, 3), torch.tensor(0.5, dtype=kind)]
    m = tn.RectifiedGaussian(1.0, -2.0, 2.0)
    released = tn.torch.release(tensors, m, rng=stream(3))
    wide = np.float64 if dtype == "float64" else np.float32
    whole = m.sample(np.array([0, 1, 2, 3, 4, 5, 0.5], dtype=wide), rng=stream(3))
    assert [part.shape for part in released] == [(2, 3), ()]
    assert all(part.dtype == kind for part in released)
    found = torch.cat([part.reshape(-1) for part in released])
    assert torch.equal(found, torch.from_numpy(whole).to(kind))
    assert tensors[0][0, 1] == 1  # as it was
    assert tn.torch.release([], m) == []


def test_what_is_not_released():
    m = tn.Gaussian(1.0)
    with pytest.raises(ValueError, match="theta"):
        tn.torch.release([torch.tensor([1.0, torch.nan])], m)
    with pytest.raises(TypeError, match=r"floating; got torch.int64 at 0"):
        tn.torch.release([torch.ones(3, dtype=torch.int64)], m)
    with pytest.raises(ValueError, match="one dtype"):
        tn.torch.release([torch.ones(3), torch.ones(3, dtype=torch.float64)], m)
    for bad in (torch.zeros(3, device="meta"), torch.zeros(3, 3).to_sparse()):
        with pytest.raises(TypeError, match="dense, with data"):
            tn.torch.release([bad], m)
    lifted = tn.LiftedVonMisesFisher(
        50.0, 3, anchor=1.0
    )  # releases a direction with one number more
    with pytest.raises(TypeError, match="release vectors as they are"):
        tn.torch.release([torch.ones(3)], lifted)
    with pytest.raises(TypeError, match="tensors must be of torch"):
        tn.torch.release([np.ones(3)], m)


# --- Opacus


def private(net, engine, **options):
    x, y = examples(120)
    model, optimizer, loader = engine.make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(x, y), batch_size=30
        ),
        max_grad_norm=0.5,
        **options,
    )
    return model, optimizer, loader, (x, y)


def trained(engine, steps=3, **options):
    model, optimizer, loader, _ = private(network(4, 5, 3), engine, **options)
    for a, b in itertools.islice(itertools.chain.from_iterable(itertools.repeat(loader)), steps):
        optimizer.zero_grad()
        LOSS(model(a), b).backward()
        optimizer.step()
    return model


@pytest.mark.parametrize(
    "mechanism",
    [
        None,
        tn.RectifiedGaussian(0.6, -2.0, 2.0),
        tn.TruncatedGaussian(0.6, -1.0, 1.0),
        tn.StochasticSign(0.6),
        tn.Gaussian(np.full(43, 0.6)),
    ],
)
def test_the_engine_costs_what_its_mechanism_costs(opacus, mechanism):
    engine = tn.torch.PrivacyEngine(mechanism=mechanism, rng=tn.random.NoiseStream(5))
    options = {"noise_multiplier": 1.2} if mechanism is None else {}
    model = trained(engine, **options)
    noise = tn.Gaussian(0.6) if mechanism is None else mechanism
    step = noise.cost(sensitivity=0.5).sampled(0.25, "poisson")
    assert engine.get_epsilon(1e-5) == (step * 3).epsilon(1e-5)
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())


def test_bounded_noise_stays_within_its_bounds(opacus):
    engine = tn.torch.PrivacyEngine(mechanism=tn.RectifiedGaussian(0.6, -2.0, 2.0))
    model = trained(engine, steps=1)
    for p in model.parameters():
        assert float(p.grad.abs().max()) <= 2.0 / 30 * (1 + 1e-6)


def test_the_multiplier_is_that_of_the_mechanism(opacus):
    noise = tn.RectifiedGaussian(0.6, -2.0, 2.0)
    trained(tn.torch.PrivacyEngine(mechanism=noise), steps=1, noise_multiplier=1.2)
    with pytest.raises(ValueError, match=r"sigma / max_grad_norm, 1.2, or left out; got 0.6"):
        trained(tn.torch.PrivacyEngine(mechanism=noise), noise_multiplier=0.6)
    many = tn.Gaussian(np.full(43, 0.6))
    with pytest.raises(ValueError, match="no one sigma"):
        trained(tn.torch.PrivacyEngine(mechanism=many), noise_multiplier=0.6)
    with pytest.raises(ValueError, match="noise_multiplier must be given"):
        trained(tn.torch.PrivacyEngine())
    with pytest.raises(TypeError, match="L2 sensitivity"):
        trained(tn.torch.PrivacyEngine(mechanism=tn.VonMisesFisher(5.0, 43)))
    for option in ({"clipping": "per_layer"}, {"grad_sample_mode": "ghost"}):
        with pytest.raises(ValueError, match=next(iter(option))):
            trained(tn.torch.PrivacyEngine(mechanism=noise), **option)


class Partial(torch.nn.Module):
    """With a part that no output depends on."""

    def __init__(self):
        super().__init__()
        self.used, self.spare = torch.nn.Linear(4, 3), torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.used(x)


def with_noise(net, noise):
    engine = tn.torch.PrivacyEngine(mechanism=noise, rng=tn.random.NoiseStream(5))
    model, optimizer, _, data = private(net, engine)
    return engine, model, optimizer, data


def test_no_step_costs_more_than_is_accounted(opacus):
    def step(x=None):
        optimizer.zero_grad()
        LOSS(model(given if x is None else x), y).backward()
        optimizer.step()

    noise = tn.RectifiedGaussian(0.6, -2.0, 2.0)
    for name in ("max_grad_norm", "noise_multiplier"):  # as a scheduler does
        engine, model, optimizer, (given, y) = with_noise(network(4, 3), noise)
        step()
        setattr(optimizer, name, 4.0)
        with pytest.raises(ValueError, match="must stay as they were"):
            step()
        assert len(engine.accountant) == 1
    engine, model, optimizer, (given, y) = with_noise(network(4, 3), noise)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(LOSS(model(given), y)).backward()
    with pytest.raises(ValueError, match="GradScaler must be left out"):
        scaler.step(optimizer)
    assert len(engine.accountant) == 0
    engine, model, optimizer, (given, y) = with_noise(Partial(), noise)
    with pytest.raises(ValueError, match=r"must have gradients.* none at 2, of shape \(2, 4\)"):
        step()
    engine, model, optimizer, (given, y) = with_noise(network(4, 3), noise)
    before = [p.detach().clone() for p in model.parameters()]
    bad = given.clone()
    bad[3, 2] = torch.nan
    with pytest.raises(ValueError, match="must be finite; got nan"):
        step(bad)
    assert len(engine.accountant) == 0
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))
    with pytest.raises(ValueError, match=r"must be float32 or float64.*bfloat16 at 0"):
        with_noise(network(4, 3).bfloat16(), noise)
    with pytest.raises(opacus.validators.errors.UnsupportedModuleError, match="BatchNorm"):
        with_noise(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)), noise)


def test_opacus_norms_in_single_precision_are_not_used(opacus):
    for i in range(4):
        noise = tn.RectifiedGaussian(1e-30, -1.0, 1.0)
        parts = [part[i : i + 1] for part in hard_to_clip()]
        net = torch.nn.ParameterList([torch.zeros(part.shape[1:]) for part in parts])
        optimizer = tn.torch.DPOptimizer(
            torch.optim.SGD(net.parameters(), lr=1.0),
            mechanism=noise,
            max_grad_norm=0.5,
            expected_batch_size=1,
        )
        for autocast in (False, True):  # as of two parts of a sample
            for p, part in zip(net, parts, strict=True):
                p.grad_sample = part.clone()
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                optimizer.clip_and_accumulate()
        assert squared(p.summed_grad / 2 for p in net) <= 0.5**2


def test_the_rate_is_that_of_the_sampler(opacus):
    """A uniform float32 number of `torch.rand` is a multiple of 2^-24: it is 0 too often."""
    rates = []
    accountant = tn.torch.OpacusAccountant()
    optimizer = types.SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=1)
    for rate in (1e-9, 1e-6, 0.01, 2.0**-24, 0.75, 1.0):
        accountant.get_optimizer_hook_fn(rate)(optimizer)
        rates.append(accountant.history[-1][1])
        multiples = torch.arange(np.floor(rate * 2.0**24) - 3, np.floor(rate * 2.0**24) + 4)
        drawn = multiples[(multiples >= 0) & (multiples < 2.0**24)].float() / 2.0**24
        below = drawn[drawn < rate]
        assert float(below.max()) + 2.0**-24 == rates[-1]
    assert rates[:2] == [2.0**-24, 17 * 2.0**-24]
    with torch.device("meta"):  # as with one of a GPU: test_cuda.py
        accountant.get_optimizer_hook_fn(1e-6)(optimizer)
    assert accountant.history[-1][1] >= 1e-6 + 2.0**-25 + 2.0**-33


def test_batches_that_are_added_up_share_records(opacus):
    noise = tn.Gaussian(0.6)
    engine, model, optimizer, (x, y) = with_noise(network(4, 3), noise)
    model.allow_grad_accumulation()
    for _ in range(2):
        LOSS(model(x), y).backward()
    optimizer.step()
    # A record is in none, in one or in both, by a rate of 1/4 each: with one of two clips of 0.5.
    z = np.linspace(-10, 12, 200_001)
    density = np.exp(-((z[:, None] - [0.0, 0.5 / 0.6, 1.0 / 0.6]) ** 2) / 2) / np.sqrt(2 * np.pi)
    gain = density @ [9 / 16, 6 / 16, 1 / 16] - np.exp(1.5) * density[:, 0]
    truth = np.maximum(gain, 0.0).sum() * (z[1] - z[0])
    assert truth <= engine.accountant.cost.delta(1.5)
    step = noise.cost(sensitivity=1.0).sampled(0.5, "poisson")
    assert engine.get_epsilon(1e-5) == step.epsilon(1e-5)
    optimizer.zero_grad()
    LOSS(model(x), y).backward()
    optimizer.step()
    again = noise.cost(sensitivity=0.5).sampled(0.25, "poisson")
    assert engine.get_epsilon(1e-5) == (step + again).epsilon(1e-5)


def test_batches_for_opacus_own_optimizer(opacus):
    accountant = tn.torch.OpacusAccountant()
    optimizer = types.SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=3)
    accountant.get_optimizer_hook_fn(0.5)(optimizer)
    assert accountant.get_epsilon(1e-5) == tn.Gaussian(1.0).cost(sensitivity=3.0).epsilon(1e-5)


def test_a_checkpoint_is_whole_or_not_there(opacus, tmp_path):
    engine, model, optimizer, _ = with_noise(network(4, 3), tn.Gaussian(0.6))
    path = tmp_path / "state"
    engine.save_checkpoint(path=path, module=model, optimizer=optimizer)
    once = path.read_bytes()
    extra = {"extra": lambda: None}  # cannot be pickled
    with pytest.raises(AttributeError):
        engine.save_checkpoint(path=path, module=model, checkpoint_dict=extra)
    assert path.read_bytes() == once
    assert [file.name for file in tmp_path.iterdir()] == ["state"]
    engine.load_checkpoint(path=path, module=model, optimizer=optimizer)


def test_shuffled_batches_have_no_epsilon(opacus):
    engine = tn.torch.PrivacyEngine(mechanism=tn.Gaussian(0.6))
    trained(engine, steps=1, poisson_sampling=False)
    with pytest.raises(ValueError, match="poisson_sampling=True"):
        engine.get_epsilon(1e-5)
    resumed = tn.torch.PrivacyEngine(mechanism=tn.Gaussian(0.6))
    trained(resumed, steps=1)
    assert resumed.get_epsilon(1e-5) > 0
    sampled = resumed.accountant.state_dict()
    resumed.accountant.load_state_dict(engine.accountant.state_dict())
    engine.accountant.load_state_dict(sampled)
    trained(resumed, steps=1)
    with pytest.raises(ValueError, match="poisson_sampling=True"):
        engine.get_epsilon(1e-5)
    with pytest.raises(ValueError, match="poisson_sampling=True"):
        resumed.get_epsilon(1e-5)
    with pytest.raises(ValueError, match="poisson_sampling=True"):
        resumed.accountant.cost  # noqa: B018


def test_no_random_example_in_place_of_none(opacus):
    """That it falls away where a record is there is a change of up to two clips."""
    engine = tn.torch.PrivacyEngine(mechanism=tn.Gaussian(0.6))
    with pytest.raises(ValueError, match="rand_on_empty"):
        trained(engine, rand_on_empty=True)


def test_the_accountant_in_opacus_own_engine(opacus):
    tn.torch.OpacusAccountant()  # registers it
    engine = opacus.PrivacyEngine(accountant="tightnoise")
    trained(engine, noise_multiplier=1.0)
    step = tn.Gaussian(1.0).cost(sensitivity=1.0).sampled(0.25, "poisson")
    assert engine.get_epsilon(1e-5) == (step * 3).epsilon(1e-5)
    theirs = opacus.accountants.RDPAccountant()
    theirs.history = list(engine.accountant.history)
    assert engine.get_epsilon(1e-5) <= theirs.get_epsilon(1e-5)
    assert len(engine.accountant) == 3


def test_a_saved_accountant_goes_on(opacus):
    engine = tn.torch.PrivacyEngine(mechanism=tn.TruncatedGaussian(0.6, -1.0, 1.0))
    trained(engine)
    state = json.loads(json.dumps(engine.accountant.state_dict()))
    again = tn.torch.OpacusAccountant()
    again.load_state_dict(state)
    assert again.get_epsilon(1e-5) == engine.get_epsilon(1e-5)
    assert again.history == engine.accountant.history
    again.step(noise_multiplier=1.0, sample_rate=0.1)
    kept = again.get_epsilon(1e-5)
    unknown = {**state, "is_sampled": "yes"}
    for bad in (None, {}, {**state, "ledger": {}}, {**state, "mechanism": "rdp"}, unknown):
        with pytest.raises(ValueError, match=r"state|ledger|leaves|mechanism|is missing"):
            again.load_state_dict(bad)
    assert again.get_epsilon(1e-5) == kept


@pytest.mark.parametrize("part", ["_clipping", "_release", "_opacus"])
def test_examples(opacus, part):
    result = doctest.testmod(importlib.import_module(f"tightnoise.torch.{part}"))
    assert result.attempted
    assert not result.failed


def test_the_guide_prints_what_it_says(opacus, capsys):
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.M | re.S)
    assert len(parts) == text.count("```python")
    names = {}
    for code, printed in parts:
        exec(compile(code, "training.md", "exec"), names)
        assert capsys.readouterr().out == printed


# --- several workers


def test_two_workers_release_what_one_would(tmp_path):
    script = Path(__file__).with_name("two_workers.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(rank), str(tmp_path)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    wrote = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    told, shards = zip(*wrote, strict=True)
    assert told[0] == told[1]
    assert "finite" in told[0]["refused"] or "NaN" in told[0]["refused"]
    assert "tensors of the same shapes" in told[0]["uneven"]
    assert "got torch.int64 at 0" in told[0]["kinds"]
    for message, said in zip(
        ("finite", "one mechanism", "one dtype on all ranks", "sketches of the same"),
        told[0]["shards refused"],
        strict=True,
    ):
        assert message in said
    theta = np.arange(6, dtype=np.float32) * 3.0
    m = tn.RectifiedGaussian(1.0, -2.0, 2.0)
    assert told[0]["released"] == m.sample(theta, rng=tn.random.NoiseStream(7)).tolist()
    whole = tn.Sketch.of(np.linspace(-3, 3, 4000), -2.0, 2.0, sigma=1.0)
    cost = m.cost_at(whole, coordinate_sensitivity=0.01).rdp([2.0, 8.0]).values
    assert told[0]["cost"] == pytest.approx(cost.tolist(), rel=1e-15)
    vector = torch.linspace(-3, 3, 2001).numpy()
    whole = m.sample(vector, rng=tn.random.NoiseStream(7)).tolist()
    for sizes in shards[0]:
        assert shards[0][sizes] + shards[1][sizes] == whole
