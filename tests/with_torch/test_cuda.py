"""Training on a GPU: the same bits, and no gradient longer than its clip at any precision."""

import contextlib
import itertools
import warnings

import numpy as np
import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: extra torch")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

LOSS = torch.nn.functional.cross_entropy
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


@pytest.fixture(params=["float32", "tf32", "bfloat16", "float16"])
def precision(request):
    """Return what a step is made in, at the reduced precisions that PyTorch offers."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest" if request.param == "float32" else "high")
    short = request.param.startswith(("b", "float16"))
    dtype = getattr(torch, request.param) if short else None
    yield lambda: torch.autocast("cuda", dtype) if short else contextlib.nullcontext()
    torch.set_float32_matmul_precision(before)


@pytest.fixture
def opacus():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("opacus", reason="Opacus is not installed: extra opacus")


def network():
    torch.manual_seed(0)
    layers = torch.nn.Linear(40, 300), torch.nn.Tanh(), torch.nn.Linear(300, 3)
    return torch.nn.Sequential(*layers).cuda()


def examples(count):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(count, 40, generator=generator)
    return x.cuda(), torch.randint(3, (count,), generator=generator).cuda()


def length(parts):
    return float(sum(part.double().square().sum() for part in parts).sqrt())


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "mechanism", [tn.Gaussian(1.0), tn.TruncatedGaussian(1.0, -9.0, 9.0), tn.VonMisesFisher(5.0, 7)]
)
def test_a_release_is_that_of_the_same_numbers_on_the_cpu(dtype, mechanism):
    theta = torch.arange(8.0, dtype=getattr(torch, dtype))[:7] / 12  # of norm 0.8
    parts = [theta[:6].view(2, 3).T, theta[6]]
    of_cuda = [part.cuda() for part in parts]
    of_cuda[0] = of_cuda[0].T.contiguous().T  # not in one piece
    here = tn.torch.release(parts, mechanism, rng=tn.random.NoiseStream(3))
    there = tn.torch.release(of_cuda, mechanism, rng=tn.random.NoiseStream(3))
    for ours, theirs, given, asked in zip(here, there, parts, of_cuda, strict=True):
        assert theirs.device.type == "cuda"
        assert theirs.dtype == ours.dtype
        assert torch.equal(ours, theirs.cpu())
        assert torch.equal(given, asked.cpu())  # as it was


def test_a_sample_stays_on_the_device():
    theta = torch.linspace(-1, 1, 9).view(3, 3)
    noise = tn.Gaussian(1.0)
    noisy = noise.sample(theta.T.cuda().T, rng=tn.random.NoiseStream(3))
    assert noisy.device.type == "cuda"
    assert torch.equal(noisy.cpu(), noise.sample(theta, rng=tn.random.NoiseStream(3)))
    with pytest.raises(TypeError, match="out must be in the memory of the CPU"):
        noise.sample(theta, out=theta.cuda())


def test_a_clipped_gradient_is_no_longer_than_the_clip(precision, opacus):
    net, (x, y) = network(), examples(40)
    for i in range(len(x)):
        with precision():
            sums = tn.torch.clipped_sum(net, LOSS, x[i : i + 1], y[i : i + 1], l2=0.1)
        assert 0.1 * (1 - 1e-5) <= length(sums.values()) <= 0.1
        assert all(part.dtype == torch.float32 for part in sums.values())
    flat = torch.nn.Parameter(torch.zeros(3, 2_000_000, device="cuda"))
    optimizer = tn.torch.DPOptimizer(
        torch.optim.SGD([flat], lr=1.0),
        mechanism=tn.Gaussian(1.0),
        max_grad_norm=0.5,
        expected_batch_size=1,
    )
    for size in (2.4e-4, 1.0, 1e30):
        flat.grad_sample = size * torch.randn(1, *flat.shape, device="cuda")
        flat.grad_sample[0, 0, 0] = 1.0  # beside which small squares are lost in single precision
        flat.summed_grad = None
        with precision():
            optimizer.clip_and_accumulate()
        assert flat.summed_grad.dtype == torch.float32
        assert 0.5 * (1 - 1e-5) <= length([flat.summed_grad]) <= 0.5


def private(engine, kind=torch.optim.SGD):
    net, (x, y) = network(), examples(120)
    model, optimizer, loader = engine.make_private(
        module=net,
        optimizer=kind(net.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(x, y), batch_size=30
        ),
        max_grad_norm=0.5,
    )
    return model, optimizer, loader


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    LOSS(model(x), y).backward()
    optimizer.step()


def test_the_engine_trains(opacus, precision, tmp_path):
    noise = tn.RectifiedGaussian(0.6, -2.0, 2.0)
    engine = tn.torch.PrivacyEngine(mechanism=noise)
    model, optimizer, loader = private(engine, torch.optim.Adam)
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    for x, y in [*itertools.islice(batches, 2), examples(0)]:
        with precision():
            step(model, optimizer, x, y)
        assert all(float(p.grad.abs().max()) <= 2.0 / 30 * (1 + 1e-6) for p in model.parameters())
    of_one = noise.cost(sensitivity=0.5).sampled(0.25, "poisson")
    assert engine.get_epsilon(1e-5) == (of_one * 3).epsilon(1e-5)
    path = tmp_path / "state"
    engine.save_checkpoint(path=path, module=model, optimizer=optimizer)
    again = tn.torch.PrivacyEngine(mechanism=noise)
    resumed, its, _ = private(again, torch.optim.Adam)
    resumed.cpu()
    where = {"map_location": "cpu"}
    again.load_checkpoint(path=path, module=resumed, optimizer=its, torch_load_kwargs=where)
    x, y = examples(30)
    step(resumed, its, x.cpu(), y.cpu())
    assert again.get_epsilon(1e-5) == (of_one * 4).epsilon(1e-5)
    bad, target = examples(30)
    bad[3, 2] = torch.nan
    with pytest.raises(ValueError, match="must be finite; got nan"):
        step(model, optimizer, bad, target)
    assert len(engine.accountant) == 3


def test_samples_that_the_gpu_draws_are_counted_in(opacus):
    """Of its float32 numbers 2^-25 are 1, read as 0, and others below 2^-24: more than on a CPU."""
    rate, draws = 2.0**-22, 2**26
    accountant = tn.torch.OpacusAccountant()
    net = torch.nn.Linear(4, 3)
    for p in net.parameters():
        p.grad_sample = torch.zeros(1)
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(net.parameters()),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        expected_batch_size=1,
    )
    with torch.device("cuda"):
        accountant.get_optimizer_hook_fn(rate)(optimizer)
        generator = torch.Generator("cuda").manual_seed(0)
        taken = sum(
            int((torch.rand(draws, generator=generator) < rate).sum()) for _ in range(2**10)
        )
    counted = accountant.history[0][1]
    assert counted == rate * (1 + 2.0**-22) + 2.0**-24
    expected = (rate + 2.0**-25) * draws * 2**10
    assert abs(taken - expected) <= 5 * np.sqrt(expected)
    assert taken < counted * draws * 2**10
